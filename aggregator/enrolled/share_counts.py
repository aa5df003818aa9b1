"""Shares counted, and a page of them at a time: the database counts, so that thousands of them cost no more than are shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from aggregator.enrolled.shares import BY_PERSON, SHARE_COLUMNS, Share
from aggregator.errors import RegistryError
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, ShareRow
from aggregator.workspace import Workspace

_DECIDED = func.coalesce(ShareRow.decided_at, ShareRow.received_at)


@dataclass(frozen=True)
class Grown:
    """What came in a month.

    Args:
        month: such as "2026-03".
        state: that the shares have today.
        release: digest of the release that they were made with; None where that is not known.
        shares: how many.
        sentences: in them.
        tokens: in them.
    """

    month: str
    state: ShareState
    release: str | None
    shares: int
    sentences: int
    tokens: int


def count_shares(workspace: Workspace) -> dict[str, dict[ShareState, int]]:
    """How many shares each site has in each state; nothing of a site or a state without any."""
    query = select(ShareRow.site, ShareRow.state, func.count()).group_by(ShareRow.site, ShareRow.state)
    found: dict[str, dict[ShareState, int]] = {}
    with workspace.registry().reading() as session:
        for site, state, count in session.execute(query):
            found.setdefault(site, {})[state] = count
    return found


@dataclass(frozen=True)
class Told:
    """Shares of a site that a person has to hear of.

    Args:
        count: how many.
        newest: number in the registry of the one that got its state last: one more has another.
    """

    count: int
    newest: int


def quarantined_shares(workspace: Workspace) -> dict[str, Told]:
    """The shares of each site that wait for a person; nothing of a site without any."""
    return _told(workspace, ShareRow.state == ShareState.QUARANTINED)


def refused_shares(workspace: Workspace, since: str) -> dict[str, Told]:
    """The shares of each site that the checks have refused; nothing of a site without any.

    Args:
        workspace: where.
        since: the moment from which on they count, as the registry writes it; "" for all. What a person has refused does not:
            that person knows.
    """
    return _told(
        workspace,
        ShareRow.state == ShareState.REJECTED,
        func.coalesce(ShareRow.reason_code, "") != BY_PERSON,
        since <= _DECIDED,
    )


def _told(workspace: Workspace, *which: ColumnElement[bool]) -> dict[str, Told]:
    place = func.row_number().over(partition_by=ShareRow.site, order_by=(_DECIDED.desc(), ShareRow.id.desc()))
    count = func.count().over(partition_by=ShareRow.site)
    ranked = select(ShareRow.site, ShareRow.id, count.label("count"), place.label("place")).where(*which).subquery()
    query = select(ranked.c.site, ranked.c.count, ranked.c.id).where(ranked.c.place == 1)
    with workspace.registry().reading() as session:
        return {site: Told(count, newest) for site, count, newest in session.execute(query)}


def count_accepted(workspace: Workspace, releases: Collection[str]) -> int:
    """How many of the accepted shares were made with one of some releases, by their digests."""
    query = select(func.count()).where(ShareRow.state == ShareState.ACCEPTED, ShareRow.release.in_(releases))
    with workspace.registry().reading() as session:
        return session.scalar(query) or 0


def last_shares(workspace: Workspace) -> dict[str, Share]:
    """The share of each site that came last, whatever became of it."""
    # Times are of a second: of two shares in one the later row is the last.
    newest = func.row_number().over(
        partition_by=ShareRow.site, order_by=(ShareRow.received_at.desc(), ShareRow.id.desc())
    )
    ranked = select(ShareRow.id.label("id"), newest.label("place")).subquery()
    query = select(*SHARE_COLUMNS).join(ranked, ranked.c.id == ShareRow.id).where(ranked.c.place == 1)
    with workspace.registry().reading() as session:
        return {share.site: share for share in (Share(*row) for row in session.execute(query))}


def shares_page(
    workspace: Workspace, states: Sequence[ShareState], site: str | None, first: int, count: int
) -> tuple[int, list[Share]]:
    """How many shares there are, and some of them: the newest first.

    Args:
        workspace: where.
        states: only those; none for all.
        site: only of this one; None for all.
        first: number of the first that is given, from 0.
        count: at most so many.
    """

    def chosen(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
        query = query.where(ShareRow.state.in_(states)) if states else query
        return query.where(ShareRow.site == site) if site is not None else query

    page = chosen(select(*SHARE_COLUMNS)).order_by(ShareRow.received_at.desc(), ShareRow.id.desc())
    with workspace.registry().reading() as session:
        total = session.scalar(chosen(select(func.count()).select_from(ShareRow))) or 0
        return int(total), [Share(*row) for row in session.execute(page.offset(first).limit(count))]


def get_share(workspace: Workspace, number: int) -> Share:
    """The share with a number in the registry.

    Raises:
        RegistryError: there is none.
    """
    with workspace.registry().reading() as session:
        row = session.execute(select(*SHARE_COLUMNS).where(ShareRow.id == number)).first()
    if row is None:
        raise RegistryError(f"share {number}: expected one of the registry, found none; see `aggregator shares list`")
    return Share(*row)


def growth(workspace: Workspace) -> list[Grown]:
    """What came in each month, by what became of it and what it was made with, oldest first."""
    month = func.substr(ShareRow.received_at, 1, 7)
    sums = [func.coalesce(func.sum(column), 0) for column in (ShareRow.sentences, ShareRow.tokens)]
    kinds = (month, ShareRow.state, ShareRow.release)
    query = select(*kinds, func.count(), *sums).group_by(*kinds).order_by(month)
    with workspace.registry().reading() as session:
        return [
            Grown(one, state, release, shares, int(sentences), int(tokens))
            for one, state, release, shares, sentences, tokens in session.execute(query)
        ]


def trained_counts(workspace: Workspace) -> dict[str, int]:
    """How many shares have trained each release that has a head, by its name."""
    query = select(ReleaseRow.name, func.count()).join(ReleaseShareRow, ReleaseShareRow.release == ReleaseRow.sequence)
    with workspace.registry().reading() as session:
        return {row[0]: row[1] for row in session.execute(query.group_by(ReleaseRow.name))}


def releases_of(workspace: Workspace, shares: Sequence[Share]) -> dict[int, list[str]]:
    """Names of the releases that are out and that each of some shares has trained, by the number of the share."""
    out = ReleaseRow.name.in_(workspace.repository().release_names())
    query = (
        select(ReleaseShareRow.share, ReleaseRow.name)
        .join(ReleaseRow, ReleaseShareRow.release == ReleaseRow.sequence)
        .where(ReleaseShareRow.share.in_([share.id for share in shares]), out)
        .order_by(ReleaseRow.sequence)
    )
    found: dict[int, list[str]] = {}
    with workspace.registry().reading() as session:
        for share, name in session.execute(query):
            found.setdefault(share, []).append(name)
    return found
