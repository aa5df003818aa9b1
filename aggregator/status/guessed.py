"""Wrong passwords at the dashboard: the event that tells of them, without a word of what was typed, and those of late."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import select

from aggregator.registry import audit_log
from aggregator.registry.tables import EventRow
from aggregator.registry.times import as_text
from aggregator.workspace import Workspace

_ACTION = "wrong-passwords"
_SHOWN = datetime.timedelta(days=3)
_LOOKED_THROUGH = 5_000
"""So many events at the end of the log are looked through, whatever its length."""


@dataclass(frozen=True)
class Guessed:
    """Wrong passwords of an account.

    Args:
        account: whose.
        day: on which they were tried.
        tries: within an hour, at least.
    """

    account: str
    day: datetime.date
    tries: int


def note_guessed(workspace: Workspace, account: str, tries: int) -> None:
    """Write down that wrong passwords were tried.

    Args:
        workspace: where.
        account: a name that there is; never what somebody typed.
        tries: within an hour.
    """
    with workspace.registry().transaction() as session:
        audit_log.append(session, "server", _ACTION, {"account": account, "tries": tries})


def read_guessed(workspace: Workspace, at: datetime.datetime) -> tuple[Guessed, ...]:
    """What was noted within three days, by account and day.

    Args:
        workspace: where.
        at: the moment until which is looked.
    """
    with workspace.registry().reading() as session:
        first = audit_log.count_events(session) - _LOOKED_THROUGH
        query = select(EventRow.at, EventRow.details).where(
            EventRow.seq > first, EventRow.action == _ACTION, EventRow.at >= as_text(at - _SHOWN)
        )
        rows = session.execute(query.order_by(EventRow.seq)).all()
    found: dict[tuple[str, datetime.date], int] = {}
    for account, day, tries in (one for moment, details in rows for one in _told(moment, details)):
        found[account, day] = max(tries, found.get((account, day), 0))
    return tuple(Guessed(account, day, tries) for (account, day), tries in found.items())


def _told(moment: str, details: str) -> Iterator[tuple[str, datetime.date, int]]:
    # A log that somebody has changed must not keep other alerts from being told; that it is broken is told elsewhere.
    with suppress(ValueError, KeyError, TypeError):
        value = json.loads(details)
        yield str(value["account"]), datetime.date.fromisoformat(moment[:10]), int(value["tries"])
