"""How much of the free disk the uploads that have begun reserve, hospital by hospital.

What a hospital has announced and not sent yet is as good as there: together they could fill the disk otherwise. But to announce costs it
nothing, so against the others it counts up to its fair part of the free room alone: nobody keeps them out by uploads that never come. What
was reserved beyond that may find no room when it comes; the piece is refused then, and the upload goes on later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from aggregator.registry.states import SiteState, UploadState
from aggregator.registry.tables import SiteRow, UploadRow


@dataclass(frozen=True)
class Reserved:
    """What the open uploads of a hospital reserve.

    Args:
        bytes: that are still to come.
        newest: when the last of them began.
    """

    bytes: int
    newest: str


def reserved_bytes(session: Session, now: str, begun_before: str = "") -> dict[str, Reserved]:
    """What each enrolled hospital has reserved; nothing of one without an open upload.

    Args:
        session: of the registry.
        now: uploads whose time is over by then reserve nothing.
        begun_before: only uploads from before; "" for all.
    """
    query = (
        select(
            UploadRow.site,
            func.sum(UploadRow.bundle_bytes - UploadRow.offset),
            func.max(UploadRow.created_at),
        )
        .join(SiteRow, SiteRow.name == UploadRow.site)
        .where(SiteRow.state == SiteState.ENROLLED, UploadRow.state == UploadState.OPEN, UploadRow.expires_at > now)
        .group_by(UploadRow.site)
    )
    if begun_before:
        query = query.where(UploadRow.created_at < begun_before)
    return {site: Reserved(int(number), newest) for site, number, newest in session.execute(query)}


def fair_part(session: Session, free: int) -> int:
    """The bytes that each hospital has of the free room, if they share it evenly."""
    sites = session.scalar(select(func.count()).select_from(SiteRow).where(SiteRow.state == SiteState.ENROLLED))
    return max(0, free) // max(1, sites or 0)


def counted_against(site: str, reserved: Mapping[str, Reserved], part: int) -> int:
    """The bytes that are not free for one more upload of a hospital: all of its own, and of each other no more than a fair part."""
    return sum(one.bytes if name == site else min(one.bytes, part) for name, one in reserved.items())
