"""Curves over the number of neighbours, ours solid with the range of the runs, the paper's dashed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shared.report.plots import GREY, svg


@dataclass(frozen=True)
class Line:
    """One curve.

    Args:
        label: in the legend.
        colour: of the line.
        points: values of all runs by N.
        marker: of matplotlib.
        dashed: for what others report.
    """

    label: str
    colour: str
    points: Mapping[int, Sequence[float]]
    marker: str = "o"
    dashed: bool = False


def figure(title: str, panels: Mapping[str, Sequence[Line]], *, chance: str) -> str:
    """An SVG with one panel below the other.

    Args:
        title: of the whole.
        panels: curves of each panel, by the label of its y axis.
        chance: the panel that gets a line at 0.5.
    """

    def draw(made: Figure) -> None:
        all_axes = made.subplots(len(panels), 1, squeeze=False)[:, 0]
        for axes, (label, lines) in zip(all_axes, panels.items(), strict=True):
            _draw(axes, lines, label, guess=label == chance)
        all_axes[0].set_title(title, loc="left", fontweight="bold")

    return svg(7.2, 3.2 * len(panels), draw)


def _draw(axes: Axes, lines: Sequence[Line], label: str, *, guess: bool) -> None:
    known = [line for line in lines if line.points]
    measured = sorted({n for line in known if not line.dashed for n in line.points})
    for line in known:
        # No line leads over an N that others have.
        places = sorted(line.points) if line.dashed else measured
        values = [line.points.get(n, [math.nan]) for n in places]
        means = [statistics.fmean(runs) for runs in values]
        lows, highs = [min(runs) for runs in values], [max(runs) for runs in values]
        style = "--" if line.dashed else "-"
        axes.plot(places, means, style, color=line.colour, marker=line.marker, markersize=4, label=line.label)
        axes.fill_between(places, lows, highs, color=line.colour, alpha=0.15, linewidth=0)
    if guess:
        axes.axhline(0.5, color=GREY, linestyle=":", linewidth=1, label="chance")
    axes.set_xscale("log")
    ticks = sorted({n for line in known for n in line.points})
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.set_xlabel("neighbours N")
    axes.set_ylabel(label)
    if known or guess:
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
