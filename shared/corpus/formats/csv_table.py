"""CSV with a header row: a text column and, if there, an id column. Labelled by nobody; written as it came, with another text.

A quote that was not doubled, or a line end outside of quotes, makes rows of the lines of a note, and what stands in them would
come out in clear in the other columns. So at the first row that can be none the table ends: whatever follows is one damaged
record, as it came.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from shared.corpus.parsing.compressed_files import map_reading_errors, open_bytes
from shared.corpus.parsing.decoding import refuse_escaped_bytes
from shared.corpus.parsing.format import Entry, Format, only_part, stem_of
from shared.document import Document
from shared.errors import ConfigurationError, FormatError

_DELIMITERS = ",;\t|"
_MARK = "\ufeff"
_ID_COLUMN = "id"

# The reader's limit on a field is one per process, 128 KiB at first; notes are longer.
csv.field_size_limit((1 << 31) - 1)


class CsvTable(Format):
    """CSV with a text column; see Format."""

    name = "csv"
    title = "CSV, one note a row"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
    many: ClassVar[bool] = True
    keeps_records: ClassVar[bool] = True

    def __init__(self, text_column: str = "text") -> None:
        self.text_column = text_column

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records; see Format."""
        stem = stem_of(file.name)
        with map_reading_errors(file), open_bytes(file) as stream:
            lines = _Lines(stream)
            header_line = next(lines, "")
            delimiter = find_delimiter(header_line.removeprefix(_MARK), self.text_column, file.name)
            if delimiter is None:
                raise FormatError(
                    f"expected a header row with a column '{self.text_column}', got none; name the column by --text-column",
                    document=file.name,
                )
            header = next(csv.reader([header_line.removeprefix(_MARK)], delimiter=delimiter), [])
            mark = _MARK if header_line.startswith(_MARK) else ""
            dialect = _Dialect(mark, delimiter, "\r\n" if header_line.endswith("\r\n") else "\n")
            for number, (line, row) in enumerate(_rows(lines, header, delimiter, self.text_column), start=1):
                identifier = f"{stem}-{number}"
                if isinstance(row, str):
                    problem = FormatError(row, document=identifier)
                    place = f"{file.name}, rest of file from line {line}"
                    yield Entry(identifier, place, {".csv": lines.rest()}, problem, rest_from=line)
                    return
                part = {".csv": _row_bytes([header, row])}
                yield Entry(identifier, f"{file.name}, line {line}", part, beside=dialect)

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        content = only_part(entry).decode("utf-8", "surrogateescape")
        header, row = csv.reader(io.StringIO(content, newline=""), strict=True)
        values = dict(zip(header, row, strict=True))
        identifier = values.get(_ID_COLUMN) or entry.identifier
        refuse_escaped_bytes(identifier + values[self.text_column], entry.identifier)
        record = (entry.beside, header, row)
        return Document(identifier, values[self.text_column], labelled=False, record=record)

    def rewrite(self, documents: Iterable[Document], stream: IO[bytes]) -> None:
        """Write the documents of one file; see Format."""
        for number, document in enumerate(documents):
            dialect, header, row = document.record
            # Of two columns of one name the last was read; whatever stands in the other is no column to keep.
            filled = [
                document.text if name == self.text_column else value for name, value in zip(header, row, strict=True)
            ]
            if not number:
                stream.write(dialect.mark.encode() + _row_bytes([header], dialect))
            stream.write(_row_bytes([filled], dialect))

    def untouched(self, document: Document) -> list[str]:
        """The other columns; see Format."""
        return [name for name in document.record[1] if name != self.text_column]

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        raise ConfigurationError("expected a format that can be written, got csv; choose jsonl")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a file writes its rows."""

    mark: str = ""
    delimiter: str = ","
    line_end: str = "\r\n"


_PLAIN = _Dialect()


def find_delimiter(header_line: str, text_column: str, file: str) -> str | None:
    """The delimiter under which the header has the text column.

    Args:
        header_line: the first line.
        text_column: as the header has it.
        file: its name, for who reads the error.

    Raises:
        FormatError: the line is no row of a table.
    """
    problem = ""
    for delimiter in _DELIMITERS:
        try:
            names = next(csv.reader([header_line.rstrip("\r\n")], delimiter=delimiter), [])
        except csv.Error:
            problem = "expected rows that end in line feeds, got carriage returns alone; save the table with line feeds"
            continue
        if text_column in names:
            return delimiter
    if problem:
        raise FormatError(problem, document=file)
    return None


class _Lines:
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


def _rows(lines: _Lines, header: list[str], delimiter: str, text_column: str) -> Iterator[tuple[int, list[str] | str]]:
    """Each row with its line in the file, blank lines aside; at last, in the place of what is no row, the reason."""
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    like: str | None = None
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
        identifier = dict(zip(header, row, strict=True)).get(_ID_COLUMN, "") if text_column != _ID_COLUMN else ""
        like = like or identifier
        if identifier and not _alike(identifier, like):
            yield (
                line,
                "expected an id like the first one, without blanks or with a digit, got another; put cells with line ends "
                "in quotes, or correct the id",
            )
            return
        yield line, row


def _alike(identifier: str, first: str) -> bool:
    """Whether it can be an id beside the first one: a line of a note that passes for a row brings its first words."""
    blanks = any(map(str.isspace, identifier)) and not any(map(str.isspace, first))
    return not blanks and (any(map(str.isdigit, identifier)) or not any(map(str.isdigit, first)))


def _row_bytes(rows: list[list[str]], dialect: _Dialect = _PLAIN) -> bytes:
    written = []
    for row in rows:
        out = io.StringIO(newline="")
        # The writer puts a cell in quotes for signs of its own line end alone, and a carriage return ends a row for many a reader.
        csv.writer(out, delimiter=dialect.delimiter, lineterminator=_PLAIN.line_end).writerow(row)
        written.append(out.getvalue().removesuffix(_PLAIN.line_end) + dialect.line_end)
    return "".join(written).encode("utf-8", "surrogateescape")
