"""What sites ask back before it is decided: until then nobody knows the manifest of a share, and a withdrawal names nothing else.

So their word is kept until the share is decided, whatever is decided; also where the share has yet to come, for sticks and servers are two
ways, and what takes a share back may be there first. An invented digest looks like the true one: a few are kept.
"""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import ColumnElement, Select, delete, func, select
from sqlalchemy.orm import Session

from aggregator.errors import RegistryError, UndecidedError
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState, UploadState
from aggregator.registry.tables import ShareRow, SiteKeyRow, UploadRow, WithdrawalRow, upload_file
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from protocols.errors import ProtocolError
from protocols.keys.signing import PublicKey
from protocols.share.bundle_header import read_header
from protocols.share.withdrawal import Withdrawal, read_withdrawal

MOST_ASKED = 4
"""Withdrawals of one share that is not decided. An honest site has one."""
MOST_KEPT = 100
"""Withdrawals of a site that are kept at a time and of which no share is here. An honest site has as many as shares under way."""
_MOST_WITH_HERE = 10 * MOST_KEPT
"""The same where the share is here: whoever sends refused shares without end, and asks others back meanwhile, fills no registry."""
_USED_UP = (ShareState.ACCEPTED, ShareState.WITHDRAWN)
"""States of a share whose number no other gets any more: one that is set aside may be refused, and another comes."""


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


def keep_asked(workspace: Workspace, asked: Withdrawal) -> int | None:
    """Keeps what a site asks about a share that is not decided, but where no such share can come any more.

    Args:
        workspace: the provider's.
        asked: the withdrawal.

    Returns:
        the number in the registry of the share that waits and can be meant; None for none.

    Raises:
        RegistryError: MOST_ASKED others are kept of this number, or, of a share that is not here, MOST_KEPT of this site.
    """
    key, uploaded = _key(asked), bool(on_its_way(workspace, asked))
    with workspace.registry().transaction() as session:
        number = session.scalar(waiting(asked))
        if number is None and session.scalar(_known_or_used_up(asked)) is not None:
            return None
        if session.get(WithdrawalRow, key) is None:
            _check_room(session, asked, is_here=uploaded or number is not None)
            session.add(WithdrawalRow(site=key[0], sequence=key[1], manifest_sha256=key[2], reason=asked.reason))
            audit_log.append(
                session, asked.site, "withdrawal-received", {"sequence": asked.sequence, "manifest": key[2]}
            )
        return number


def is_kept(session: Session, asked: Withdrawal) -> bool:
    """Whether a withdrawal waits for its share."""
    return session.get(WithdrawalRow, _key(asked)) is not None


def explain_missing(workspace: Workspace, asked: Withdrawal, *, kept: bool) -> RegistryError:
    """Why the share that a withdrawal means is not found: it has yet to come, or never can where the withdrawal is not kept."""
    share = f"share {asked.sequence} of {asked.site}"
    if not kept:
        return RegistryError(
            f"{share}: expected one with the manifest {asked.manifest_sha256[:12]}, found none; check number and digest"
        )
    uploaded = on_its_way(workspace, asked)
    error, found = (
        (UndecidedError, "one whose upload waits for the server") if uploaded else (RegistryError, "none yet")
    )
    return error(
        f"{share}: expected one that was entered, found {found}: what is asked is kept, and it will be withdrawn when it is decided, and "
        "never count; ask again for the receipt"
    )


def asked_back(session: Session, row: ShareRow) -> str | None:
    """The reason for which its site took a share back while it waited, now that its manifest is known; None where it did not."""
    asked = session.get(WithdrawalRow, (row.site, row.sequence, row.manifest_sha256))
    return None if asked is None else asked.reason


def forget_asked(session: Session, row: ShareRow) -> None:
    """Forgets what was asked about a share, which is decided: in the caller's transaction.

    The number of one that is refused, now or later by a person, is free again: of another that is still to come it is not forgotten.
    """
    about = list(_about(row.site, row.sequence))
    if row.state not in _USED_UP:
        about.append(WithdrawalRow.manifest_sha256 == (row.manifest_sha256 or ""))
    session.execute(delete(WithdrawalRow).where(*about))


def carried_out(session: Session, data: bytes, site: str, key_id: str) -> bytes | None:
    """The receipt of a share that is withdrawn already, for who asks again with a key that the site had once; None for any other.

    Raises:
        ProtocolError: that key has not signed it.
    """
    key = session.get(SiteKeyRow, key_id)
    if key is None or key.site != site:
        return None
    asked = read_withdrawal(data, PublicKey.from_hex(key.public_key))
    return session.scalar(
        select(ShareRow.receipt).where(
            ShareRow.site == asked.site,
            ShareRow.sequence == asked.sequence,
            ShareRow.manifest_sha256 == asked.manifest_sha256,
            ShareRow.state == ShareState.WITHDRAWN,
        )
    )


def _known_or_used_up(asked: Withdrawal) -> Select[int]:
    """The number of a share that is decided, and the one that a withdrawal means, or has used up its number."""
    return select(ShareRow.id).where(
        ShareRow.site == asked.site,
        ShareRow.sequence == asked.sequence,
        ShareRow.state.in_(_USED_UP) | (ShareRow.manifest_sha256 == asked.manifest_sha256),
    )


def _key(asked: Withdrawal) -> tuple[str, int, str]:
    return asked.site, asked.sequence, asked.manifest_sha256


def _check_room(session: Session, asked: Withdrawal, *, is_here: bool) -> None:
    def kept(*about: ColumnElement[bool]) -> int:
        return session.scalars(select(func.count()).select_from(WithdrawalRow).where(*about)).one()

    if kept(*_about(asked.site, asked.sequence)) >= MOST_ASKED:
        raise RegistryError(
            f"share {asked.sequence} of {asked.site}: expected at most {MOST_ASKED} withdrawals before it is decided, each of another manifest, "
            "got one more; ask again when the share is decided"
        )
    # What was kept of shares that never come, as by who had the site's key, may not keep a share that is here from being taken back.
    if kept(WithdrawalRow.site == asked.site) >= (_MOST_WITH_HERE if is_here else MOST_KEPT):
        raise RegistryError(
            f"share {asked.sequence} of {asked.site}: expected fewer withdrawals of shares that are not decided, got more than {MOST_KEPT}; "
            "ask again when this share is decided"
        )


def _about(site: str, sequence: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (WithdrawalRow.site == site, WithdrawalRow.sequence == sequence)
