"""How everything stands, as `aggregator status` tells it: figures, and what needs a person."""

from __future__ import annotations

from aggregator.dashboard.blocks import Mark, Notice, Notices, Page, Tile, Tiles, count
from aggregator.dashboard.pages.log import broken_now
from aggregator.dashboard.pages.reading import Reading, fitting_releases
from aggregator.dashboard.pages.work import running_block
from aggregator.enrolled.share_counts import count_accepted
from aggregator.status.alerts import LEAST_FREE_BYTES, METADATA_DAYS, Alert, find_alerts
from aggregator.status.standing import Standing, read_standing

_SHOWN = 50
_GIB = 1 << 30
_PLACES = {
    "alarm": ("/influence#alarms", "alarms"),
    "quarantined": ("/shares?state=quarantined", "shares that wait"),
    "refused": ("/shares?state=rejected", "shares that were refused"),
    "unfinished": ("/shares?state=received", "shares that are not decided"),
    "releases-end": ("/releases", "releases"),
}


def overview(reading: Reading) -> Page:
    """The first page."""
    standing = read_standing(reading.workspace, reading.at)
    alerts = find_alerts(standing)
    notices = broken_now(reading) + [_notice(alert) for alert in alerts[:_SHOWN]]
    if len(alerts) > _SHOWN:
        notices.append(Notice(f"and {len(alerts) - _SHOWN} more: `aggregator status` tells all of them"))
    fitting = count_accepted(reading.workspace, fitting_releases(reading.workspace))
    blocks = [Tiles(_tiles(standing, fitting)), *running_block(reading), Notices("What needs you", notices)]
    release = "no release yet" if standing.release is None else f"release {standing.release} of {standing.released}"
    return Page(f"{standing.provider}: overview", blocks, f"{count(len(standing.hospitals), 'hospital')}, {release}.")


def _tiles(standing: Standing, fitting: int) -> list[Tile]:
    waiting = sum(one.quarantined for one in standing.hospitals)
    active = [one for one in standing.hospitals if one.site.revoked is None]
    ending = sum(one.keys_until is None or one.site.expires(standing.at.date()) is not None for one in active)
    earlier = sum(one.accepted for one in standing.hospitals) - fitting
    counting = "shares that count" + (f"; {earlier:,} of an earlier representer do not" if earlier else "")
    name, last = standing.next_expiry
    soon = (last - standing.at.date()).days <= METADATA_DAYS
    free = standing.free_bytes
    return [
        Tile(f"{sum(one.keys_until is not None for one in active):,}", "hospitals that may share", "/sites"),
        Tile(f"{fitting:,}", counting, "/shares?state=accepted"),
        Tile(f"{waiting:,}", "shares wait for a decision", "/shares?state=quarantined", _bad(waiting)),
        Tile(f"{ending:,}", "hospitals whose keys end or have ended", "/sites", _bad(ending)),
        Tile(f"{len(standing.alarms):,}", "alarms stand", "/influence#alarms", _bad(len(standing.alarms))),
        Tile(str(last), f"next to expire: {name}", "/releases", Mark.WARN if soon else Mark.NONE),
        Tile(f"{free / _GIB:.1f} GiB", "free on the disk", "", Mark.BAD if free < LEAST_FREE_BYTES else Mark.NONE),
    ]


def _bad(number: int) -> Mark:
    return Mark.WARN if number else Mark.GOOD


def _notice(alert: Alert) -> Notice:
    text = alert.text if alert.site is None else f"{alert.site}: {alert.text}"
    mark = Mark.BAD if alert.kind in ("alarm", "disk", "overlap-key") else Mark.WARN
    if alert.kind in ("keys-end", "keys-ended"):
        return Notice(text, mark, f"/sites/{alert.site}", f"keys of {alert.site}")
    return Notice(text, mark, *_PLACES.get(alert.kind, ("", "")))
