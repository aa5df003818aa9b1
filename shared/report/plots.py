"""Plots as SVG text, to be set into a page.

They are narrow enough for a telephone, take the page's colour for all that is written, so that they can be read on dark paper,
and write beside a mark what it stands for: a bar of 0.3% is no bar. Colours are the Okabe-Ito set, which readers with any kind
of colour vision can tell apart.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
from markupsafe import escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from shared.report.colours import BLUE, GREEN, GREY, ORANGE

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "bars", "dots", "percent", "stacked_bars", "svg"]

# Nothing else has it: it becomes the colour of the page's text.
_INK = "#010203"
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "path",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "deid-commons",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _INK),
}
_WIDTH, _ROW, _FRAME = 5.0, 0.23, 0.75
"""In inches: of a figure, of a row of it, and of title, legend and axis together."""


def svg(width: float, height: float, draw: Callable[[Figure], None]) -> str:
    """What `draw` makes of an empty figure of a size in inches, as SVG that is the same every time."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()[out.getvalue().index("<svg") :].replace(_INK, "currentColor")


def bars(labels: Sequence[str], values: Sequence[float], colours: Sequence[str], *, title: str) -> str:
    """Horizontal bars of shares in [0, 1], first on top, each with its value in per cent."""

    def draw(axes: Axes) -> None:
        places = _rows(axes, labels)
        axes.barh(places, values, color=colours, height=0.62)
        for place, value in zip(places, values, strict=True):
            axes.text(value + 0.01, place, percent(value), va="center")
        axes.set_xlim(0, 1.12)

    return _drawn(draw, len(labels), title)


def stacked_bars(labels: Sequence[str], parts: Mapping[str, tuple[str, Sequence[float]]], *, title: str) -> str:
    """Horizontal bars, each of parts that are 1 together, first on top.

    Args:
        labels: one a bar.
        parts: colour and a value for each bar, by their names in the legend.
    """

    def draw(axes: Axes) -> None:
        places = _rows(axes, labels)
        before = [0.0] * len(labels)
        for name, (colour, values) in parts.items():
            axes.barh(places, values, left=before, color=colour, height=0.62, label=name)
            for place, start, value in zip(places, before, values, strict=True):
                if value > 0.06:
                    axes.text(start + value / 2, place, f"{value:.0%}", va="center", ha="center", color="black")
            before = [one + value for one, value in zip(before, values, strict=True)]
        axes.set_xlim(0, 1)
        _legend(axes)

    return _drawn(draw, len(labels) + len(parts), title)


def dots(labels: Sequence[str], groups: Mapping[str, tuple[str, Sequence[float]]], *, title: str) -> str:
    """A row for each label with a dot for each group, shares in [0, 1]; the last group's value is written beside.

    Args:
        labels: one a row, first on top.
        groups: colour and a value for each row, by their names in the legend.
    """

    def draw(axes: Axes) -> None:
        places = _rows(axes, labels)
        drawn = list(groups.values())
        for place, *marks in zip(places, *(values for _, values in drawn), strict=True):
            axes.plot([min(marks), max(marks)], [place, place], color=GREY, linewidth=1, alpha=0.5, zorder=1)
        for name, (colour, values) in groups.items():
            axes.scatter(values, places, s=26, color=colour, label=name, zorder=2)
        for place, value in zip(places, drawn[-1][1], strict=True):
            axes.text(1.03, place, percent(value), va="center")
        axes.set_xlim(-0.02, 1.16)
        _legend(axes)

    return _drawn(draw, len(labels) + len(groups), title)


def percent(value: float) -> str:
    """A share as people read it: with a digit behind the point where it is small, so that 0.3% is not 0%."""
    return f"{value:.1%}" if 0 < value < 0.1 else f"{value:.0%}"


def _rows(axes: Axes, labels: Sequence[str]) -> list[int]:
    """Where the rows are, first on top; the axis below is in per cent."""
    places = list(range(len(labels))[::-1])
    axes.set_yticks(places, labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(axis="y", length=0)
    return places


def _legend(axes: Axes) -> None:
    """Below the axis, a line for each: beside each other they are wider than a telephone."""
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, -0.08 - 0.6 / len(axes.get_yticks())), borderpad=0)


def _drawn(draw: Callable[[Axes], None], rows: int, title: str) -> str:
    """The SVG of fresh axes, with its title in words for who can't see it."""

    def whole(figure: Figure) -> None:
        axes = figure.add_subplot()
        draw(axes)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10)

    drawn = svg(_WIDTH, _FRAME + _ROW * rows, whole)
    return re.sub("^<svg ", f'<svg role="img" aria-label="{escape(title)}" ', drawn, count=1)
