"""The plot of a page: a bar for each figure with its interval, and a mark for what was asked.

It is a picture of its own, which a page shows as such, so it can't take the page's colour: it brings paper and ink for light and for
dark. It is 400 units wide with letters of 13, which stay readable at 390 pixels, and is the same byte for byte for the same entries.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from bench.results.entries import Entry
from bench.results.numbers import asked, briefly, is_share, measured, verdict
from bench.results.words import Words

_WIDTH, _EDGE, _BARS = 400, 14, 215
"""Of the picture, around it, and of the longest bar."""
_LETTERS, _LINE, _BAR, _GAP = 54, 17, 13, 14
"""Letters a line, its height, the height of a bar, and what is left free between rows."""
_MOST_ROWS = 12
_STYLE = (
    "svg{background:#fff}text{font:13px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1b1f24}.b{font-weight:600}"
    ".s{fill:#59636e}.reached,.plain{fill:#0072b2}.missed{fill:#d98200}.track{fill:#e9edf1}.end{stroke:#1b1f24}.asked{stroke:#1b1f24}"
    "@media(prefers-color-scheme:dark){svg{background:#14181d}text{fill:#e6e9ec}.s{fill:#a3adb8}.reached,.plain{fill:#4aa3df}"
    ".missed{fill:#f0a63c}.track{fill:#2a3138}.end{stroke:#e6e9ec}.asked{stroke:#e6e9ec}}"
)


def rows_of(words: Words, entries: Sequence[Entry]) -> list[tuple[str, Entry]]:
    """What the plot shows, by label: what the words name, or else asked figures of the commonest unit.

    Args:
        words: of the topic.
        entries: of the topic.
    """
    found = {entry.measure: entry for entry in entries}
    if words.rows:
        named = ((label, found.get(words.names[name])) for name, label in words.rows.items())
        return [(label, entry) for label, entry in named if entry is not None]
    asked_of = [entry for entry in entries if entry.target]
    units = Counter(entry.unit for entry in asked_of)
    common = [entry for entry in asked_of if entry.unit == units.most_common(1)[0][0]] if units else []
    return [(entry.measure, entry) for entry in common[:_MOST_ROWS]] if len(common) > 1 else []


def figure(title: str, rows: Sequence[tuple[str, Entry]]) -> str:
    """The picture, as SVG.

    Args:
        title: in a line or two.
        rows: figures of one unit with their labels, first on top; at least one.
    """
    whole = 1.0 if all(is_share(entry.unit) for _, entry in rows) else _largest(rows)
    body, top = [], _EDGE
    for line in textwrap.wrap(title, _LETTERS - 6):
        body.append(f'<text class="b" x="{_EDGE}" y="{top + 13}">{escape(line)}</text>')
        top += _LINE
    for label, entry in rows:
        drawn, top = _row(label, entry, whole, top + _GAP)
        body += drawn
    top += _GAP
    for line in _legend(rows):
        body.append(f'<text class="s" x="{_EDGE}" y="{top + 13}">{escape(line)}</text>')
        top += _LINE
    told = ". ".join(f"{label}: {_in_words(entry)}" for label, entry in rows)
    height = top + _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH * 5 // 4}" height="{height * 5 // 4}" viewBox="0 0 {_WIDTH} {height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(told)}</desc>\n<style>{_STYLE}</style>\n"
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _row(label: str, entry: Entry, whole: float, top: int) -> tuple[list[str], int]:
    """A label, its bar below it, and what is measured and asked beside; and where the next row begins."""
    drawn = []
    for line in textwrap.wrap(label, _LETTERS):
        drawn.append(f'<text x="{_EDGE}" y="{top + 12}">{escape(line)}</text>')
        top += _LINE
    middle, right = top + _BAR / 2, _EDGE + _BARS
    kind = {True: "reached", False: "missed", None: "plain"}[entry.reached]
    drawn.append(f'<rect class="track" x="{_EDGE}" y="{top}" width="{_BARS}" height="{_BAR}" rx="2"/>')
    drawn.append(
        f'<rect class="{kind}" x="{_EDGE}" y="{top}" width="{_along(entry.value, whole)}" height="{_BAR}" rx="2"/>'
    )
    if entry.interval:
        low, high = (_EDGE + _along(end, whole) for end in entry.interval)
        drawn.append(f'<path class="end" stroke-width="1.5" d="M{low:g} {middle:g}H{high:g}"/>')
    if entry.target is not None:
        place = _EDGE + _along(entry.target, whole)
        drawn.append(f'<path class="asked" stroke-width="2" d="M{place:g} {top - 3}V{top + _BAR + 3}"/>')
    beside = f'<tspan class="b">{escape(briefly(entry))}</tspan>'
    if entry.target is not None:
        sign = "≥" if entry.direction == ">=" else "≤"
        beside += f'<tspan class="s" dx="6">asked {sign} {escape(asked(entry).split(" ", 2)[2])}</tspan>'
    drawn.append(f'<text x="{right + 10}" y="{top + 11}">{beside}</text>')
    return drawn, top + _BAR


def _along(value: float, whole: float) -> float:
    """How far along the bars a value lies, in units of the picture."""
    return round(_BARS * min(max(value / whole, 0), 1), 1) if whole else 0.0


def _largest(rows: Sequence[tuple[str, Entry]]) -> float:
    return max(max(entry.value, entry.target or 0, *(entry.interval or ())) for _, entry in rows)


def _legend(rows: Sequence[tuple[str, Entry]]) -> list[str]:
    entries = [entry for _, entry in rows]
    units: Mapping[str, None] = dict.fromkeys(entry.unit for entry in entries if not is_share(entry.unit))
    said = [f"in {', '.join(unit for unit in units if unit)}"] if any(units) else []
    said += ["thin line: interval"] if any(entry.interval for entry in entries) else []
    said += ["mark: what was asked"] if any(entry.target is not None for entry in entries) else []
    said += ["orange: missed"] if any(entry.reached is False for entry in entries) else []
    return textwrap.wrap("; ".join(said), _LETTERS)


def _in_words(entry: Entry) -> str:
    return measured(entry) + ("" if entry.target is None else f", asked {asked(entry)}, {verdict(entry).lower()}")
