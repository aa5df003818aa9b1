"""`site-client submit`: an approved share leaves, sealed to the provider, over HTTPS or on a stick; the file is the same.

In this order: the key that signed it counts today; nobody has taken it back; the release that it was made with keeps the hospital's policy, of today;
nothing of it has left with another share since it was encoded; the share is verified once more, as the provider will verify it;
somebody has approved it; it is sealed; the ledger says that it leaves, and where to; it leaves; its receipt is verified and
recorded. After a cut anywhere the same command goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from foundation.files import stage_file
from foundation.locks import lock_folder
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from protocols.share.receipt import Receipt
from site_client.errors import SiteError
from site_client.exchange.departures import Departure
from site_client.exchange.outbox import Sealed, require_key_that_counts, seal_for_provider
from site_client.exchange.receipts import take_receipt
from site_client.exchange.transport import Connection, Transport
from site_client.exchange.upload import upload
from site_client.policy.enforcing import Acceptance, Step, judge_release, require_kept
from site_client.sharing import approval
from site_client.sharing.approval import SignedManifest
from site_client.sharing.digest_files import digest_of_known
from site_client.sharing.drafts import require_whole
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.new_notes import require_not_left
from site_client.workspace import Workspace


def submit_to_folder(workspace: Workspace, share: Path, folder: Path, approver: str | None) -> Path:
    """Writes a share to where the provider fetches it, such as a stick.

    Args:
        workspace: of the site.
        share: the payload, its manifest beside it.
        folder: on the stick; it is made where it is missing.
        approver: who approves that it leaves; None if somebody has, or nobody need.

    Returns:
        the bundle.

    Raises:
        ProtocolError: the share is damaged, not this site's, or of another release than the one in use.
        ApprovalError: nobody has approved it, or it was taken back.
        PolicyError: its release does not keep the hospital's policy.
        SiteError: there is another file of that name already.
        StorageError: no room, no permission; nothing half-written stays.
    """
    ready = _ready(workspace, share, approver)
    target = folder / ready.name
    with map_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if target.exists() or target.is_symlink():
        # What is no file, or points elsewhere, is not waited for.
        if target.is_file() and not target.is_symlink() and file_sha256(target) == ready.sha256:
            return target
        raise SiteError(f"{target}: expected no other file of that name, found one; choose another folder")
    _record(workspace, ready, "folder")
    # Flushed before it is named: sticks are pulled out early.
    with stage_file(target) as temporary, map_os_errors(target):
        shutil.copyfile(ready.path, temporary)
    return target


def submit_to_server(
    workspace: Workspace,
    share: Path,
    connection: Connection,
    approver: str | None,
    *,
    progress: Callable[[int, int], object] = lambda arrived, size: None,
    tell: Callable[[str], None] = lambda line: None,
) -> Receipt:
    """Sends a share to the provider's server.

    Args:
        workspace: of the site.
        share: the payload, its manifest beside it.
        connection: the way there.
        approver: who approves that it leaves; None if somebody has, or nobody need.
        progress: takes the bytes that have arrived, and all.
        tell: takes lines for the person in front of the machine.

    Returns:
        the provider's receipt, which may say that it refuses the share.

    Raises:
        ProtocolError: the share or the receipt is not what it should be.
        ApprovalError: nobody has approved it, or it was taken back.
        PolicyError: its release does not keep the hospital's policy.
        RefusedError: the server does not take it.
        UnreachableError: no answer, however often; the same command goes on later.
    """
    ready = _ready(workspace, share, approver)
    size = ready.path.stat().st_size
    with Transport(connection, workspace.key(), tell=tell) as transport:
        _record(workspace, ready, transport.server)
        data = upload(transport, ready.path, ready.sha256, lambda arrived: progress(arrived, size))
    receipt = take_receipt(workspace, data)
    if receipt.sequence != ready.sequence:
        raise SiteError(
            f"expected a receipt for share {ready.sequence}, got one for share {receipt.sequence}; tell the provider"
        )
    return receipt


def require_policy(workspace: Workspace, share: Path, acceptance: Acceptance | None = None) -> SignedManifest:
    """Returns if nothing of a share has left before, and its release keeps the hospital's policy or a person answers for it.

    Args:
        workspace: of the site.
        share: the payload, its manifest beside it.
        acceptance: who takes the responsibility; recorded, and bound to exactly this share.

    Raises:
        ApprovalError: the share was taken back.
        PolicyError: something has, or the release does not and nobody does.
        SiteError: the key that signed the share has ended.
        ProtocolError: the share is damaged, or not this site's.
    """
    require_whole(workspace, share)
    signed = approval.signed_manifest(workspace, share)
    # Before somebody is asked to approve it.
    require_key_that_counts(workspace, signed)
    approval.require_not_withdrawn(workspace, signed.manifest.sequence, signed.sha256)
    judgement = judge_release(workspace, signed.manifest.release)
    require_not_left(workspace, signed.manifest.sequence, signed.sha256, judgement.policy.least_new_notes)
    require_kept(workspace, judgement, Step.SUBMIT, acceptance, signed.sha256)
    return signed


def _ready(workspace: Workspace, share: Path, approver: str | None) -> Sealed:
    signed = require_policy(workspace, share)
    return seal_for_provider(workspace, share, approval.require(workspace, share, approver, signed))


def _record(workspace: Workspace, ready: Sealed, to: str) -> None:
    known = digest_of_known(workspace, ready.sequence)
    # A share that goes once more after a cut may find neither; what its first entry says counts.
    key = DigestKey(workspace).fingerprint if known and workspace.notes_key.exists() else ""
    # Sealing takes long: meanwhile somebody may take the share back, and of two shares of the same notes only the first leaves.
    with lock_folder(workspace.root):
        approval.require_not_withdrawn(workspace, ready.sequence, ready.manifest_sha256)
        require_not_left(workspace, ready.sequence, ready.manifest_sha256, least=0)
        Departure(ready.sequence, ready.manifest_sha256, ready.sha256, to, known, key).record(workspace)
