"""How everything stands today: hospitals with their keys and shares, alarms, what expires, and the room on the disk.

Read from the registry and from the release repository; no private key is opened, and nothing is changed. No text of a note is in any of
it: names of hospitals, numbers, days, and what an alarm says.
"""

from __future__ import annotations

import datetime
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select

from aggregator.enrolled.alarms import Alarm, list_alarms
from aggregator.enrolled.overlap_key import lacks_overlap_key
from aggregator.enrolled.reserved import Reserved, fair_part, reserved_bytes
from aggregator.enrolled.share_counts import Told, count_shares, last_shares, quarantined_shares, refused_shares
from aggregator.enrolled.shares import Share, accepted_shares, list_shares
from aggregator.enrolled.sites import Site, list_sites
from aggregator.errors import WorkspaceError
from aggregator.objects.room import free_room
from aggregator.publishing.head_record import read_origin
from aggregator.publishing.proposal import Proposal, read_proposal
from aggregator.publishing.releases import compatible_releases
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow
from aggregator.registry.times import as_moment, as_text
from aggregator.status.guessed import Guessed, read_guessed
from aggregator.status.last_round import LastRound, read_last_round
from aggregator.status.served_certificate import ServedCertificate, read_served
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from foundation.printable import escape_unprintable
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import PROVIDER

_NONE = Told(0, 0)
_LONG = datetime.timedelta(hours=1)


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
        newest_quarantined: number in the registry of the share that was set aside last of those that wait; 0 where none does.
        newest_refused: the same of those that were refused.
    """

    site: Site
    keys_until: datetime.date | None
    accepted: int
    quarantined: int
    alarms: int
    last: LastShare | None
    refused: int = 0
    newest_quarantined: int = 0
    newest_refused: int = 0


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
        unread_proposal: why what waits for whoever approves could not be read; "" where it could.
        reserving: hospitals whose uploads have for an hour reserved more than their part of the free room, by name.
        withdrawn_in_head: shares, in words, that have trained the head which lies here and count no more.
        certificate: that the server has, or had last; None where it never ran.
        guessed: accounts of the dashboard of which wrong passwords were tried of late.
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
    unread_proposal: str = ""
    reserving: Mapping[str, Reserved] = field(default_factory=dict)
    withdrawn_in_head: tuple[str, ...] = ()
    certificate: ServedCertificate | None = None
    guessed: tuple[Guessed, ...] = ()

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
    waiting = quarantined_shares(workspace)
    refused = refused_shares(workspace, as_text(newest[1]) if newest else "")
    proposal, unread = _read_proposal(workspace) if names else (None, "")
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
                waiting.get(site.name, _NONE),
                refused.get(site.name, _NONE),
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
        proposal,
        read_last_round(workspace),
        lacks_overlap_key(workspace),
        unread,
        _reserving(workspace, at),
        _withdrawn_in_head(workspace),
        read_served(workspace),
        read_guessed(workspace, at),
    )


def _reserving(workspace: Workspace, at: datetime.datetime) -> dict[str, Reserved]:
    with workspace.registry().reading() as session:
        found = reserved_bytes(session, as_text(at), as_text(at - _LONG))
        part = fair_part(session, free_room(workspace.root))
    return {site: one for site, one in found.items() if one.bytes > part}


def _read_proposal(workspace: Workspace) -> tuple[Proposal | None, str]:
    """What waits for whoever approves, and why that can't be read: a damaged file must not keep the alarms from being told."""
    try:
        return read_proposal(workspace), ""
    except (WorkspaceError, StorageError) as error:
        return None, escape_unprintable(str(error))


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
    waiting: Told,
    refused: Told,
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
        waiting.count,
        alarms,
        None if last is None else _last_share(last, names, fitting),
        refused.count,
        waiting.newest,
        refused.newest,
    )


def _last_share(share: Share, names: Mapping[str, tuple[str, datetime.datetime]], fitting: frozenset[str]) -> LastShare:
    name, _ = names.get(share.release or "", (None, None))
    return LastShare(share.sequence, as_moment(share.received_at).date(), share.state, name, share.release in fitting)


def _expiries(workspace: Workspace) -> dict[str, datetime.date]:
    repository = workspace.repository()
    record = ProviderRecord.from_bytes(repository.read(PROVIDER))
    roles = {role: moment.date() for role, moment in repository.expiries().items()}
    return roles | {PROVIDER: record.valid_until}
