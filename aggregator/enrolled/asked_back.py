"""What sites ask back while it waits: of a share that is not decided nobody knows the manifest, and a withdrawal names nothing else.

So their word is kept until the share is decided, whatever is decided. An invented digest looks like the true one: a few are kept.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, delete, func, select
from sqlalchemy.orm import Session

from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow, WithdrawalRow
from aggregator.workspace import Workspace
from protocols.share.withdrawal import Withdrawal

MOST_ASKED = 4
"""Withdrawals of one share that waits. An honest site has one."""


def waiting(asked: Withdrawal) -> Select[int]:
    """The number of the share that a withdrawal can mean and that waits."""
    return select(ShareRow.id).where(
        ShareRow.site == asked.site, ShareRow.sequence == asked.sequence, ShareRow.state == ShareState.RECEIVED
    )


def keep_asked(workspace: Workspace, asked: Withdrawal) -> int | None:
    """Keeps what a site asks about a share that waits; returns its number, None where it is decided by now.

    Raises:
        RegistryError: MOST_ASKED others are kept.
    """
    key = (asked.site, asked.sequence, asked.manifest_sha256)
    with workspace.registry().transaction() as session:
        number = session.scalar(waiting(asked))
        if number is not None and session.get(WithdrawalRow, key) is None:
            _check_room(session, asked)
            session.add(WithdrawalRow(site=key[0], sequence=key[1], manifest_sha256=key[2], reason=asked.reason))
            audit_log.append(
                session, asked.site, "withdrawal-received", {"sequence": asked.sequence, "manifest": key[2]}
            )
        return number


def asked_back(session: Session, row: ShareRow) -> str | None:
    """The reason for which its site took a share back while it waited, now that its manifest is known; None where it did not."""
    asked = session.get(WithdrawalRow, (row.site, row.sequence, row.manifest_sha256))
    return None if asked is None else asked.reason


def forget_asked(session: Session, row: ShareRow) -> None:
    """Forgets what was asked about a share, which is decided: in the caller's transaction."""
    session.execute(delete(WithdrawalRow).where(*_about(row.site, row.sequence)))


def _check_room(session: Session, asked: Withdrawal) -> None:
    kept = select(func.count()).select_from(WithdrawalRow).where(*_about(asked.site, asked.sequence))
    if session.scalars(kept).one() >= MOST_ASKED:
        raise RegistryError(
            f"share {asked.sequence} of {asked.site}: expected at most {MOST_ASKED} withdrawals while it waits, each of another manifest, got "
            "one more; ask again when the share is decided"
        )


def _about(site: str, sequence: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (WithdrawalRow.site == site, WithdrawalRow.sequence == sequence)
