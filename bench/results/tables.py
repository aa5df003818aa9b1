"""Entries as tables of a page: those that something was asked of, and all others in sections that open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from bench.results.entries import Entry
from bench.results.numbers import asked, bare, interval, measured, verdict

_PARTS = re.compile(r", |: ")
# What a note begins with that has the figures of a paper, up to its first semicolon; they stand below a matrix.
_PUBLISHED = "the paper: "
_MOST_COLUMNS, _LEAST_OF_A_COLUMN, _LEAST_CELLS = 6, 3, 8


def asked_table(entries: Sequence[Entry]) -> list[str]:
    """Figures that something was asked of, those that miss it first."""
    ordered = sorted((entry for entry in entries if entry.target is not None), key=lambda entry: bool(entry.reached))
    rows = [
        (
            entry.measure,
            measured(entry),
            asked(entry),
            f"**{verdict(entry)}**" if not entry.reached else verdict(entry),
        )
        for entry in ordered
    ]
    return table(("figure", "measured", "asked", ""), rows)


def how_measured(entries: Sequence[Entry]) -> list[str]:
    """For every entry its command, data, seeds, state of the code and note; those that share them together."""
    groups: dict[tuple[str, str, str, int], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.command, entry.data, entry.commit, entry.seeds), []).append(entry)
    lines = []
    for (command, data, commit, seeds), members in groups.items():
        lines += [f"`{command}`, on {data}; {_runs(seeds)}; code of {commit}:", ""]
        lines += [f"- {entry.measure}" + (f": {_line(entry.note)}" if entry.note else "") for entry in members]
        lines.append("")
    return lines


def section(title: str, entries: Sequence[Entry]) -> list[str]:
    """A section that opens: what is of one shape side by side in a matrix, everything else in a list."""
    matrix = find_matrix(entries)
    inside = set(matrix.members) if matrix else set()
    rest = [entry for entry in entries if entry.measure not in inside]
    lines = [_provenance(entries), ""]
    if matrix:
        lines += [*matrix.lines(), ""]
        told = list(dict.fromkeys(entry.note for entry in entries if entry.measure in inside and entry.note))
        if 0 < len(told) <= _MOST_COLUMNS:
            lines += [f"Beside these figures is noted: {'; '.join(map(_line, told))}.", ""]
        elif published := [entry for entry in entries if entry.note.startswith(_PUBLISHED)]:
            lines += [f"- {entry.measure}: {_line(entry.note.partition('; ')[0])}" for entry in published] + [""]
    if rest:
        rows = [(entry.measure, measured(entry), entry.note) for entry in rest]
        lines += [*table(("figure", "measured", "note"), rows), ""]
    return collapsed(f"{title} ({len(entries)} figures)", lines)


def collapsed(title: str, lines: Iterable[str]) -> list[str]:
    """A part of a page that opens; the attribute has MkDocs read what is inside as Markdown, as others do anyway."""
    return ['<details markdown="1">', f"<summary>{escape(title, quote=False)}</summary>", "", *lines, "</details>", ""]


@dataclass(frozen=True)
class Matrix:
    """Entries whose measures differ in one part and in others, as rows and columns.

    Args:
        cells: by row and column.
        common: parts that all rows have, and that are therefore said once.
    """

    cells: dict[tuple[str, str], Entry]
    common: str

    @property
    def members(self) -> list[str]:
        """The measures in it."""
        return [entry.measure for entry in self.cells.values()]

    def lines(self) -> list[str]:
        """The table."""
        rows, columns = (list(dict.fromkeys(key[axis] for key in self.cells)) for axis in (0, 1))
        body = [(row, *(self._cell(row, column) for column in columns)) for row in rows]
        return table((self.common, *columns), body)

    def _cell(self, row: str, column: str) -> str:
        entry = self.cells.get((row, column))
        if entry is None:
            return ""
        return bare(entry) + (f" ({interval(entry)})" if entry.interval else "")


def find_matrix(entries: Sequence[Entry]) -> Matrix | None:
    """The largest matrix that the entries have; None where it would be small.

    Args:
        entries: each measure once.
    """
    best: dict[tuple[str, ...], Entry] = {}
    for place in (1, -1, -2):
        found = _matrix_at(place, entries)
        if len(found) > len(best):
            best = found
    if len(best) < _LEAST_CELLS:
        return None
    rows = [key[:-1] for key in best]
    first = 0
    while all(len(row) > first + 1 and row[first] == rows[0][first] for row in rows):
        first += 1
    named = {(", ".join(key[first:-1]), key[-1]): entry for key, entry in best.items()}
    return Matrix(named, ", ".join(rows[0][:first]))


def _matrix_at(place: int, entries: Sequence[Entry]) -> dict[tuple[str, ...], Entry]:
    """Entries by row and, last, column, where the part of a measure at a place tells the column."""
    parted = {entry.measure: _PARTS.split(entry.measure) for entry in entries}
    fits = [entry for entry in entries if len(parted[entry.measure]) >= (place + 1 if place > 0 else 1 - place)]
    counts = Counter(parted[entry.measure][place] for entry in fits)
    columns = [name for name, count in counts.most_common(_MOST_COLUMNS) if count >= _LEAST_OF_A_COLUMN]
    if len(columns) < 2:
        return {}
    keys: dict[tuple[str, ...], Entry] = {}
    for entry in fits:
        parts = list(parted[entry.measure])
        column = parts.pop(place)
        if column in columns:
            keys[(*parts, column)] = entry
    full = Counter(key[:-1] for key in keys)
    return {key: entry for key, entry in keys.items() if full[key[:-1]] > 1}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown; columns that are empty in all rows are left out."""
    body = [[_line(cell) for cell in row] for row in rows]
    kept = [place for place, name in enumerate(head) if place == 0 or any(row[place] for row in body)]
    lines = [[head[place] for place in kept], ["---"] * len(kept), *([row[place] for place in kept] for row in body)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _provenance(entries: Sequence[Entry]) -> str:
    command = entries[0].command
    data = "; ".join(dict.fromkeys(entry.data for entry in entries))
    seeds = sorted({entry.seeds for entry in entries})
    commits = ", ".join(dict.fromkeys(state for entry in entries for state in entry.commit.split(", ")))
    runs = _runs(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} runs"
    return f"`{command}`, on {_line(data)}; {runs}; code of {commits}."


def _runs(seeds: int) -> str:
    return "one run" if seeds == 1 else f"{seeds} runs"


def _line(text: str) -> str:
    """Text that stays within a cell or a line, and is no HTML."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
