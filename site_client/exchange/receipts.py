"""The provider's signed receipts: verified, held against what left, recorded, kept in `receipts/` of the workspace."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable
from pathlib import Path

from foundation.errors import DeidError, StorageError
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json
from protocols.errors import ProtocolError
from protocols.keys.signed_message import MAX_MESSAGE_BYTES, claimed_sender
from protocols.share.receipt import Receipt, read_receipt
from site_client import ledger, release_log
from site_client.errors import ForkError, LedgerError, SiteError
from site_client.exchange import outbox
from site_client.exchange.departures import Departure, departures
from site_client.ledger import Event
from site_client.sharing.sifting.decisions import Decision, newest_decision
from site_client.workspace import Workspace

SUFFIX = ".receipt.json"


def take_receipt(workspace: Workspace, data: bytes) -> Receipt:
    """Verifies a receipt and records it; the share's sealed file is not needed any more. The same again changes nothing, nor does an older
    one than is here: it is evidence, and `superseded_by` tells it.

    Args:
        workspace: of the site.
        data: the receipt.

    Raises:
        SignatureError: the provider did not sign it.
        SiteError: it is not about a share that left from here, or the ledger is older than that share.
        ForkError: it states other releases than were pulled; it is recorded all the same.
        LedgerError, StorageError: see there.
    """
    receipt = verify_receipt(workspace, data)
    kept = workspace.root / "receipts"
    begins = f"{receipt.site}-{receipt.sequence:04}"
    # By what it says: the provider names the head of its log, and could name one twice.
    path = kept / f"{begins}-{hashlib.sha256(data).hexdigest()[:16]}{SUFFIX}"
    manifest_sha256 = _left(workspace, receipt)
    if manifest_sha256 is None:
        # The ledger is older than the share: as long as this lies here, nothing is encoded with it.
        _keep(path, data)
        raise SiteError(
            f"receipt for share {receipt.sequence} of {receipt.site}: expected one for a share that the ledger tells of, got a later one; the "
            "workspace is older than that share: restore its newest backup before anything is encoded, and take the receipt then; if no such share ever "
            f"left, ask the provider what it has, and move receipts/{path.name} out of the workspace: nothing is encoded while it lies there"
        )
    if not any(_holds(one, data) for one in kept.glob(f"{begins}-*{SUFFIX}")):
        details: dict[str, Json] = {
            "bundle_sha256": receipt.bundle_sha256,
            "day": receipt.day.isoformat(),
            "log_head": receipt.log_head,
            "manifest_sha256": manifest_sha256,
            "reason_code": receipt.reason_code,
            "sequence": receipt.sequence,
            "state": receipt.state,
        }
        if receipt.release_log is not None:
            head = receipt.release_log.to_json()
            details |= {release_log.NEWEST: receipt.newest_release, release_log.HEAD: head}
        ledger.record(workspace, Event.RECEIPT, details)
        _keep(path, data)
    outbox.discard(workspace, manifest_sha256)
    shown = None if receipt.release_log is None else release_log.last_shown(workspace)
    if shown is not None:
        release_log.check_past(workspace, shown)
    return receipt


def superseded_by(workspace: Workspace, receipt: Receipt) -> Decision | None:
    """What was decided after a receipt that was taken, and stands; None where the receipt does.

    Args:
        workspace: of the site.
        receipt: about a share of it that has left.

    Raises:
        LedgerError: the ledger was changed.
    """
    manifest_sha256 = _left(workspace, receipt)
    newest = None if manifest_sha256 is None else newest_decision(workspace, receipt.sequence, manifest_sha256)
    stands = Decision(receipt.state, receipt.day.isoformat()).follows(newest)
    return None if stands else newest


def verify_receipt(workspace: Workspace, data: bytes) -> Receipt:
    """A receipt that a key of the provider has signed which counts today, or counted on the day that the receipt states.

    The second is for a provider's keys that have run out since: what they signed in their time stays so. The day is the word of
    whoever has the key.

    Raises:
        SignatureError: there is no such signature, or it is of a day after the keys have run out.
        SchemaError: it is no receipt.
    """
    today, provider = datetime.datetime.now(datetime.UTC).date(), workspace.pinned_provider()
    _, key_id = claimed_sender(data, "receipt")
    receipt = read_receipt(data, provider.signer(key_id, min(today, provider.valid_until)))
    if today > provider.valid_until:
        provider.signer(key_id, receipt.day)
    return receipt


def take_receipts(
    workspace: Workspace, folder: Path, tell: Callable[[Receipt], object] = lambda receipt: None
) -> list[Receipt]:
    """Takes every receipt for this site from a folder, such as a stick; those of other sites are left alone.

    Args:
        workspace: of the site.
        folder: with files *.receipt.json.
        tell: is given each receipt once it is recorded, whatever comes after it.

    Raises:
        SiteError: there is no receipt for this site.
        ForkError: one of them states other releases than were pulled; all others are taken before.
        ProtocolError, StorageError, SiteError: of the first that can't be taken, as `take_receipt`; all others are taken before.
        LedgerError: the ledger was changed.
    """
    taken: list[Receipt] = []
    failed: list[DeidError] = []
    workspace.pinned_provider()
    if not folder.is_dir():
        raise StorageError("a folder", received="none", advice="check the path", place=folder.name)
    with map_os_errors(folder):
        # Sticks are of file systems, and pass through machines, that give names back in capitals.
        entries = sorted(path for path in folder.iterdir() if path.name.lower().endswith(SUFFIX))
    for path in entries:
        try:
            data = read_bounded(path, MAX_MESSAGE_BYTES)
            if _verified(workspace, data, path.name).site == workspace.site:
                taken.append(take_receipt(workspace, data))
                tell(taken[-1])
        except LedgerError:
            raise
        except (ProtocolError, StorageError, SiteError) as error:
            failed.append(error)
    if failed:
        # Whoever carries the stick must not choose which of them is heard.
        raise next((error for error in failed if isinstance(error, ForkError)), failed[0])
    if not taken:
        raise SiteError(
            f"{folder}: expected receipts for {workspace.site}, found none; give the folder to which the shares were written, "
            "after the provider has taken them in"
        )
    return taken


def _verified(workspace: Workspace, data: bytes, name: str) -> Receipt:
    """A receipt of a folder; what is wrong with one is told with its name, for there may be many."""
    try:
        return verify_receipt(workspace, data)
    except ProtocolError as error:
        raise type(error)(error.expected, received=error.received, advice=error.advice, place=name) from error


def _holds(path: Path, data: bytes) -> bool:
    with map_os_errors(path):
        return path.read_bytes() == data


def _keep(path: Path, data: bytes) -> None:
    with map_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)


def _left(workspace: Workspace, receipt: Receipt) -> str | None:
    """Digest of the manifest of the share that a receipt is about; None where it left later than the last one that the ledger tells of.

    Only where the receipt names a manifest, which a key of this site has signed: anybody can have a bundle refused that opens nothing.
    """
    if receipt.site == workspace.site:
        left = list(departures(workspace))
        for departure in left:
            if _is_about(receipt, departure):
                return departure.manifest_sha256
        known = {departure.manifest_sha256 for departure in left} | {""}
        if receipt.manifest_sha256 not in known and receipt.sequence > max((one.sequence for one in left), default=0):
            return None
    raise SiteError(
        f"receipt for share {receipt.sequence} of {receipt.site}: expected one for a share that left from here, got another; "
        "ask the provider what it is about"
    )


def _is_about(receipt: Receipt, departure: Departure) -> bool:
    """Whether a receipt names a share that left: by its manifest, or by its bundle if that could not be opened."""
    if receipt.sequence != departure.sequence:
        return False
    if receipt.manifest_sha256:
        return receipt.manifest_sha256 == departure.manifest_sha256
    return receipt.bundle_sha256 == departure.bundle_sha256
