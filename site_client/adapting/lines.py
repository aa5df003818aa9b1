"""What adapting gains, for a terminal: the figures first, the answer last, where it is seen.

Whoever decides on a head later is shown the same figures, as they were kept with it, and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shared.pipeline.adapted import LEAST_EXAMPLES
from shared.pipeline.operating_points import OperatingPoints, load_points
from site_client.adapting.adapt import Adapted
from site_client.adapting.gain import Verdict
from site_client.evaluating.sentences import percent
from site_client.own_head.decided import shown_digest
from site_client.own_head.record import OwnHead


def adapted_lines(made: Adapted, release: int, head: str) -> list[str]:
    """All of it.

    Args:
        made: what came of it.
        release: number of the release.
        head: digest of the head that waits; "" where it is not kept.
    """
    stated = made.gain.as_json()
    return [*_figures(stated, made.points, made.kept), _answer(stated, release, made.points) + _to_use(head)]


def waiting_lines(own: OwnHead) -> list[str]:
    """The same, of a head that waits.

    Raises:
        ModelError: what it is good for can't be read.
    """
    return _kept_lines(own, _to_use(own.digest))


def used_lines(own: OwnHead) -> list[str]:
    """The same, of a head that somebody has just taken into use.

    Raises:
        ModelError: what it is good for can't be read.
    """
    return [
        *_kept_lines(own, ""),
        f"head {shown_digest(own.digest)}, adapted from release {own.sequence}, is in use; `site-client adapt --undo --approver NAME` goes back",
    ]


def _kept_lines(own: OwnHead, behind: str) -> list[str]:
    points = load_points(own.folder)
    return [*_figures(own.gain, points, own.kept), _answer(own.gain, own.sequence, points) + behind]


def _figures(stated: Mapping[str, Any], points: OperatingPoints | None, kept: Iterable[str]) -> list[str]:
    """Of a gain as it was stated when the head was made: nothing of it is judged anew."""
    unit, independent = "patients" if stated["independent_by"] == "patient" else "notes", stated["independent"]
    rows = [
        ("in your own notes", "with the release", "with an adapted head that has not seen them", "difference"),
        _row("strict F1", stated["strict_f1"]),
        _row("entities hidden whole", stated["hidden_whole"]),
        _row("hidden words that are PHI", stated["hidden_words_that_are_phi"]),
    ]
    return [
        *_table(rows),
        f"95% intervals over {independent} {unit}; each fifth of them was read by a head that was adapted to the others alone, and every choice for it made "
        "by the others alone",
        *_points(points),
        *_of_the_release(kept),
        *(
            [f"few {unit}: {independent}; look at the intervals, not at the figures before them"]
            if independent < 50
            else []
        ),
        *edited_lines(int(stated.get("edited_copies", 0))),
    ]


def _answer(stated: Mapping[str, Any], release: int, points: OperatingPoints | None) -> str:
    if stated["verdict"] == Verdict.BETTER:
        return f"adapted from release {release}: BETTER in your own notes"
    if stated["verdict"] == Verdict.OPEN:
        return f"adapted from release {release}: NO GAIN IS SHOWN, stay with the release or label more notes"
    why = (
        "no threshold of it hides as much as the release does"
        if points is None
        else "it is shown to find or to hide less than the release does"
    )
    return f"adapted from release {release}: WORSE, {why}; it is not kept, and the release stays in use"


def _to_use(head: str) -> str:
    if not head:
        return ""
    return (
        f"; to use it: site-client adapt --use {shown_digest(head)} --approver NAME; nothing is hidden with it before"
    )


def _points(points: OperatingPoints | None) -> list[str]:
    if points is None:
        return []
    told = ", ".join(
        f"{one.target:g}: {percent(one.hidden)} hidden whole at {percent(one.precision)}"
        + (" (used unless asked for more)" if one == points.default else "")
        for one in points.points
    )
    return [f"its own --min-recall, for what the release promises does not hold for it: {told}"]


def _of_the_release(kept: Iterable[str]) -> list[str]:
    if not (names := ", ".join(sorted(kept))):
        return []
    return [
        f"{names}: fewer than {LEAST_EXAMPLES} examples in your notes; what the release finds of these stays hidden as well"
    ]


def edited_lines(count: int) -> list[str]:
    """What there is to say where notes are others of them edited, see `count_edited`."""
    if not count:
        return []
    return [
        f"NOT all of this is a gain: {count} of these notes are for the most part others of them, such as drafts, and heads were judged by one that had seen the "
        "other; leave drafts out, or say by --patients whose notes are whose"
    ]


def _row(name: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    difference = one["difference"]
    low, high = difference["interval"]
    return (
        name,
        *(f"{percent(it['value'])} ({_interval(it['interval'])})" for it in (one["before"], one["after"])),
        f"{100 * difference['value']:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
        + ("" if one["shown"] else ": no difference is shown"),
    )


def _interval(ends: Sequence[float]) -> str:
    return f"{percent(ends[0])} to {percent(ends[1])}"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
