"""Rows of a table of CSV, as long as what is read can be one.

A quote that was not doubled, or a line end outside of quotes, makes rows of the lines of a note, and what stands in them would come out in clear in
the other columns. Such a row shows by its quotes, by the number of its cells, or by an id that is none beside the others: it begins with the first
words of a line. Where no column is called `id`, columns of other names are found that hold ids.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

ID_COLUMN = "id"

# What is read ahead to see what the first column holds.
_AHEAD = 100
_CALLED_ID = re.compile(
    r"(?:^|[^a-z])(?:id|uid|uuid|guid)(?:$|[^a-z])|(?:note|doc|document|record|row|report|patient|case|file|text|visit|stay|sample)id$"
)
_HUMPS = re.compile("(?<=[a-z0-9])(?=[A-Z])")

# The reader's limit on a field is one per process, 128 KiB at first; notes are longer.
csv.field_size_limit((1 << 31) - 1)


class Lines:
    """The lines of a file; those that were read and not yet forgotten are kept as they came."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = iter(stream)
        self._kept: list[bytes] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._stream)
        self._kept.append(line)
        # Bytes that are not UTF-8 travel on as surrogates, so that only their row is refused.
        return line.decode("utf-8", "surrogateescape")

    def forget(self) -> None:
        """What was read belongs to rows that are whole."""
        self._kept.clear()

    def rest(self) -> bytes:
        """All that was read and not forgotten, and all that follows."""
        return b"".join([*self._kept, *self._stream])


class Ids:
    """The column that holds ids, and whether a row's fits those above.

    Args:
        column: its number; None for no such column.
        codes: whether each value has to be a code, not only to be like the first one.
    """

    def __init__(self, column: int | None, *, codes: bool = False) -> None:
        self._column = column
        self._codes = codes
        self._first = ""

    @classmethod
    def of(cls, header: Sequence[str], text_column: str, rows: Iterable[list[str] | str]) -> Ids:
        """Found by the names of the columns, or else by what the first one beside the text holds.

        Args:
            header: the names.
            text_column: whose cells are no ids, whatever it is called.
            rows: the table's, as `read_rows` gives them.
        """
        others = [number for number, name in enumerate(header) if name != text_column]
        own = [number for number in others if header[number] == ID_COLUMN]
        named = own or [number for number in others if _CALLED_ID.search(_HUMPS.sub("_", header[number]).casefold())]
        if named or not others:
            return cls(next(iter(named), None))
        return cls(others[0] if _holds_codes(others[0], rows) else None, codes=True)

    def misfit(self, row: Sequence[str]) -> int | None:
        """The column whose value is no id beside those above."""
        value = "" if self._column is None else row[self._column]
        if not value:
            return None
        self._first = self._first or value
        fits = _alike(value, self._first) and (_is_code(value) or not self._codes)
        return None if fits else self._column


def read_rows(
    lines: Lines, header: Sequence[str], delimiter: str, ids: Ids | None = None
) -> Iterator[tuple[int, list[str] | str]]:
    """Each row with its line in the file, blank lines aside; at last, in the place of what is no row, the reason.

    Args:
        lines: behind the header.
        header: the names of the columns.
        delimiter: between cells.
        ids: what is asked of them; None for nothing.
    """
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.forget()
        line = rows.line_num + 2
        try:
            row = next(rows, None)
        except csv.Error:
            yield line, "expected each quote within quotes twice, and none that stays open, got another; export it anew"
            return
        if row is None:
            return
        if not row:
            continue
        if len(row) != len(header):
            yield (
                line,
                f"expected {len(header)} columns, got {len(row)}; put cells with delimiters or line ends in quotes",
            )
            return
        misfit = ids.misfit(row) if ids else None
        if misfit is not None:
            way_out = "" if header[misfit] == ID_COLUMN else "; if it holds no ids, call the column that does 'id'"
            yield (
                line,
                f"expected in column '{header[misfit]}' an id like the first one, without blanks, with a digit, or with no letters and marks that are new, "
                f"got another; put cells with line ends in quotes, or correct the id{way_out}",
            )
            return
        yield line, row


def _alike(identifier: str, first: str) -> bool:
    """Whether it can be an id beside the first one: a line of a note that passes for a row brings its first words."""
    blanks = any(map(str.isspace, identifier)) and not any(map(str.isspace, first))
    digits = any(map(str.isdigit, identifier)) or not any(map(str.isdigit, first))
    return not blanks and digits and _kinds(identifier) <= _kinds(first)


def _kinds(value: str) -> set[str]:
    """Letters, and each mark: a date or a telephone number has other ones than an id."""
    return {"letter" if sign.isalpha() else sign for sign in value if not sign.isdigit() and not sign.isspace()}


def _is_code(value: str) -> bool:
    return any(map(str.isdigit, value)) and not any(map(str.isspace, value))


def _holds_codes(column: int, rows: Iterable[list[str] | str]) -> bool:
    """Whether most values are codes that seldom come again, as ids are and wards are not; in a table that soon breaks, whether the first one is."""
    values, broken = [], False
    for row in islice(rows, _AHEAD):
        broken = isinstance(row, str)
        if not isinstance(row, str) and row[column]:
            values.append(row[column])
    codes = list(filter(_is_code, values))
    if broken:
        return values[:1] == codes[:1] != []
    return 2 * len(codes) > len(values) and 2 * len(set(codes)) >= len(codes)
