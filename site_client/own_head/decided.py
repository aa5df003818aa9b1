"""Which head a hospital has decided to use: the signed ledger says so, and nothing else.

`adapt` leaves a head that waits; a person takes it into use, or gives it up. Each is one entry, on the disk whole or not at all, so that a
program that is killed leaves what was decided before.
"""

from __future__ import annotations

from dataclasses import dataclass

from foundation.locks import lock_folder
from protocols.canonical import Json
from site_client.errors import AdaptationError, ApprovalError
from site_client.ledger import Event, entries, record
from site_client.own_head.record import OwnHead, read_own_head, remove_others
from site_client.policy.approver import check_approver
from site_client.workspace import Workspace

_NONE = ""
_SHOWN_DIGITS = 16
"""Of the digest of a head: no other head can be made that has them."""


@dataclass(frozen=True)
class Decided:
    """What the ledger says.

    Args:
        waiting: digest of the head that was made last; "" where there is none, or the last one was found to be worse.
        in_use: digest of the one that was taken into use; "" where that of the release is used.
    """

    waiting: str = _NONE
    in_use: str = _NONE


def read_decided(workspace: Workspace) -> Decided:
    """The state as it is.

    Raises:
        LedgerError: the ledger was changed.
    """
    waiting = in_use = _NONE
    for entry in entries(workspace):
        if entry.event == Event.HEAD_ADAPTED:
            waiting = str(entry.details.get("head", _NONE))
        elif entry.event == Event.HEAD_USED:
            in_use = str(entry.details.get("head", _NONE))
        elif entry.event == Event.HEAD_UNDONE:
            in_use = _NONE
    return Decided(waiting, in_use)


def record_made(workspace: Workspace, head: str, details: dict[str, Json]) -> None:
    """Write down that a head was adapted, and remove those that nobody can use any more.

    Args:
        workspace: of the site.
        head: digest of its record; "" where it was found to be worse, and none is kept.
        details: what it was adapted from, and what that showed.

    Raises:
        LedgerError, StorageError: see `ledger.record`.
    """
    with lock_folder(workspace.root):
        record(workspace, Event.HEAD_ADAPTED, {"head": head, **details})
        decided = read_decided(workspace)
        remove_others(workspace, [decided.waiting, decided.in_use])


def shown_digest(head: str) -> str:
    """By what a person says which head they have seen the gain of: it fixes every byte of it."""
    return head[:_SHOWN_DIGITS]


def is_shown_digest(text: str) -> bool:
    """Whether a head can be named by it."""
    return len(text) >= _SHOWN_DIGITS and not set(text.lower()) - set("0123456789abcdef")


def use_waiting(workspace: Workspace, approver: str, digest: str) -> OwnHead:
    """Take the head that waits into use.

    Args:
        workspace: of the site.
        approver: who decides; recorded and signed.
        digest: of the head whose gain this person has seen, as `shown_digest` or longer.

    Raises:
        AdaptationError: none waits, it has changed, or it is of another release than the pipeline in use.
        ApprovalError: the name is none, or another head waits by now.
        LedgerError, StorageError: see `ledger.record`.
    """
    name = check_approver(approver)
    with lock_folder(workspace.root):
        decided = read_decided(workspace)
        if not decided.waiting:
            raise AdaptationError(
                "expected an adapted head that waits, found none; run `site-client adapt NOTES` on corrected notes first"
            )
        _require_seen(decided.waiting, digest)
        own = read_own_head(workspace, decided.waiting)
        release = workspace.pipeline_release()
        if own.release != release.digest:
            raise AdaptationError(
                f"expected a head that was adapted from release {release.manifest.sequence}, the pipeline in use, got one from release {own.sequence}; "
                "adapt again"
            )
        if decided.in_use != own.digest:
            record(workspace, Event.HEAD_USED, {"head": own.digest, "release": own.release, "approver": name})
    return own


def _require_seen(waiting: str, digest: str) -> None:
    """Returns if what waits is what was seen; the error does not say what would be taken, for nobody has seen that."""
    if not is_shown_digest(digest) or not waiting.startswith(digest.lower()):
        raise ApprovalError(
            "expected the digest of the adapted head that waits, got another: one may have been made since the gain was shown; look at what waits with "
            "`site-client adapt`, and give the digest that it shows"
        )


def give_up(workspace: Workspace, approver: str) -> None:
    """Go back to the head of the release.

    Args:
        workspace: of the site.
        approver: who decides; recorded and signed.

    Raises:
        AdaptationError: no adapted head is in use.
        ApprovalError: the name is none.
        LedgerError, StorageError: see `ledger.record`.
    """
    name = check_approver(approver)
    with lock_folder(workspace.root):
        decided = read_decided(workspace)
        if not decided.in_use:
            raise AdaptationError(
                "expected an adapted head in use, found that of the release; there is nothing to undo"
            )
        record(workspace, Event.HEAD_UNDONE, {"head": decided.in_use, "approver": name})


def stale_since(workspace: Workspace) -> list[str]:
    """A line where an adapted head was in use and the pipeline is of another release now.

    Raises:
        LedgerError: the ledger was changed.
    """
    of = _NONE
    for entry in entries(workspace):
        if entry.event == Event.HEAD_USED:
            of = str(entry.details.get("release", _NONE))
        elif entry.event == Event.HEAD_UNDONE:
            of = _NONE
    if not of or workspace.pipeline is None or workspace.pipeline.digest == of:
        return []
    return [
        f"the head that this hospital adapted is of another release than {workspace.pipeline.sequence}: it is not used any more; run `site-client adapt` on corrected notes again"
    ]
