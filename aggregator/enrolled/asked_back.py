"""What sites ask back while it waits: of a share that is not decided nobody knows the manifest, and a withdrawal names nothing else.

So their word is kept until the share is decided, whatever is decided. An invented digest looks like the true one: a few are kept.
A share waits from the moment when the last byte of its bundle is on the provider's disk, which may be hours before it is entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import ColumnElement, Select, delete, func, select
from sqlalchemy.orm import Session

from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState, UploadState
from aggregator.registry.tables import ShareRow, UploadRow, WithdrawalRow, upload_file
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from protocols.errors import ProtocolError
from protocols.share.bundle_header import read_header
from protocols.share.withdrawal import Withdrawal

MOST_ASKED = 4
"""Withdrawals of one share that waits. An honest site has one."""


def waiting(asked: Withdrawal) -> Select[int]:
    """The number of the share that a withdrawal can mean and that waits."""
    return select(ShareRow.id).where(
        ShareRow.site == asked.site, ShareRow.sequence == asked.sequence, ShareRow.state == ShareState.RECEIVED
    )


def on_its_way(workspace: Workspace, asked: Withdrawal) -> list[str]:
    """The uploads of whole bundles that have the number a withdrawal names, by what their headers say."""
    whole = select(UploadRow.id).where(
        UploadRow.site == asked.site,
        UploadRow.state == UploadState.OPEN,
        UploadRow.offset == UploadRow.bundle_bytes,
    )
    with workspace.registry().reading() as session:
        names = session.scalars(whole).all()
    found = []
    for name in names:
        # What is no bundle, or gone, becomes no share.
        with suppress(ProtocolError, StorageError):
            if read_header(workspace.uploads / upload_file(name)).sequence == asked.sequence:
                found.append(name)
    return found


def keep_asked(workspace: Workspace, asked: Withdrawal, coming: Sequence[str] = ()) -> tuple[bool, int | None]:
    """Keeps what a site asks about a share that waits.

    Args:
        workspace: the provider's.
        asked: the withdrawal.
        coming: what `on_its_way` has found, where no such share is entered.

    Returns:
        whether it is kept, which it is not where the share is decided by now; and the number of the share, if it is entered.

    Raises:
        RegistryError: MOST_ASKED others are kept.
    """
    key = (asked.site, asked.sequence, asked.manifest_sha256)
    with workspace.registry().transaction() as session:
        number = session.scalar(waiting(asked))
        if number is None and not _still_coming(session, coming):
            return False, None
        if session.get(WithdrawalRow, key) is None:
            _check_room(session, asked)
            session.add(WithdrawalRow(site=key[0], sequence=key[1], manifest_sha256=key[2], reason=asked.reason))
            audit_log.append(
                session, asked.site, "withdrawal-received", {"sequence": asked.sequence, "manifest": key[2]}
            )
        return True, number


def asked_back(session: Session, row: ShareRow) -> str | None:
    """The reason for which its site took a share back while it waited, now that its manifest is known; None where it did not."""
    asked = session.get(WithdrawalRow, (row.site, row.sequence, row.manifest_sha256))
    return None if asked is None else asked.reason


def forget_asked(session: Session, row: ShareRow) -> None:
    """Forgets what was asked about a share, which is decided: in the caller's transaction."""
    session.execute(delete(WithdrawalRow).where(*_about(row.site, row.sequence)))


def _still_coming(session: Session, coming: Sequence[str]) -> bool:
    """Whether one of some uploads is in work still: the share of one that is entered, and does not wait, is decided."""
    entered = select(ShareRow.id).where(ShareRow.bundle_sha256 == UploadRow.bundle_sha256)
    query = select(UploadRow.id).where(UploadRow.id.in_(coming), UploadRow.state == UploadState.OPEN, ~entered.exists())
    return session.scalar(query.limit(1)) is not None


def _check_room(session: Session, asked: Withdrawal) -> None:
    kept = select(func.count()).select_from(WithdrawalRow).where(*_about(asked.site, asked.sequence))
    if session.scalars(kept).one() >= MOST_ASKED:
        raise RegistryError(
            f"share {asked.sequence} of {asked.site}: expected at most {MOST_ASKED} withdrawals while it waits, each of another manifest, got "
            "one more; ask again when the share is decided"
        )


def _about(site: str, sequence: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (WithdrawalRow.site == site, WithdrawalRow.sequence == sequence)
