"""How everything stands, in lines that fit a terminal of 80 columns and in an object for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from aggregator.registry.times import as_text
from aggregator.status.alerts import Alert
from aggregator.status.standing import Hospital, LastShare, Standing
from aggregator.status.unnamed import Unnamed

WIDTH = 80
_NAME = 22
_GIB = 1 << 30
_NONE = Unnamed()


def status_lines(standing: Standing, alerts: Sequence[Alert], unnamed: Unnamed = _NONE) -> list[str]:
    """For people: the hospitals, what expires next, and what needs them."""
    name, last = standing.next_expiry
    release = "no release yet" if standing.release is None else f"release {standing.release} of {standing.released}"
    return [
        *_wrapped(f"{standing.provider}: {_count(len(standing.hospitals), 'hospital')}, {release}"),
        "",
        *_hospital_lines(standing, {alert.site for alert in alerts}),
        "",
        f"next to expire: {name} of the releases, on {last}",
        *_next_keys(standing),
        f"free disk: {standing.free_bytes / _GIB:.1f} GiB",
        *_unnamed_lines(unnamed),
        "",
        *_alert_lines(alerts),
    ]


def status_json(standing: Standing, alerts: Sequence[Alert], unnamed: Unnamed = _NONE) -> dict[str, object]:
    """For programs."""
    return {
        "provider": standing.provider,
        "at": as_text(standing.at),
        "release": standing.release,
        "released": None if standing.released is None else standing.released.isoformat(),
        "hospitals": [_hospital_row(one) for one in standing.hospitals],
        "expires": {name: day.isoformat() for name, day in standing.expiries.items()},
        "free_bytes": standing.free_bytes,
        "unnamed_objects": None if unnamed.digests is None else list(unnamed.digests),
        "alerts": [alert.as_json() for alert in alerts],
    }


def _hospital_lines(standing: Standing, needing: set[str | None]) -> list[str]:
    if not standing.hospitals:
        return ["no hospitals yet; `aggregator site add` takes one in"]
    head = _row(" ", "hospital", "keys until", "last share", "", "made with", "taken")
    return [head, *(_line(one, marked=one.site.name in needing) for one in standing.hospitals)]


def _next_keys(standing: Standing) -> list[str]:
    ends = [(one.keys_until, one.site.name) for one in standing.hospitals if one.keys_until is not None]
    return [f"next keys to expire: those of {_shortened(name)}, on {day}" for day, name in sorted(ends)[:1]]


def _unnamed_lines(unnamed: Unnamed) -> list[str]:
    if unnamed.digests is None:
        return _wrapped(f"objects were not counted: {unnamed.problem}")
    return [f"objects that no share names: {len(unnamed.digests)}; see docs/operation.md"] if unnamed.digests else []


def _line(one: Hospital, *, marked: bool) -> str:
    until = "revoked" if one.site.revoked is not None else str(one.keys_until or "ended")
    came, state, made = ("never", "", "") if one.last is None else _last_words(one.last)
    return _row("!" if marked else " ", _shortened(one.site.name), until, came, state, made, str(one.accepted))


def _last_words(last: LastShare) -> tuple[str, str, str]:
    """Day, state, and the number of the release with a word where its shares can't be pooled any more."""
    made = "unknown" if last.release is None else last.release.partition("-")[0] + ("" if last.fits else " old")
    return str(last.day), str(last.state), made


def _row(mark: str, name: str, until: str, came: str, state: str, made: str, taken: str) -> str:
    return f"{mark} {name:{_NAME}}  {until:10}  {came:10}  {state:11}  {made:9}  {taken:>5}".rstrip()


def _alert_lines(alerts: Sequence[Alert]) -> list[str]:
    if not alerts:
        return ["nothing needs you"]
    lines = [f"{len(alerts)} {'thing needs' if len(alerts) == 1 else 'things need'} you:"]
    for alert in alerts:
        lines += _wrapped(f"{f'{alert.site}: ' if alert.site else ''}{alert.text}", "! ")
    return lines


def _wrapped(text: str, mark: str = "") -> list[str]:
    # Neither a command nor a name of a hospital is cut in two.
    return textwrap.wrap(text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False)


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 3] + "..."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _hospital_row(one: Hospital) -> dict[str, object]:
    last = one.last
    return {
        "site": one.site.name,
        "revoked": one.site.revoked,
        "keys_until": None if one.keys_until is None else one.keys_until.isoformat(),
        "accepted": one.accepted,
        "quarantined": one.quarantined,
        "refused": one.refused,
        "alarms": one.alarms,
        "last_share": last
        and {
            "sequence": last.sequence,
            "day": last.day.isoformat(),
            "state": str(last.state),
            "release": last.release,
            "fits": last.fits,
        },
    }
