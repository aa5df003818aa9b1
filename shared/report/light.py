"""Plots as SVG text that cost no more than a few milliseconds, for pages that are made at every request.

They look like those of `shared.report.plots`: narrow enough for a telephone, in the page's own colour and font, a value written beside its
mark. Nothing in them is a style or a script, so that the strictest policy of a page shows them. Whatever a caller gives is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import escape

from shared.report.colours import GREY, SERIES

WIDTH = 380
_LEFT, _RIGHT, _TOP = 46, 14, 30
_LINE, _ROW = 17, 20
_SIZE = 11
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """What a coordinate is.

    Args:
        label: its name and unit.
        low: its least value; None for that of the points.
        high: its greatest.
        percent: whether its values are shares.
        names: words in the place of the numbers 0, 1, 2, ..., such as months.
    """

    label: str
    low: float | None = None
    high: float | None = None
    percent: bool = False
    names: Sequence[str] = ()

    def word(self, value: float) -> str:
        """A value as it is written at the axis."""
        if self.names:
            return self.names[round(value)] if 0 <= round(value) < len(self.names) else ""
        if self.percent:
            return f"{value:.0%}" if abs(value) >= 0.1 or not value else f"{value:.1%}"
        if abs(value) >= 1e6:
            return f"{value / 1e6:g} M"
        return f"{value / 1e3:g} k" if abs(value) >= 1e4 else f"{value:g}"


def lines(
    title: str, series: Mapping[str, Points], x: Axis, y: Axis, *, marks: bool = True, joined: bool = True
) -> str:
    """Lines, or single points, of two coordinates.

    Args:
        title: in words, for who can't see it.
        series: points by name.
        x: to the right.
        y: upwards.
        marks: whether every point has a mark.
        joined: whether a line goes through them.
    """
    points = [point for one in series.values() for point in one] or [(0.0, 0.0)]
    (x0, x1), (y0, y1) = _range(x, [one for one, _ in points]), _range(y, [one for _, one in points])
    height, named = 180, series if len(series) > 1 else {}
    bottom = _TOP + height

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = (point[0] - x0) / (x1 - x0) * (WIDTH - _LEFT - _RIGHT)
        return _LEFT + across, bottom - (point[1] - y0) / (y1 - y0) * height

    drawn = [_text(0, 14, y.label, soft=True)]
    for value in _ticks(y0, y1):
        at = place((x0, value))[1]
        drawn.append(
            f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="{GREY}" stroke-opacity=".3"/>'
        )
        drawn.append(_text(_LEFT - 6, at + 4, y.word(value), anchor="end"))
    for value in _places(x, x0, x1):
        drawn.append(_text(place((value, y0))[0], bottom + 15, x.word(value), anchor="middle"))
    drawn.append(_text((WIDTH + _LEFT) / 2, bottom + 31, x.label, anchor="middle", soft=True))
    for number, (_, one) in enumerate(series.items()):
        colour, where = SERIES[number % len(SERIES)], [place(point) for point in one]
        if joined and len(where) > 1:
            way = " ".join(f"{across:.1f},{up:.1f}" for across, up in where)
            drawn.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if marks or len(where) == 1:
            drawn += [f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3.2" fill="{colour}"/>' for across, up in where]
    drawn += _legend(list(named), bottom + 44)
    return _svg(title, bottom + 40 + _LINE * len(named), drawn)


def dots(title: str, labels: Sequence[str], groups: Mapping[str, Sequence[float | None]]) -> str:
    """A row for each label with a dot for each group, shares in [0, 1]; the last group's value is written beside.

    Args:
        title: in words, for who can't see it.
        labels: one a row, first on top.
        groups: a value for each row, None for none, by their names in the legend.
    """
    left, right = 150, 44
    wide = WIDTH - left - right
    bottom = 8 + _ROW * len(labels)
    drawn: list[str] = []
    least = min((value for one in groups.values() for value in one if value is not None), default=0.0)
    # From the quarter below what is least, so that small differences are seen.
    low = min(0.75, math.floor(4 * max(0.0, least)) / 4)

    def place(value: float) -> float:
        return left + (value - low) / (1 - low) * wide

    for quarter in range(5):
        value = low + quarter * (1 - low) / 4
        at = place(value)
        drawn.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="4" y2="{bottom}" stroke="{GREY}" stroke-opacity=".3"/>')
        drawn.append(_text(at, bottom + 14, f"{100 * value:.3g}%", anchor="middle", soft=True))
    for row, label in enumerate(labels):
        up = 8 + _ROW * (row + 0.5)
        drawn.append(_text(left - 8, up + 4, _shortened(label), anchor="end"))
        values = [(number, one[row]) for number, one in enumerate(groups.values())]
        known = [(number, value) for number, value in values if value is not None]
        if len(known) > 1:
            ends = [place(value) for _, value in known]
            drawn.append(f'<line x1="{min(ends):.1f}" x2="{max(ends):.1f}" y1="{up}" y2="{up}" stroke="{GREY}"/>')
        for number, value in known:
            drawn.append(f'<circle cx="{place(value):.1f}" cy="{up}" r="4" fill="{_group(number, len(groups))}"/>')
        if values and (last := values[-1][1]) is not None:
            drawn.append(_text(WIDTH - right + 8, up + 4, f"{last:.1%}" if 0 < last < 0.1 else f"{last:.0%}"))
    colours = [_group(number, len(groups)) for number in range(len(groups))]
    drawn += _legend(list(groups), bottom + 30, colours)
    return _svg(title, bottom + 26 + _LINE * len(groups), drawn)


def _group(number: int, groups: int) -> str:
    """The last group in blue, what it is held against in grey and the next colours."""
    return SERIES[0] if number == groups - 1 else (GREY, *SERIES[1:])[number % len(SERIES)]


def _legend(names: Sequence[str], top: float, colours: Sequence[str] = SERIES) -> list[str]:
    drawn = []
    for number, name in enumerate(names):
        up = top + _LINE * number
        drawn.append(f'<circle cx="{_LEFT}" cy="{up:.1f}" r="4" fill="{colours[number % len(colours)]}"/>')
        drawn.append(_text(_LEFT + 10, up + 4, name))
    return drawn


def _text(x: float, y: float, words: str, *, anchor: str = "start", soft: bool = False) -> str:
    opacity = ' fill-opacity=".75"' if soft else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor"{opacity}>{escape(words)}</text>'


def _svg(title: str, height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}" '
        f'font-size="{_SIZE}">{"".join(drawn)}</svg>'
    )


def _shortened(label: str) -> str:
    return label if len(label) <= 24 else f"{label[:23]}…"


def _range(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    low = min(values) if axis.low is None else axis.low
    high = max(values) if axis.high is None else axis.high
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _ticks(low: float, high: float) -> list[float]:
    """Four to six round numbers in a range."""
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * number, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _places(axis: Axis, low: float, high: float) -> list[float]:
    """Where the axis to the right is marked: whole numbers, and no more than have room."""
    if axis.names:
        every = max(1, math.ceil(len(axis.names) / 5))
        return [float(number) for number in range(0, len(axis.names), every)]
    if axis.percent:
        return _ticks(low, high)
    every = max(1, math.ceil((high - low) / 5))
    return [float(number) for number in range(math.ceil(low), math.floor(high) + 1, every)]
