"""The frontier as a picture: strict F1, and with it the worth of sharing, against what is read of PHI and of other words."""

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

Side = Literal["left", "right"]
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
# In per cent: labels of PHI lie towards it, those of other words, most of which crowd there, away from it.
_MIDDLE, _CROWD = 10.0, 5.0
# Between the labels of points that crowd one another, in points of F1.
_GAP = 0.65


@dataclass(frozen=True)
class Point:
    """One construction at one setting.

    Args:
        family: name of the construction.
        setting: its parameter in short; "" for the two ends that share nothing or everything.
        strict: strict entity F1 in [0, 1].
        advantage: of the strongest attack on PHI, at most 1; about 0 where it is as good as one without the share.
        read: share of the content words that are no PHI which is read, in [0, 1].
    """

    family: str
    setting: str
    strict: float
    advantage: float
    read: float


def frontier_figure(points: Sequence[Point], alone: float, ideal: float) -> str:
    """An SVG of F1 against what is read, of PHI on the left and of other words on the right; the outer axis for the worth.

    Args:
        points: what was measured.
        alone: strict F1 of the provider alone, worth nothing.
        ideal: strict F1 of raw notes pooled, worth everything.
    """

    def draw(made: Figure) -> None:
        phi, words = made.subplots(1, 2, sharey=True)
        _plot(phi, points, [100 * point.advantage for point in points], _MIDDLE, ("left", "right"))
        phi.set_xlabel(
            "PHI: advantage of the strongest attack, %\n(0: as good as without the share; 100: always right)"
        )
        phi.set_ylabel("strict entity F1, %")
        _plot(words, points, [100 * point.read for point in points], _CROWD, ("right", "left"))
        words.set_xlabel("no PHI: content words read, %")
        phi.margins(y=0.1)
        worth = words.secondary_yaxis(
            "right",
            functions=(
                lambda f1: 100 * (np.asarray(f1) / 100 - alone) / (ideal - alone),
                lambda gain: 100 * (alone + np.asarray(gain) / 100 * (ideal - alone)),
            ),
        )
        worth.set_ylabel("worth of sharing, % of the ideal gain")
        handles, labels = phi.get_legend_handles_labels()
        made.legend(handles, labels, frameon=False, loc="outside lower center", ncols=5)
        title = "MEDDOCAN 50 + 450 notes: F1 and worth against what is read"
        made.suptitle(title, fontweight="bold", fontsize=10)

    return svg(11.0, 5.6, draw)


def _plot(
    axes: Axes, points: Sequence[Point], across: Sequence[float], middle: float, sides: tuple[Side, Side]
) -> None:
    """Draw and name the points.

    Args:
        axes: of the panel.
        points: what was measured.
        across: of each, in per cent.
        middle: in per cent.
        sides: of the label, where its point is: of points below the middle, and of the others.
    """
    # Linear about 0, where estimates lie on either side, and logarithmic from 1%.
    axes.set_xscale("symlog", linthresh=1, linscale=0.6)
    axes.set_xlim(-1, 130)
    axes.set_xticks([-1, 0, 1, 3, 10, 30, 100])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    known: set[str] = set()
    for point, place in zip(points, across, strict=True):
        colour, marker = _LOOKS[point.family]
        label = "_" + point.family if point.family in known else point.family
        known.add(point.family)
        axes.plot(place, 100 * point.strict, marker, color=colour, markersize=8, linestyle="", label=label)
    placed = [(point, place) for point, place in zip(points, across, strict=True) if point.setting]
    _label(axes, [one for one in placed if one[1] < middle], sides[0])
    _label(axes, [one for one in placed if one[1] >= middle], sides[1])
    axes.grid(alpha=0.25)


def _label(axes: Axes, placed: Sequence[tuple[Point, float]], side: Side) -> None:
    """Name the settings, from the top down, none over the one above it.

    Args:
        axes: of the panel.
        placed: points of one half of it, each with its place across in per cent.
        side: of the label, where its point is.
    """
    above = math.inf
    for point, across in sorted(placed, key=lambda one: -one[0].strict):
        strict = 100 * point.strict
        above = min(strict, above - _GAP)
        axes.annotate(
            point.setting,
            (across, strict),
            xytext=(12 if side == "left" else -12, above),
            textcoords=("offset points", "data"),
            ha=side,
            va="center",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6},
        )
