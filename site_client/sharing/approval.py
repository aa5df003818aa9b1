"""Nothing leaves before a person has approved it by name, unless the hospital's policy says otherwise.

An approval is an entry of the signed ledger, bound to the digest of the share's signed manifest, which fixes every byte of
the payload: a share that is encoded again has to be approved again, one that is sent again after a cut has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from foundation.errors import StorageError
from protocols.canonical import Json
from protocols.errors import UnknownSignerError
from protocols.share.fragments import refuse_fragments
from protocols.share.manifest import ShareManifest
from protocols.share.manifest_envelope import verify_manifest
from protocols.share.sealing import manifest_path, read_envelope
from site_client import ledger
from site_client.errors import ApprovalError
from site_client.ledger import Event
from site_client.policy.approver import check_approver
from site_client.policy.stored import load_policy
from site_client.workspace import Workspace


@dataclass(frozen=True)
class SignedManifest:
    """The statement of one of our shares.

    Args:
        manifest: as it was signed.
        sha256: its digest; receipts and withdrawals know the share by it.
        envelope: it and its signature, as they lie beside the payload.
        key_id: of the key that signed it.
    """

    manifest: ShareManifest
    sha256: str
    envelope: bytes
    key_id: str


def signed_manifest(workspace: Workspace, share: Path) -> SignedManifest:
    """The manifest beside a payload.

    Raises:
        ProtocolError: it is damaged, or not signed by this site.
        StorageError: there is no manifest beside it.
    """
    require_share(share)
    data = read_envelope(share)
    keys = {workspace.site: workspace.public_keys}
    try:
        manifest, key = verify_manifest(data, keys, manifest_path(share).name)
    except UnknownSignerError as error:
        raise not_ours(share) from error
    return SignedManifest(manifest, manifest.sha256, data, key.key_id)


def require_share(share: Path) -> None:
    """
    Raises:
        SchemaError: it holds text fragments, which go no way that shares go.
        StorageError: nothing there can be a share.
    """
    refuse_fragments(share)
    if not (share.is_file() and manifest_path(share).is_file()):
        raise StorageError(
            f"a share as `site-client encode` wrote it, {manifest_path(share).name} beside it",
            received="a file without it" if share.is_file() else "a folder" if share.is_dir() else "none",
            advice="give the file that `encode --out` named, and copy all three files together: share, manifest and report",
            place=share.name,
        )


def not_ours(share: Path) -> UnknownSignerError:
    """What there is to say of a share that this site has not signed."""
    return UnknownSignerError(
        "a share of this workspace",
        received="one of another",
        advice="give the workspace that encoded it by --workspace",
        place=share.name,
    )


def require(
    workspace: Workspace, share: Path, approver: str | None, shown: SignedManifest | None = None
) -> SignedManifest:
    """Returns what may leave; an approval is recorded first.

    Args:
        workspace: of the site; its policy decides.
        share: the payload, its manifest beside it.
        approver: name of the person who approves; None where nobody was asked.
        shown: what that person has seen; None where nothing was shown.

    Raises:
        ApprovalError: nobody has approved exactly this share.
        PolicyError: the policy was changed by other hands.
        LedgerError, ProtocolError, StorageError: see there.
    """
    signed = signed_manifest(workspace, share)
    if shown is not None and shown.sha256 != signed.sha256:
        raise ApprovalError(
            f"{share.name}: expected the share that was shown, another has taken its place meanwhile; look at it and approve again"
        )
    if approver is None and is_settled(workspace, signed):
        return signed
    if approver is None and load_policy(workspace).approval:
        raise ApprovalError(
            f"{share.name}: expected the name of who approves that it leaves, got none; "
            "look at it with `site-client inspect`, then give --approver NAME"
        )
    details: dict[str, Json] = {
        "manifest_sha256": signed.sha256,
        "payload_sha256": signed.manifest.payload_sha256,
        "sequence": signed.manifest.sequence,
    }
    if approver is not None:
        details["approver"] = check_approver(approver)
    ledger.record(workspace, Event.APPROVAL_WAIVED if approver is None else Event.APPROVED, details)
    return signed


def require_not_withdrawn(workspace: Workspace, sequence: int, manifest_sha256: str) -> None:
    """Returns if nobody has taken this share back; what was approved before that counts for it no more.

    Args:
        workspace: of the site.
        sequence: number of the share.
        manifest_sha256: digest of its signed manifest.

    Raises:
        ApprovalError: somebody has, whether the provider was told of it yet or not.
        LedgerError: the ledger was changed.
    """
    told = {e.event for e in ledger.entries(workspace) if e.details.get("manifest_sha256") == manifest_sha256}
    if Event.WITHDRAWAL_REQUESTED in told:
        # Of what never left no receipt comes, and its notes are new.
        how = (
            "with `site-client encode --again` once the receipt is here"
            if Event.SUBMITTED in told
            else "anew, for it has not left"
        )
        raise ApprovalError(
            f"share {sequence}: expected one that nobody has taken back, found a withdrawal of it in the ledger; if its notes "
            f"are to leave after all, encode them {how}, and approve that"
        )


def is_settled(workspace: Workspace, signed: SignedManifest) -> bool:
    """Whether the ledger says already that exactly this share may leave."""
    enough = {Event.APPROVED} if load_policy(workspace).approval else {Event.APPROVED, Event.APPROVAL_WAIVED}
    return any(
        entry.event in enough and entry.details.get("manifest_sha256") == signed.sha256
        for entry in ledger.entries(workspace)
    )
