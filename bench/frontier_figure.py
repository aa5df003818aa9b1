"""The frontier as a picture: strict F1, and with it the worth of sharing, against the strongest attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
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
# Labels lie towards it.
_MIDDLE = 0.1


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
        for index, point in enumerate(points):
            colour, marker = _LOOKS[point.family]
            label = "_" + point.family if point.family in known else point.family
            known.add(point.family)
            place = (100 * point.advantage, 100 * point.strict)
            axes.plot(place[0], place[1], marker, color=colour, markersize=8, linestyle="", label=label)
            aside, side = (8, "left") if point.advantage < _MIDDLE else (-8, "right")
            axes.annotate(
                point.setting,
                place,
                xytext=(aside, _HEIGHTS[index % len(_HEIGHTS)]),
                textcoords="offset points",
                ha=side,
                fontsize=8,
            )
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
