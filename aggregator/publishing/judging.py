"""Whether a release may be signed: all is as somebody was shown it, and its head is the one that is asked for, fits the representer, and
finds no less than before.

It is asked of the copy that will be signed: a training or an audit may put something else into the workspace at any time. What a person is
shown is noted before it is read for them, so that whatever is exchanged between the two is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import func, select

from aggregator.enrolled.shares import BY_SITE
from aggregator.errors import WorkspaceError
from aggregator.publishing import audit_gate, quality_gate
from aggregator.publishing.head_record import DIGITS, HEAD_FILES, RECORD, head_digest, read_origin
from aggregator.publishing.registering import find_trained_shares
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseShareRow, ShareRow
from aggregator.workspace import Workspace
from foundation.reading import file_sha256
from protocols.release.manifest import ReleaseManifest


@dataclass(frozen=True)
class Shown:
    """What decides what a release says; the head itself is asked for by its digest.

    Args:
        representer: its digest.
        audit: SHA-256 of the record of its audit; "" for none.
        training: the same of the record of the head's training; "" for a release without a head.
        newest: name of the release that was published last; "" before the first.
    """

    representer: str
    audit: str
    training: str
    newest: str

    def require(self, found: Shown) -> None:
        """Returns if it is what is found.

        Raises:
            WorkspaceError: something else is.
        """
        other = asdict(found)
        changed = [_NAMES[name] for name, value in asdict(self).items() if value != other[name]]
        if changed:
            raise WorkspaceError(
                f"expected what was shown before it was confirmed, found another {' and another '.join(changed)}; look at it again, and "
                "confirm that"
            )


_NAMES = {
    "representer": "representer",
    "audit": "audit",
    "training": "training of the head",
    "newest": "release published last",
}


def look_at(representer: str, audit: Path, head: Path | None, names: Sequence[str]) -> Shown:
    """What a person would be shown, or what is about to be signed.

    Args:
        representer: its digest.
        audit: folder of its audit.
        head: folder of the head and its record; None for a release without one.
        names: of all releases, oldest first.
    """
    record = audit / audit_gate.RECORD
    return Shown(
        representer,
        file_sha256(record) if record.exists() else "",
        "" if head is None else file_sha256(head / RECORD),
        names[-1] if names else "",
    )


def require_fitting(workspace: Workspace, head: Path, representer: str, wanted: str) -> None:
    """Returns if a head is the one that is asked for, fits the representer, and no share that trained it has gone.

    Args:
        workspace: the provider's.
        head: folder of the head and its record.
        representer: digest of the one that is released with it.
        wanted: the first digits of the head's digest; "" for any.

    Raises:
        WorkspaceError: one of these does not hold.
    """
    found = head_digest(head)
    if not found.startswith(wanted):
        raise WorkspaceError(
            f"expected the head {wanted[:DIGITS]}, got {found[:DIGITS]}, which was trained since; see what `aggregator refresh` "
            "proposes now, or look at that one and release it by its name"
        )
    if read_origin(head).representer != representer:
        raise WorkspaceError(
            "the head was trained on another representer than the one here; run `aggregator train-head` on shares of this one first"
        )
    with workspace.registry().reading() as session:
        # Looked at again when it is registered; now, for that it is the last release unchanged would hide the reason.
        find_trained_shares(head, session)


def judge_head(
    workspace: Workspace,
    head: Path,
    last: ReleaseManifest | None,
    approver: str | None,
    fitting: Collection[str],
) -> quality_gate.Passed | None:
    """Asks the gate of quality.

    Args:
        workspace: the provider's.
        head: folder of the head and its record.
        last: the last release with a head of the same representer; None for none.
        approver: who accepts a drop; None for nobody.
        fitting: digests of the releases whose shares are pooled for this head.

    Returns:
        what it lets through although the head finds less; None where nothing is lower.

    Raises:
        DropError, WorkspaceError: as for `check_quality`.
    """
    withdrawn = 0.0 if last is None else withdrawn_part(workspace, last.sequence, fitting)
    if last is not None and all(file_sha256(head / name) == last.files[name].sha256 for name in HEAD_FILES):
        last = None
    return quality_gate.check_quality(
        head, None if last is None else last.digest, withdrawn=withdrawn, approver=approver
    )


def withdrawn_part(workspace: Workspace, release: int, fitting: Collection[str]) -> float:
    """Which part of the tokens of the shares that trained a release their sites have taken back since and not shared anew, 0 to 1.

    What the provider took out itself is no reason for it to release a head that finds less.

    Args:
        workspace: the provider's.
        release: its number.
        fitting: digests of the releases whose shares are pooled for the next head.
    """
    by_site = select(ShareRow.site, func.sum(ShareRow.tokens)).group_by(ShareRow.site)
    in_release = ShareRow.id.in_(select(ReleaseShareRow.share).where(ReleaseShareRow.release == release))
    taken_back = by_site.where(in_release, ShareRow.state == ShareState.WITHDRAWN, ShareRow.reason_code == BY_SITE)
    # Shares of another representer teach no head of this one, whenever a person has let them count. What fits and did not train the
    # release is new, also what came to count while a person was waited for to publish it.
    anew = by_site.where(~in_release, ShareRow.state == ShareState.ACCEPTED, ShareRow.release.in_(fitting))
    with workspace.registry().reading() as session:
        trained, gone, since = (
            {site: int(tokens or 0) for site, tokens in session.execute(query)}
            for query in (by_site.where(in_release), taken_back, anew)
        )
    total = sum(trained.values())
    left = sum(max(0, tokens - since.get(site, 0)) for site, tokens in gone.items())
    return left / total if total else 0.0
