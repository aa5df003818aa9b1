"""CSV with a header row: a text column and, if there, an id column. Labelled by nobody; written as it came, with another text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Protocol

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
            # Bytes that are not UTF-8 travel on as surrogates, so that only their row is refused.
            lines = (line.decode("utf-8", "surrogateescape") for line in stream)
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
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
            for number, (line, row) in enumerate(_rows(rows), start=1):
                part = {".csv": _row_bytes([header, row])}
                yield Entry(f"{stem}-{number}", f"{file.name}, line {line}", part, beside=dialect)

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        content = only_part(entry).decode("utf-8", "surrogateescape")
        header, row = csv.reader(io.StringIO(content, newline=""), strict=True)
        if len(row) != len(header):
            raise FormatError(
                f"expected {len(header)} columns, got {len(row)} or a quote that never closes; correct the row",
                document=entry.identifier,
            )
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


class _Rows(Protocol):
    """What we use of `csv.reader`, whose own type has no name."""

    line_num: int

    def __next__(self) -> list[str]: ...


def _rows(rows: _Rows) -> Iterator[tuple[int, list[str]]]:
    """Each row with its line in the file; a refused one comes as an empty row, blank lines do not come."""
    while True:
        line = rows.line_num + 2
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield line, []
            continue
        if row:
            yield line, row


def _row_bytes(rows: list[list[str]], dialect: _Dialect = _PLAIN) -> bytes:
    written = []
    for row in rows:
        out = io.StringIO(newline="")
        # The writer puts a cell in quotes for signs of its own line end alone, and a carriage return ends a row for many a reader.
        csv.writer(out, delimiter=dialect.delimiter, lineterminator=_PLAIN.line_end).writerow(row)
        written.append(out.getvalue().removesuffix(_PLAIN.line_end) + dialect.line_end)
    return "".join(written).encode("utf-8", "surrogateescape")
