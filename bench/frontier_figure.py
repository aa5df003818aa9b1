"""The frontier as a picture: strict F1, and with it the worth of sharing, against two attacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from shared.report.plots import BLUE, GREEN, GREY, ORANGE, svg

_LOOKS = {
    "raw notes pooled": (GREY, "*"),
    "provider alone": (GREY, "X"),
    "surrogates": (BLUE, "o"),
    "k-anonymous": (GREEN, "s"),
    "k-anonymous-invariance": (GREEN, "D"),
    "invariance": (ORANGE, "D"),
    "three-part": (ORANGE, "^"),
    "dann": (ORANGE, "v"),
}
# Neighbours on the plot tend to follow one another: their labels lie at different heights, in points.
_HEIGHTS = (7, 0, -7, -14)


@dataclass(frozen=True)
class Point:
    """One construction at one setting.

    Args:
        family: name of the construction.
        setting: its parameter in short; "" for the two ends that share nothing or everything.
        strict: strict entity F1 in [0, 1].
        match: how often the true word comes first among 100 candidates, in (0, 1].
        bayes: mean accuracy of the best attacker at a pair of words, in [0.5, 1].
    """

    family: str
    setting: str
    strict: float
    match: float
    bayes: float


def frontier_figure(points: Sequence[Point], alone: float, ideal: float) -> str:
    """An SVG with a panel for each attack, the axis on the right for the worth.

    Args:
        points: what was measured.
        alone: strict F1 of the provider alone, worth nothing.
        ideal: strict F1 of raw notes pooled, worth everything.
    """

    def draw(made: Figure) -> None:
        left, right = made.subplots(1, 2, sharey=True)
        _panel(left, points, [100 * point.match for point in points], 10)
        _panel(right, points, [100 * point.bayes for point in points], 75)
        left.set_xscale("log")
        left.set_xlim(0.5, 300)
        right.set_xlim(47, 108)
        left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        left.set_xlabel("true word first of 100 after 100 shares, %\n(chance 1)")
        right.set_xlabel("white box: best attacker at a pair of words, %\n(chance 50)")
        left.set_ylabel("strict entity F1, %")
        worth = right.secondary_yaxis(
            "right",
            functions=(
                lambda f1: 100 * (f1 / 100 - alone) / (ideal - alone),
                lambda gain: 100 * (alone + gain / 100 * (ideal - alone)),
            ),
        )
        worth.set_ylabel("worth of sharing, % of the ideal gain")
        handles, labels = left.get_legend_handles_labels()
        made.legend(handles, labels, frameon=False, loc="outside lower center", ncols=4)
        made.suptitle("MEDDOCAN 50 + 450 notes: F1 and worth against two attacks", fontweight="bold", fontsize=10)

    return svg(9.0, 5.0, draw)


def _panel(axes: Axes, points: Sequence[Point], across: Sequence[float], middle: float) -> None:
    """One attack; labels lie towards the middle."""
    known: set[str] = set()
    for index, (point, place) in enumerate(zip(points, across, strict=True)):
        colour, marker = _LOOKS[point.family]
        label = "_" + point.family if point.family in known else point.family
        known.add(point.family)
        axes.plot([place], [100 * point.strict], marker, color=colour, markersize=7, linestyle="", label=label)
        aside, side = (7, "left") if place < middle else (-7, "right")
        axes.annotate(
            point.setting,
            (place, 100 * point.strict),
            xytext=(aside, _HEIGHTS[index % len(_HEIGHTS)]),
            textcoords="offset points",
            ha=side,
            fontsize=7.5,
        )
    axes.margins(x=0.2, y=0.12)
    axes.grid(alpha=0.25)
