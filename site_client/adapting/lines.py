"""What adapting gains, for a terminal: the figures first, the answer last, where it is seen."""

from __future__ import annotations

from collections.abc import Sequence

from shared.evaluation.sampling.paired import Compared
from shared.pipeline.adapted import LEAST_EXAMPLES
from shared.pipeline.operating_points import OperatingPoints
from site_client.adapting.adapt import Adapted
from site_client.adapting.gain import Gain, Verdict
from site_client.evaluating.sentences import percent

_USE = "to use it: site-client adapt --use --approver NAME; nothing is hidden with it before"


def adapted_lines(made: Adapted, release: int) -> list[str]:
    """All of it.

    Args:
        made: what came of it.
        release: number of the release.
    """
    gain = made.gain
    unit = "patients" if gain.by_patient else "notes"
    rows = [
        ("in your own notes", "with the release", "with an adapted head that has not seen them", "difference"),
        _row("strict F1", gain.strict),
        _row("entities hidden whole", gain.hidden),
        _row("hidden words that are PHI", gain.precision),
    ]
    return [
        *_table(rows),
        f"95% intervals over {gain.independent} {unit}; each fifth of them was read by a head that was adapted to the others alone, and every choice for it made "
        "by the others alone",
        *_points(made.points),
        *_kept(made),
        *(
            [f"few {unit}: {gain.independent}; look at the intervals, not at the figures before them"]
            if gain.independent < 50
            else []
        ),
        answer(gain, release),
    ]


def answer(gain: Gain, release: int) -> str:
    """The answer in one sentence."""
    if gain.verdict is Verdict.BETTER:
        return f"adapted from release {release}: BETTER in your own notes; {_USE}"
    if gain.verdict is Verdict.OPEN:
        return f"adapted from release {release}: NO GAIN IS SHOWN, stay with the release or label more notes; {_USE}"
    why = (
        "no threshold of it hides as much as the release does"
        if not gain.has_points
        else "it is shown to find or to hide less than the release does"
    )
    return f"adapted from release {release}: WORSE, {why}; it is not kept, and the release stays in use"


def _points(points: OperatingPoints | None) -> list[str]:
    if points is None:
        return []
    told = ", ".join(
        f"{one.target:g}: {percent(one.hidden)} hidden whole at {percent(one.precision)}"
        + (" (used unless asked for more)" if one == points.default else "")
        for one in points.points
    )
    return [f"its own --min-recall, for what the release promises does not hold for it: {told}"]


def _kept(made: Adapted) -> list[str]:
    if not made.kept:
        return []
    return [
        f"{', '.join(sorted(made.kept))}: fewer than {LEAST_EXAMPLES} examples in your notes; what the release finds of these stays hidden as well"
    ]


def _row(name: str, one: Compared) -> tuple[str, str, str, str]:
    return (
        name,
        f"{percent(one.second)} ({_interval(one.second_interval)})",
        f"{percent(one.first)} ({_interval(one.first_interval)})",
        f"{100 * one.value:+.1f} points ({100 * one.low:+.1f} to {100 * one.high:+.1f})"
        + ("" if one.is_shown else ": no difference is shown"),
    )


def _interval(ends: tuple[float, float]) -> str:
    return f"{percent(ends[0])} to {percent(ends[1])}"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
