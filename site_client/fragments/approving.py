"""A draft of fragments becomes a file that may leave: a person approves it by name, the ledger tells of it, the site's key signs it.

From then on it counts as gone, wherever it is: text on a stick can't be taken back. So a name is asked for whatever the workspace says of
shares, and the policy is asked again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_bytes
from foundation.locks import lock_folder
from foundation.reading import file_sha256
from protocols.canonical import Json
from protocols.errors import UnknownSignerError
from protocols.share.fragments import FragmentManifest, Fragments, fragment_bytes, open_fragments
from site_client import ledger
from site_client.errors import ApprovalError, PolicyError
from site_client.fragments.store import approved_files, approved_path, notes_path, read_draft, read_gone
from site_client.ledger import Event
from site_client.policy.approver import check_approver
from site_client.policy.enforcing import Step, judge_release, require_kept
from site_client.policy.site_policy import SitePolicy
from site_client.sharing.digest_files import are_among
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace

_SHOWN_DIGITS = 16
"""Of the digest of a draft: no other draft can be made that has them."""


@dataclass(frozen=True)
class Approved:
    """A file that may leave.

    Args:
        manifest: as it is signed.
        before: whether it had been approved before.
    """

    manifest: FragmentManifest
    before: bool


def require_allowed(policy: SitePolicy) -> None:
    """Returns if this hospital lets text leave at all; the usual policy does not.

    Raises:
        PolicyError: it does not.
    """
    if not policy.text_fragments:
        raise PolicyError(
            "fragments are text, and this hospital's policy lets none leave; whoever may decide otherwise turns it on with "
            "`site-client policy set --text-fragments`"
        )


def read_own(workspace: Workspace, path: Path) -> tuple[Fragments, bytes]:
    """A file of fragments of this site, a draft or an approved one.

    Raises:
        ProtocolError: it is damaged, or not this site's.
        StorageError: it can't be read.
    """
    try:
        return open_fragments(path, {workspace.site: workspace.public_keys}, drafts=True)
    except UnknownSignerError as error:
        raise UnknownSignerError(
            "fragments of this workspace",
            received="those of another",
            advice="give the workspace that made them by --workspace",
            place=path.name,
        ) from error


def shown_digest(manifest: FragmentManifest) -> str:
    """By what a person says which draft they have read: it fixes every byte of what is signed."""
    return manifest.sha256[:_SHOWN_DIGITS]


def approve_fragments(workspace: Workspace, path: Path, approver: str, digest: str) -> Approved:
    """Sign a draft in its place, after the ledger says who approved it.

    Args:
        workspace: of the site.
        path: the draft; one that was approved already stays as it is.
        approver: name of the person.
        digest: of the draft that this person has read, as `shown_digest` or longer.

    Raises:
        ApprovalError: that is no name, another draft lies there by now, or it is no draft as `fragment` wrote it.
        PolicyError: the policy lets no text leave, or its release does not keep it, or some of it has left since.
        LedgerError, WorkspaceError, ProtocolError, StorageError: see there.
    """
    name = check_approver(approver)
    fragments, body = read_own(workspace, path)
    manifest = fragments.manifest
    _require_read(path, manifest, digest)
    kept = approved_path(workspace, manifest.number)
    known = approved_files(workspace).get(manifest.number)
    if known is not None and kept.exists() and file_sha256(kept) == known.file_sha256:
        return _again(workspace, path, fragments, kept)
    judgement = judge_release(workspace, manifest.release)
    require_allowed(judgement.policy)
    require_kept(workspace, judgement, Step.DEID)
    data = fragment_bytes(manifest, body, workspace.key())
    # Of two drafts of the same notes that are approved at once, one comes second.
    with lock_folder(workspace.root):
        _require_as_made(workspace, path, fragments)
        _keep(workspace, data, manifest, judgement.policy.digest, name)
    write_bytes(path, data)
    return Approved(manifest, before=False)


def _require_read(path: Path, manifest: FragmentManifest, digest: str) -> None:
    """Returns if what lies there is what was read; the error does not say what would be taken, for nobody has read that."""
    if len(digest) < _SHOWN_DIGITS or not manifest.sha256.startswith(digest.lower()):
        raise ApprovalError(
            f"{path.name}: expected the digest of these fragments, got another: other ones may have taken the place of what was read; read them "
            "with `site-client inspect`, and give the --digest that it shows"
        )


def _keep(workspace: Workspace, data: bytes, manifest: FragmentManifest, policy: str, approver: str) -> None:
    """The copy in the store, and the entry of the ledger, by which it counts."""
    # The copy first: one that the ledger does not know counts for nothing, one that it knows has to be there.
    write_bytes(approved_path(workspace, manifest.number), data)
    details: dict[str, Json] = {
        "number": manifest.number,
        "file_sha256": hashlib.sha256(data).hexdigest(),
        "manifest_sha256": manifest.sha256,
        "lines": manifest.lines,
        "least_notes": manifest.least_notes,
        "release": manifest.release,
        "notes_sha256": file_sha256(notes_path(workspace, manifest.number)),
        "notes_key": DigestKey(workspace).fingerprint,
        "policy_sha256": policy,
        "approver": approver,
    }
    ledger.record(workspace, Event.FRAGMENTS_APPROVED, details)


def _again(workspace: Workspace, path: Path, fragments: Fragments, kept: Path) -> Approved:
    """A file that is approved already, put in the place of its draft where that is still there."""
    approved, _ = read_own(workspace, kept)
    if approved.manifest != fragments.manifest:
        raise _not_as_made(path)
    if fragments.key is None:
        write_bytes(path, kept.read_bytes())
    return Approved(approved.manifest, before=True)


def _require_as_made(workspace: Workspace, path: Path, fragments: Fragments) -> None:
    """Returns if a draft is as it was made, and nothing of it has left since."""
    manifest, draft = fragments.manifest, read_draft(workspace, fragments.manifest.number)
    if draft.of_earlier_version:
        raise ApprovalError(
            f"{path.name}: expected a draft of which all is known that it was made with, found one of an earlier version; make the fragments again"
        )
    if draft.manifest_sha256 != manifest.sha256:
        raise _not_as_made(path)
    if not DigestKey(workspace).has_made(draft.notes_key):
        raise ApprovalError(
            f"{path.name}: expected a draft whose notes are known by keys/{workspace.notes_key.name}, found one by a key that is lost; make the "
            "fragments again"
        )
    if manifest.recipient != workspace.pinned_provider().signing_key.key_id:
        raise ApprovalError(f"{path.name}: expected fragments for the provider of today, got others; make them again")
    gone = read_gone(workspace)
    left = {
        "notes": len(draft.notes & gone.notes),
        "patients": len(draft.patients & gone.patients),
        "sentences": int(are_among(draft.sentences, gone.sentences).sum()),
        # Some may have stood in an earlier file already: notes of different patients have a few in common.
        "runs of words": max(int(are_among(draft.runs, gone.runs).sum()) - draft.runs_known, 0),
        "phrases": len(fragments.phrases & gone.phrases),
    }
    if gone.patients and not draft.patients:
        raise PolicyError(
            f"{path.name}: expected fragments that know their patients, as those that were approved since do, got some made without --patients; "
            "make the fragments again"
        )
    if any(left.values()):
        raise PolicyError(
            f"{path.name}: expected what has not left before, but fragments of {_counted(left)} were approved in another file since it was "
            "made; make the fragments again"
        )


def _counted(left: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of its {what}" for what, count in left.items() if count)


def _not_as_made(path: Path) -> ApprovalError:
    return ApprovalError(
        f"{path.name}: expected the draft as `site-client fragment` wrote it, found it changed; to take phrases out make it again with "
        "--leave-out FILE"
    )
