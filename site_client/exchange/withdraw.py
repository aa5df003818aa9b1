"""`site-client withdraw`: a share is taken back. The provider deletes it and trains the next head without it."""

from __future__ import annotations

import datetime
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_bytes
from foundation.locks import lock_folder
from foundation.os_errors import map_os_errors
from protocols.canonical import Json
from protocols.share.receipt import Receipt, ReceiptState
from protocols.share.withdrawal import Withdrawal
from site_client import ledger
from site_client.errors import SiteError
from site_client.exchange.departures import departures
from site_client.exchange.receipts import take_receipt
from site_client.ledger import Event
from site_client.sharing.approval import signed_manifest
from site_client.workspace import Workspace


@dataclass(frozen=True)
class SharedBefore:
    """A share that has left, or may have.

    Args:
        sequence: its number.
        manifest_sha256: digest of its signed manifest.
    """

    sequence: int
    manifest_sha256: str


def find_share(workspace: Workspace, name: str) -> SharedBefore:
    """The share that a person means.

    Args:
        workspace: of the site.
        name: its number, which the ledger knows even where the file is gone; or the payload, its manifest beside it.

    Raises:
        SiteError: no share of that number has ever left, or more than one.
        ProtocolError: the file is no share of this site.
        LedgerError: the ledger was changed.
    """
    if not name.isdecimal():
        signed = signed_manifest(workspace, Path(name))
        return SharedBefore(signed.manifest.sequence, signed.sha256)
    digests = {one.manifest_sha256 for one in departures(workspace) if one.sequence == int(name)}
    if len(digests) != 1:
        raise SiteError(
            f"share {name}: expected one share of that number that has left, found {len(digests)}; "
            "see `site-client ledger show`, or name its file"
        )
    return SharedBefore(int(name), digests.pop())


def request_withdrawal(workspace: Workspace, share: SharedBefore, reason: str, day: datetime.date) -> bytes:
    """The message that takes a share back, signed, and recorded in the ledger.

    Raises:
        SchemaError: a reason that is no line.
        LedgerError, StorageError: see there.
    """
    reason = unicodedata.normalize("NFC", reason)
    asked = Withdrawal(workspace.site, share.sequence, share.manifest_sha256, day, reason)
    data = asked.to_bytes(workspace.key())
    details: dict[str, Json] = {"manifest_sha256": share.manifest_sha256, "reason": reason, "sequence": share.sequence}
    # As a departure is recorded: what is taken back before that never leaves.
    with lock_folder(workspace.root):
        ledger.record(workspace, Event.WITHDRAWAL_REQUESTED, details)
    return data


def write_withdrawal(workspace: Workspace, share: SharedBefore, data: bytes, folder: Path) -> Path:
    """Put a withdrawal into a folder, such as on a stick.

    Raises:
        StorageError: no room, no permission.
    """
    path = folder / f"{workspace.site}-{share.sequence:04}.withdrawal.json"
    with map_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)
    return path


def confirm_withdrawal(workspace: Workspace, share: SharedBefore, data: bytes) -> Receipt:
    """The provider's signed word that a share is withdrawn; it is recorded.

    Raises:
        SignatureError: not signed by the provider.
        SiteError: the receipt says something else.
    """
    receipt = take_receipt(workspace, data)
    if (receipt.manifest_sha256, receipt.state) != (share.manifest_sha256, ReceiptState.WITHDRAWN):
        raise SiteError(
            f"share {share.sequence}: expected a receipt that it is withdrawn, got one for share {receipt.sequence}, "
            f"{receipt.state}; ask the provider"
        )
    return receipt
