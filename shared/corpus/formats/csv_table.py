"""CSV with a header row: a text column and, if there, an id column. Labelled by nobody; written as it came, with another text.

At the first row that can be none (`csv_rows`) the table ends: whatever follows is one damaged record, as it came.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from shared.corpus.formats.csv_rows import ID_COLUMN, Ids, Lines, read_rows
from shared.corpus.parsing.compressed_files import open_bytes, reading
from shared.corpus.parsing.decoding import ENCODINGS, as_utf8, refuse_escaped_bytes
from shared.corpus.parsing.format import Entry, Format, only_part, stem_of
from shared.document import Document
from shared.errors import ConfigurationError, FormatError

_DELIMITERS = ",;\t|"
_MARK = "\ufeff"


class CsvTable(Format):
    """CSV with a text column; see Format.

    Args:
        text_column: as the header has it.
        encoding: of a header that is no UTF-8, one of ENCODINGS.
        own: whether this program wrote the file: no line of a note passes for a row there, so ids may be of any kind.
    """

    name = "csv"
    title = "CSV, one note a row"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
    many: ClassVar[bool] = True
    keeps_records: ClassVar[bool] = True

    def __init__(self, text_column: str = "text", encoding: str = ENCODINGS[0], *, own: bool = False) -> None:
        self.text_column = text_column
        self._encoding = encoding
        self._own = own

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records; see Format."""
        stem = stem_of(file.name)
        with reading(file) as stream:
            lines = Lines(stream)
            first_line = next(lines, "")
            came = first_line.removeprefix(_MARK)
            header_line = _in_utf8(came, self._encoding)
            delimiter = find_delimiter(header_line, self.text_column, file.name)
            if delimiter is None:
                refuse_escaped_bytes(header_line, file.name)
                raise FormatError(
                    f"expected a header row with a column '{self.text_column}', got none; name the column by --text-column",
                    document=file.name,
                )
            header, as_it_came = (next(csv.reader([line], delimiter=delimiter), []) for line in (header_line, came))
            _require_once(header, (self.text_column, ID_COLUMN), file.name)
            mark = _MARK if first_line.startswith(_MARK) else ""
            dialect = _Dialect(mark, delimiter, "\r\n" if header_line.endswith("\r\n") else "\n")
            ids = None if self._own else self._ids(file, header, delimiter)
            for number, (line, row) in enumerate(read_rows(lines, header, delimiter, ids), start=1):
                identifier = f"{stem}-{number}"
                if isinstance(row, str):
                    problem = FormatError(row, document=identifier)
                    rest = f"from line {line}"
                    place = f"{file.name}, rest of file {rest}"
                    yield Entry(identifier, place, {".csv": lines.rest()}, problem, rest=rest)
                    return
                part = {".csv": _row_bytes([as_it_came, row])}
                yield Entry(identifier, f"{file.name}, line {line}", part, beside=dialect)

    def _ids(self, file: Path, header: list[str], delimiter: str) -> Ids:
        with open_bytes(file) as stream:
            lines = Lines(stream)
            next(lines, "")
            return Ids.of(header, self.text_column, (row for _, row in read_rows(lines, header, delimiter)))

    def in_utf8(self, data: bytes, encoding: str) -> bytes:
        """Header and row, each by itself: one program may have written the one, another the other."""
        return b"".join(as_utf8(_row_bytes([row]), encoding) for row in _rows(data))

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        header, row = _rows(only_part(entry))
        values = dict(zip(header, row, strict=True))
        identifier = values.get(ID_COLUMN) or entry.identifier
        refuse_escaped_bytes(identifier + values[self.text_column], entry.identifier)
        record = (entry.beside, header, row)
        return Document(identifier, values[self.text_column], labelled=False, record=record)

    def rewrite(self, documents: Iterable[Document], stream: IO[bytes]) -> None:
        """Write the documents of one file; see Format."""
        for number, document in enumerate(documents):
            dialect, header, row = document.record
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


def _require_once(header: list[str], names: Iterable[str], file: str) -> None:
    """Returns if no column that is read has a second one of its name: of two texts one would be lost."""
    for name in names:
        if (columns := header.count(name)) > 1:
            raise FormatError(f"expected one column '{name}', got {columns}; rename the others", document=file)


def _in_utf8(line: str, encoding: str) -> str:
    return as_utf8(line.encode("utf-8", "surrogateescape"), encoding).decode("utf-8", "surrogateescape")


def _rows(data: bytes) -> list[list[str]]:
    """What `_row_bytes` wrote."""
    return list(csv.reader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline=""), strict=True))


def _row_bytes(rows: list[list[str]], dialect: _Dialect = _PLAIN) -> bytes:
    written = []
    for row in rows:
        out = io.StringIO(newline="")
        # The writer puts a cell in quotes for signs of its own line end alone, and a carriage return ends a row for many a reader.
        csv.writer(out, delimiter=dialect.delimiter, lineterminator=_PLAIN.line_end).writerow(row)
        written.append(out.getvalue().removesuffix(_PLAIN.line_end) + dialect.line_end)
    return "".join(written).encode("utf-8", "surrogateescape")
