"""Whether a head may be released: it is the one that is asked for, fits the representer, and finds no less than before.

It is asked of the copy that will be signed: a training may put another head into the workspace at any time.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from aggregator.errors import WorkspaceError
from aggregator.publishing import quality_gate
from aggregator.publishing.head_record import DIGITS, HEAD_FILES, head_digest, read_origin
from aggregator.publishing.registering import find_trained_shares
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseShareRow, ShareRow
from aggregator.workspace import Workspace
from foundation.reading import file_sha256
from protocols.release.manifest import ReleaseManifest


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
    workspace: Workspace, head: Path, last: ReleaseManifest | None, approver: str | None
) -> quality_gate.Passed | None:
    """Asks the gate of quality.

    Args:
        workspace: the provider's.
        head: folder of the head and its record.
        last: the last release with a head of the same representer; None for none.
        approver: who accepts a drop; None for nobody.

    Returns:
        what it lets through although the head finds less; None where nothing is lower.

    Raises:
        DropError, WorkspaceError: as for `check_quality`.
    """
    withdrawn = False
    if last is not None:
        with workspace.registry().reading() as session:
            query = (
                select(ShareRow.id)
                .join(ReleaseShareRow, ReleaseShareRow.share == ShareRow.id)
                .where(ReleaseShareRow.release == last.sequence, ShareRow.state == ShareState.WITHDRAWN)
            )
            withdrawn = session.scalar(query.limit(1)) is not None
        if all(file_sha256(head / name) == last.files[name].sha256 for name in HEAD_FILES):
            last = None
    return quality_gate.check_quality(
        head, None if last is None else last.digest, withdrawn=withdrawn, approver=approver
    )
