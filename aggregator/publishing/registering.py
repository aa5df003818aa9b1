"""A release as the registry knows it: what its audit failed, who accepted a drop, and which shares trained its head."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from aggregator.errors import WorkspaceError
from aggregator.publishing.head_record import read_origin
from aggregator.publishing.quality_gate import Passed
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, ShareRow
from aggregator.registry.times import now
from aggregator.workspace import Workspace
from foundation.errors import DeidError
from protocols.canonical import Json
from protocols.release.manifest import ReleaseManifest


def register_release(
    workspace: Workspace,
    name: str,
    manifest: ReleaseManifest,
    failed: Sequence[str],
    passed: Passed | None,
    head: Path | None,
    actor: str = "operator",
) -> None:
    """Write down a release and, of a pipeline, the shares that its head was trained on.

    Args:
        workspace: the provider's.
        name: of the release in the repository.
        manifest: what it states.
        failed: the limits that its audit does not keep.
        passed: that a drop of its head was accepted; None where there is none.
        head: folder of the head that it carries; None where it carries none.
        actor: who publishes it.

    Raises:
        WorkspaceError: a share that trained the head does not count any more.
    """
    with workspace.registry().transaction() as session:
        # What a publishing of the same number that was killed left was never out.
        _strike(session, manifest.sequence, actor)
        session.add(
            ReleaseRow(
                sequence=manifest.sequence,
                kind=manifest.kind,
                name=name,
                digest=manifest.digest,
                published_at=now(),
            )
        )
        session.flush()
        shares = [] if head is None else find_trained_shares(head, session)
        session.add_all(ReleaseShareRow(release=manifest.sequence, share=share) for share in shares)
        if passed is not None:
            audit_log.append(session, passed.approver or actor, "drop-accepted", passed.as_json(name))
        details: dict[str, Json] = {"release": name, "digest": manifest.digest, "shares": len(shares)}
        if failed:
            details["failed_audit"] = [*failed]
        audit_log.append(session, actor, "release-published", details)


def give_up_release(workspace: Workspace, name: str, sequence: int, actor: str) -> None:
    """Write down that a release which was registered is not out after all, unless it is: where publishing it has failed.

    Args:
        workspace: the provider's.
        name: of the release in the repository.
        sequence: its number.
        actor: who wanted to publish it.
    """
    # A full disk may have failed both; then the next publishing writes it down, and nobody takes the row for a release meanwhile.
    with suppress(DeidError):
        # It is out if the error came after the rename that publishes it.
        if name not in workspace.repository().release_names():
            with workspace.registry().transaction() as session:
                _strike(session, sequence, actor)


def _strike(session: Session, sequence: int, actor: str) -> None:
    """Remove a release that never was out, with the event that says so; does nothing where there is none."""
    row = session.get(ReleaseRow, sequence)
    if row is None:
        return
    audit_log.append(session, actor, "release-failed", {"release": row.name, "digest": row.digest})
    session.execute(delete(ReleaseShareRow).where(ReleaseShareRow.release == sequence))
    session.execute(delete(ReleaseRow).where(ReleaseRow.sequence == sequence))


def find_trained_shares(head: Path, session: Session) -> list[int]:
    """Ids of the shares in the record of the head in a folder.

    Raises:
        WorkspaceError: one of them is not accepted any more.
    """
    found = []
    for one in read_origin(head).shares:
        share = session.scalar(
            select(ShareRow.id).where(
                ShareRow.site == one.site,
                ShareRow.sequence == one.sequence,
                ShareRow.payload_sha256 == one.payload,
                ShareRow.state == ShareState.ACCEPTED,
            )
        )
        if share is None:
            raise WorkspaceError(
                f"head: expected accepted shares only, found share {one.sequence} of {one.site}, which was withdrawn "
                "since; run `aggregator train-head` again"
            )
        found.append(share)
    return found
