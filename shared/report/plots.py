"""Plots as SVG text, to be set into a page.

Colours are the Okabe-Ito set, which readers with any kind of colour vision can tell apart.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#8a8f98"
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "path",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "deid-commons",
}


def svg(width: float, height: float, draw: Callable[[Figure], None]) -> str:
    """What `draw` makes of an empty figure of a size in inches, as SVG that is the same every time."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()[out.getvalue().index("<svg") :]


def _svg(width: float, height: float) -> Callable[[Callable[..., None]], Callable[..., str]]:
    """Let a function draw on fresh axes, and return the SVG."""

    def decorate(draw: Callable[..., None]) -> Callable[..., str]:
        @wraps(draw)
        def drawn(*arguments: object, **options: object) -> str:
            return svg(width, height, lambda figure: draw(figure.add_subplot(), *arguments, **options))

        return drawn

    return decorate


@_svg(7.2, 2.9)
def bars(axes: Axes, labels: Sequence[str], values: Sequence[float], colours: Sequence[str], *, title: str) -> None:
    """Horizontal bars of scores in [0, 1], first on top, each with its value."""
    places = range(len(labels))[::-1]
    axes.barh(list(places), values, color=colours, height=0.62)
    for place, value in zip(places, values, strict=True):
        axes.text(value + 0.01, place, f"{value:.3f}", va="center")
    axes.set_yticks(list(places), labels)
    axes.set_xlim(0, 1.08)
    axes.set_title(title, loc="left", fontweight="bold")


@_svg(7.2, 3.6)
def grouped_bars(
    axes: Axes, labels: Sequence[str], groups: Mapping[str, tuple[str, Sequence[float]]], *, title: str
) -> None:
    """Vertical bars of scores in [0, 1] side by side.

    Args:
        labels: one a place on the x axis.
        groups: colour and values of each group, by its name in the legend.
    """
    width = 0.8 / len(groups)
    for index, (name, (colour, values)) in enumerate(groups.items()):
        axes.bar(
            [place + (index - (len(groups) - 1) / 2) * width for place in range(len(labels))],
            values,
            width,
            color=colour,
            label=name,
        )
    axes.set_xticks(range(len(labels)), labels, rotation=40, ha="right")
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1.08), ncols=len(groups))
    axes.set_title(title, loc="left", fontweight="bold")


@_svg(7.2, 2.6)
def curves(
    axes: Axes,
    lines: Mapping[str, tuple[str, Sequence[float]]],
    *,
    title: str,
    x: str,
    y: str,
    level: tuple[str, float] | None = None,
    limits: tuple[float, float] | None = None,
) -> None:
    """Lines over epochs; NaN leaves a gap.

    Args:
        lines: colour and values of each line, by its name in the legend.
        level: name and height of a dashed line to compare with.
        limits: of the y axis; by default those of the values, which makes noise look large.
    """
    for name, (colour, values) in lines.items():
        axes.plot(range(1, len(values) + 1), values, color=colour, marker="o", markersize=3, label=name)
    if level is not None:
        axes.axhline(level[1], color=GREY, linestyle="--", linewidth=1, label=level[0])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if limits is not None:
        axes.set_ylim(*limits)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(frameon=False)
    axes.set_title(title, loc="left", fontweight="bold")
