"""The frontier as a picture: strict F1, and with it the worth of sharing, against the strongest attack."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from shared.report.plots import BLUE, GREEN, GREY, ORANGE, svg

_LOOKS = {
    "raw notes pooled": (GREY, "*"),
    "provider alone": (GREY, "X"),
    "surrogates": (BLUE, "o"),
    "noisy-surrogates": (BLUE, "^"),
    "k-anonymous": (GREEN, "s"),
    "k-anonymous-invariance": (GREEN, "D"),
    "invariance": (ORANGE, "D"),
    "three-part": (ORANGE, "^"),
    "dann": (ORANGE, "v"),
}
# Labels lie towards it.
_MIDDLE = 0.1
# Between the labels of points that crowd one another, in points of F1.
_GAP = 0.65


@dataclass(frozen=True)
class Point:
    """One construction at one setting.

    Args:
        family: name of the construction.
        setting: its parameter in short; "" for the two ends that share nothing or everything.
        strict: strict entity F1 in [0, 1].
        advantage: of the strongest attack, at most 1; about 0 where it is as good as one without the share.
    """

    family: str
    setting: str
    strict: float
    advantage: float


def frontier_figure(points: Sequence[Point], alone: float, ideal: float) -> str:
    """An SVG of F1 against the strongest attack's advantage, the axis on the right for the worth.

    Args:
        points: what was measured.
        alone: strict F1 of the provider alone, worth nothing.
        ideal: strict F1 of raw notes pooled, worth everything.
    """

    def draw(made: Figure) -> None:
        axes = made.subplots()
        known: set[str] = set()
        for point in points:
            colour, marker = _LOOKS[point.family]
            label = "_" + point.family if point.family in known else point.family
            known.add(point.family)
            axes.plot(
                100 * point.advantage, 100 * point.strict, marker, color=colour, markersize=8, linestyle="", label=label
            )
        _label(axes, [point for point in points if point.advantage < _MIDDLE], "left")
        _label(axes, [point for point in points if point.advantage >= _MIDDLE], "right")
        # Linear about 0, where estimates lie on either side, and logarithmic from 1%.
        axes.set_xscale("symlog", linthresh=1, linscale=0.6)
        axes.set_xlim(-1, 130)
        axes.set_xticks([-1, 0, 1, 3, 10, 30, 100])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("advantage of the strongest attack, % (0: as good as without the share; 100: always right)")
        axes.set_ylabel("strict entity F1, %")
        axes.margins(y=0.1)
        axes.grid(alpha=0.25)
        worth = axes.secondary_yaxis(
            "right",
            functions=(
                lambda f1: 100 * (np.asarray(f1) / 100 - alone) / (ideal - alone),
                lambda gain: 100 * (alone + np.asarray(gain) / 100 * (ideal - alone)),
            ),
        )
        worth.set_ylabel("worth of sharing, % of the ideal gain")
        handles, labels = axes.get_legend_handles_labels()
        made.legend(handles, labels, frameon=False, loc="outside lower center", ncols=4)
        title = "MEDDOCAN 50 + 450 notes: F1 and worth against the strongest attack"
        made.suptitle(title, fontweight="bold", fontsize=10)

    return svg(8.0, 5.2, draw)


def _label(axes: Axes, points: Sequence[Point], side: Literal["left", "right"]) -> None:
    """Name the settings, from the top down, none over the one above it.

    Args:
        axes: of the plot.
        points: of one half of it.
        side: of the label, where its point is.
    """
    above = math.inf
    aside = 1.25 if side == "left" else 0.75
    for point in sorted((point for point in points if point.setting), key=lambda point: -point.strict):
        place = 100 * point.advantage, 100 * point.strict
        above = min(place[1], above - _GAP)
        # About 0 the axis is linear.
        across = max(place[0] * aside, place[0] + aside - 1) if side == "left" else place[0] * aside
        axes.annotate(
            point.setting,
            place,
            xytext=(across, above),
            ha=side,
            va="center",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6},
        )
