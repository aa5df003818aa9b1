"""How everything stands today: hospitals with their keys and shares, alarms, what expires, and the room on the disk.

Read from the registry and from the release repository; no private key is opened, and nothing is changed. No text of a note is in any of
it: names of hospitals, numbers, days, and what an alarm says.
"""

from __future__ import annotations

import datetime
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select

from aggregator.enrolled.alarms import Alarm, list_alarms
from aggregator.enrolled.overlap_key import lacks_overlap_key
from aggregator.enrolled.share_counts import count_refused, count_shares, last_shares
from aggregator.enrolled.shares import Share, accepted_shares, list_shares
from aggregator.enrolled.sites import Site, list_sites
from aggregator.errors import WorkspaceError
from aggregator.publishing.head_record import read_origin
from aggregator.publishing.proposal import Proposal, read_proposal
from aggregator.publishing.releases import compatible_releases
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow
from aggregator.registry.times import as_moment, as_text
from aggregator.status.last_round import LastRound, read_last_round
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import PROVIDER


@dataclass(frozen=True)
class LastShare:
    """The share of a hospital that came last, whatever became of it.

    Args:
        sequence: its number at the hospital.
        day: when it came.
        state: what became of it.
        release: number and kind of the release that it was made with; None where that is not known, as of a damaged share.
        fits: whether it can be pooled with shares of the release that is published last.
    """

    sequence: int
    day: datetime.date
    state: ShareState
    release: str | None
    fits: bool


@dataclass(frozen=True)
class Hospital:
    """One hospital.

    Args:
        site: with its keys.
        keys_until: last day on which any of its keys counts; None where none counts today.
        accepted: shares that count.
        quarantined: shares that wait for a person.
        alarms: that stand.
        last: None where nothing came yet.
        refused: shares that the checks have refused since the release that is published last.
    """

    site: Site
    keys_until: datetime.date | None
    accepted: int
    quarantined: int
    alarms: int
    last: LastShare | None
    refused: int = 0


@dataclass(frozen=True)
class Standing:
    """How everything stands.

    Args:
        provider: its name.
        at: the moment, in UTC.
        release: name of the release that is published last; None before the first.
        released: its day.
        hospitals: by name.
        alarms: that nobody has acknowledged, oldest first.
        unfinished: shares of which a crash, or a long check, has left open whether they count.
        expiries: last day of what the provider has signed, by its name: roles of the release repository, `provider.json`.
        free_bytes: on the disk of the workspace.
        proposal: a head that waits for whoever approves releases; None for none.
        round: the monthly round that goes on or ended last; None before the first.
        lacks_overlap_key: whether the secret is gone by which the sentences of earlier shares are known again.
        withdrawn_in_head: shares, in words, that have trained the head which lies here and count no more.
    """

    provider: str
    at: datetime.datetime
    release: str | None
    released: datetime.date | None
    hospitals: tuple[Hospital, ...]
    alarms: tuple[Alarm, ...]
    unfinished: tuple[Share, ...]
    expiries: Mapping[str, datetime.date]
    free_bytes: int
    proposal: Proposal | None = None
    round: LastRound | None = None
    lacks_overlap_key: bool = False
    withdrawn_in_head: tuple[str, ...] = ()

    @property
    def next_expiry(self) -> tuple[str, datetime.date]:
        """What the provider has signed and comes to its end first, and its last day."""
        return min(self.expiries.items(), key=lambda one: one[1])


def read_standing(workspace: Workspace, at: datetime.datetime) -> Standing:
    """How everything stands.

    Args:
        workspace: the provider's.
        at: the moment to tell of, with a time zone.

    Raises:
        DatabaseError, WorkspaceError, ProtocolError: the registry or the release repository is gone or damaged.
    """
    counts, last, names = count_shares(workspace), last_shares(workspace), _release_names(workspace)
    alarms = list_alarms(workspace)
    standing = Counter(alarm.site for alarm in alarms)
    fitting = frozenset(compatible_releases(workspace)) if names else frozenset[str]()
    newest = list(names.values())[-1] if names else None
    refused = count_refused(workspace, as_text(newest[1]) if newest else "")
    with map_os_errors(workspace.root):
        free = shutil.disk_usage(workspace.root).free
    return Standing(
        workspace.name,
        at,
        newest and newest[0],
        newest and newest[1].date(),
        tuple(
            _hospital(
                site,
                counts.get(site.name, {}),
                refused.get(site.name, 0),
                last.get(site.name),
                standing[site.name],
                names,
                fitting,
                at.date(),
            )
            for site in list_sites(workspace)
        ),
        tuple(alarms),
        tuple(list_shares(workspace, (ShareState.RECEIVED,))),
        _expiries(workspace),
        free,
        read_proposal(workspace) if names else None,
        read_last_round(workspace),
        lacks_overlap_key(workspace),
        _withdrawn_in_head(workspace),
    )


def _withdrawn_in_head(workspace: Workspace) -> tuple[str, ...]:
    try:
        trained = read_origin(workspace.head).shares
    except (StorageError, WorkspaceError):
        # There is none, or one that no gate lets pass.
        return ()
    counting = {(one.site, one.sequence, one.digest) for one in accepted_shares(workspace)}
    gone = (one for one in trained if (one.site, one.sequence, one.payload) not in counting)
    return tuple(f"share {one.sequence} of {one.site}" for one in gone)


def _release_names(workspace: Workspace) -> dict[str, tuple[str, datetime.datetime]]:
    """Name and moment of every release that is out by its digest, oldest first."""
    out = ReleaseRow.name.in_(workspace.repository().release_names())
    with workspace.registry().reading() as session:
        rows = session.scalars(select(ReleaseRow).where(out).order_by(ReleaseRow.sequence))
        return {row.digest: (row.name, as_moment(row.published_at)) for row in rows}


def _hospital(
    site: Site,
    states: Mapping[ShareState, int],
    refused: int,
    last: Share | None,
    alarms: int,
    names: Mapping[str, tuple[str, datetime.datetime]],
    fitting: frozenset[str],
    day: datetime.date,
) -> Hospital:
    return Hospital(
        site,
        max((key.valid_until for key in site.keys_on(day)), default=None),
        states.get(ShareState.ACCEPTED, 0),
        states.get(ShareState.QUARANTINED, 0),
        alarms,
        None if last is None else _last_share(last, names, fitting),
        refused,
    )


def _last_share(share: Share, names: Mapping[str, tuple[str, datetime.datetime]], fitting: frozenset[str]) -> LastShare:
    name, _ = names.get(share.release or "", (None, None))
    return LastShare(share.sequence, as_moment(share.received_at).date(), share.state, name, share.release in fitting)


def _expiries(workspace: Workspace) -> dict[str, datetime.date]:
    repository = workspace.repository()
    record = ProviderRecord.from_bytes(repository.read(PROVIDER))
    roles = {role: moment.date() for role, moment in repository.expiries().items()}
    return roles | {PROVIDER: record.valid_until}
