"""What a person must look at: kept until somebody has, each with its event in the audit log."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.states import AlarmKind
from aggregator.registry.tables import AlarmRow
from aggregator.registry.times import now
from aggregator.workspace import Workspace

_MOST = 1 << 31
"""No database counts alarms so far."""


@dataclass(frozen=True)
class Alarm:
    """An alarm.

    Args:
        id: its number.
        at: when it was raised first.
        site: which site it is about.
        kind: of what happened.
        detail: in words; no text of a note.
        acknowledged_at: when somebody had looked at it.
    """

    id: int
    at: str
    site: str
    kind: AlarmKind
    detail: str
    acknowledged_at: str | None


def raise_alarm(session: Session, site: str, kind: AlarmKind, detail: str) -> None:
    """Raises an alarm in the caller's transaction; one that stands already is not raised a second time."""
    same = (AlarmRow.site == site, AlarmRow.kind == kind, AlarmRow.detail == detail)
    if session.scalar(select(AlarmRow.id).where(*same, AlarmRow.acknowledged_at.is_(None))) is None:
        session.add(AlarmRow(at=now(), site=site, kind=kind, detail=detail))
        audit_log.append(session, "server", f"alarm-{kind}", {"site": site, "detail": detail})


def list_alarms(workspace: Workspace, *, acknowledged: bool = False) -> list[Alarm]:
    """All alarms that nobody has acknowledged, oldest first; on request the others too."""
    with workspace.registry().reading() as session:
        rows = session.scalars(select(AlarmRow).order_by(AlarmRow.id))
        return [
            Alarm(row.id, row.at, row.site, row.kind, row.detail, row.acknowledged_at)
            for row in rows
            if acknowledged or row.acknowledged_at is None
        ]


def acknowledge(workspace: Workspace, number: int, name: str) -> None:
    """Notes that somebody has looked at an alarm.

    Args:
        workspace: where.
        number: of the alarm.
        name: who.

    Raises:
        RegistryError: there is no such alarm that stands.
    """
    with workspace.registry().transaction() as session:
        row = session.get(AlarmRow, number) if 0 < number < _MOST else None
        if row is None or row.acknowledged_at is not None:
            raise RegistryError(f"alarm {number}: expected one that stands, found none; see `aggregator alarms list`")
        row.acknowledged_at = now()
        audit_log.append(session, name, "alarm-acknowledged", {"alarm": number, "site": row.site})
