"""Shares that are sealed and whose receipt is not here yet: `outbox/` of the workspace.

Sealing the same share twice gives other bytes each time. So the sealed file is kept until the receipt has come: whatever
is sent again is the same file, a cut upload goes on in it, and the provider sees one share.
"""

from __future__ import annotations

import datetime
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import flush
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from protocols.share.bundle import read_header, seal_bundle
from protocols.share.sealing import ShareExpectation, open_share
from site_client.errors import SiteError
from site_client.exchange.departures import departures
from site_client.sharing.approval import SignedManifest
from site_client.workspace import Workspace


@dataclass(frozen=True)
class Sealed:
    """A bundle that may leave.

    Args:
        path: the file.
        sha256: its digest.
        manifest_sha256: digest of the signed manifest in it.
        sequence: number of the share.
    """

    path: Path
    sha256: str
    manifest_sha256: str
    sequence: int

    @property
    def name(self) -> str:
        """Of the file on a stick."""
        return self.path.name


def seal_for_provider(workspace: Workspace, share: Path, approved: SignedManifest) -> Sealed:
    """A share as a bundle for the provider: sealed now, or the file that was sealed before.

    Args:
        workspace: of the site.
        share: the payload, its manifest beside it.
        approved: the manifest that may leave; no other does, whatever lies there by now.

    Raises:
        ProtocolError: the share is damaged, not this site's, not the approved one, or made with another release than the
            one in use. One that was sealed before, or has left, goes on its way whatever was pulled since.
        SiteError: the provider's keys have expired, or as `require_key_that_counts`.
        StorageError: no room.
    """
    require_key_that_counts(workspace, approved)
    provider = workspace.pinned_provider()
    day = datetime.datetime.now(datetime.UTC).date()
    if provider.valid_until < day:
        raise SiteError(
            f"expected keys of the provider that are valid, found some until {provider.valid_until}; run `site-client pull`"
        )
    path = _path(workspace, approved)
    if not _usable(path, provider.recipient.key_id):
        # Encoded before the provider's key was replaced, it still counts as long as that one does.
        named = approved.manifest.recipient
        known = {one.key_id for one in provider.signing_keys(day)}
        recipient = named if named in known else provider.signing_key.key_id
        # Of one that has left only the provider can say what became of it.
        release = approved.manifest.release if _has_left(workspace, approved) else workspace.release().digest
        expected = ShareExpectation(release=release, recipient=recipient)
        opened = open_share(share, public_keys={workspace.site: workspace.public_keys}, expected=expected)
        with map_os_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The key that signed the manifest: the site may have another one by now.
        key = workspace.load_key(opened.key.key_id)
        seal_bundle(share, path, key=key, recipient=provider.recipient, envelope=approved.envelope)
    return Sealed(path, file_sha256(path), approved.sha256, approved.manifest.sequence)


def require_key_that_counts(workspace: Workspace, signed: SignedManifest) -> None:
    """Returns if the provider may still take what signed a share.

    One that it has not taken it refuses without a receipt, and the notes would count as shared for ever. A share that has left
    already may go once more: to a provider that has it, the same bytes bring its receipt.

    Raises:
        SiteError: the key has ended, and the share has not left.
        LedgerError: the ledger was changed.
    """
    until = next(key.valid_until for key in workspace.keys if key.key_id == signed.key_id)
    if until >= datetime.datetime.now(datetime.UTC).date():
        return
    if not _has_left(workspace, signed):
        raise SiteError(
            f"share {signed.manifest.sequence}: expected one that is signed by a key which counts today, found one by a key that "
            f"counted until {until}; encode the notes again"
        )


def discard(workspace: Workspace, manifest_sha256: str) -> None:
    """Removes what waits for the receipt of a share.

    Raises:
        StorageError: it can't be removed.
    """
    folder = _folder(workspace, manifest_sha256)
    if folder.is_dir():
        with map_os_errors(folder):
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
            flush(folder.parent)


def _has_left(workspace: Workspace, signed: SignedManifest) -> bool:
    return any(departure.manifest_sha256 == signed.sha256 for departure in departures(workspace))


def _path(workspace: Workspace, signed: SignedManifest) -> Path:
    return _folder(workspace, signed.sha256) / f"{workspace.site}-{signed.manifest.sequence:04}.share"


def _folder(workspace: Workspace, manifest_sha256: str) -> Path:
    return workspace.root / "outbox" / manifest_sha256[:32]


def _usable(path: Path, recipient_id: str) -> bool:
    """Whether there is a bundle for the provider's present key; it became that name whole."""
    with suppress(ProtocolError, StorageError):
        return path.is_file() and read_header(path).recipient == recipient_id
    return False
