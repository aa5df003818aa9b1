"""Parquet with a text column and, if there, an id column. Labelled by nobody; written as it came, with another text.

A text that is null is an empty note, and null again where it is written. What programs have noted about the file and its columns (its metadata,
such as the attributes of a frame of pandas) is of no row, may be any text, and stays behind.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, ClassVar

from shared.corpus.parsing.compressed_files import reading
from shared.corpus.parsing.decoding import text_value
from shared.corpus.parsing.format import Entry, Format, only_part, stem_of
from shared.document import Document
from shared.errors import ConfigurationError, FormatError

_ID_COLUMN = "id"
# Rows that are read, and written, at once.
_ROWS = 256
# Kinds of values that are described by their name alone.
_NAMED_ALONE = ("arrow.uuid", "arrow.json", "arrow.bool8")


class ParquetTable(Format):
    """Parquet with a text column; see Format."""

    name = "parquet"
    title = "Parquet, one note a row"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)
    many: ClassVar[bool] = True
    keeps_records: ClassVar[bool] = True
    is_text: ClassVar[bool] = False

    def __init__(self, text_column: str = "text") -> None:
        self.text_column = text_column

    def entries(self, file: Path) -> Iterator[Entry]:
        """Cut a file into records, each a table of one row; see Format."""
        # Loaded where a table is read: no other command needs it.
        import pyarrow as pa
        import pyarrow.parquet as pq

        stem, number = stem_of(file.name), 0
        problem = ""
        with reading(file) as stream:
            try:
                table = pq.ParquetFile(stream)
                column = table.schema_arrow.names.count(self.text_column)
                if column != 1 or not _is_text(table.schema_arrow.field(self.text_column).type):
                    raise FormatError(
                        f"expected one column of text '{self.text_column}', got {column or 'none'}"
                        f"{' of another type' if column == 1 else ''}; name the column by --text-column",
                        document=file.name,
                    )
                if len(set(table.schema_arrow.names)) < len(table.schema_arrow.names):
                    raise FormatError("expected each column once, got two of one name; rename one", document=file.name)
                schema = pa.schema([_bare(field) for field in table.schema_arrow])
                for batch in table.iter_batches(_ROWS):
                    for row in range(len(batch)):
                        number += 1
                        data = _table_bytes(pa.Table.from_batches([batch.slice(row, 1)]))
                        yield Entry(
                            f"{stem}-{number}",
                            f"{file.name}, row {number}",
                            {".parquet": data},
                            beside=schema,
                            content=_without_footer(data),
                        )
            except (pa.ArrowException, OSError) as error:
                # Damage of a file comes as an OSError, too, one that has no number of the system.
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                # Its text may hold values of the table.
                problem = f"expected a whole Parquet file, got a damaged one after row {number}; copy it again"
        if problem:
            raise FormatError(problem, document=file.name)

    def parse(self, entry: Entry, notes: Counter[str]) -> Document:
        """Read one record; see Format."""
        import pyarrow.parquet as pq

        row = pq.read_table(io.BytesIO(only_part(entry)))
        text = row.column(self.text_column)[0].as_py()
        identifier = row.column(_ID_COLUMN)[0].as_py() if _ID_COLUMN in row.schema.names else None
        if not isinstance(identifier, str | int | None) or isinstance(identifier, bool):
            raise FormatError(
                f"expected '{_ID_COLUMN}' to be text or whole numbers, got another type; rename the column",
                document=entry.identifier,
            )
        found = "" if text is None else text_value(text, f"'{self.text_column}'", entry.identifier)
        known = entry.identifier if identifier in (None, "") else str(identifier)
        return Document(known, found, labelled=False, record=(entry.beside, row))

    def render(self, document: Document) -> dict[str, bytes]:
        """Write one document; see Format."""
        raise ConfigurationError("expected a format that can be written, got parquet; choose jsonl")

    def rewrite(self, documents: Iterable[Document], stream: IO[bytes]) -> None:
        """Write the documents of one file; see Format."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        first = next(rest := iter(documents))
        rows = (self._filled(document) for document in chain([first], rest))
        with pq.ParquetWriter(stream, first.record[0]) as writer:
            while group := list(islice(rows, _ROWS)):
                writer.write_table(pa.concat_tables(group))

    def untouched(self, document: Document) -> list[str]:
        """The other columns; see Format."""
        return [name for name in document.record[0].names if name != self.text_column]

    def _filled(self, document: Document) -> Any:
        import pyarrow as pa

        schema, row = document.record
        index = row.schema.get_field_index(self.text_column)
        field = row.schema.field(index)
        absent = not document.text and row.column(index)[0].as_py() is None
        filled = row.set_column(index, field, pa.array([None if absent else document.text], field.type))
        # A row by itself has lost what only the whole file says of its types.
        return filled.cast(schema)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _bare(field: Any) -> Any:
    """A column, and all columns within it, by name and kind alone."""
    import pyarrow as pa

    return pa.field(field.name, _bare_kind(field.type), field.nullable)


def _bare_kind(kind: Any) -> Any:
    import pyarrow as pa

    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return kind if kind.extension_name in _NAMED_ALONE else _bare_kind(kind.storage_type)
    if is_a.is_struct(kind):
        return pa.struct([_bare(kind.field(number)) for number in range(kind.num_fields)])
    if is_a.is_map(kind):
        return pa.map_(_bare_kind(kind.key_type), _bare(kind.item_field), keys_sorted=kind.keys_sorted)
    if is_a.is_fixed_size_list(kind):
        return pa.list_(_bare(kind.value_field), kind.list_size)
    if is_a.is_large_list(kind):
        return pa.large_list(_bare(kind.value_field))
    return pa.list_(_bare(kind.value_field)) if is_a.is_list(kind) else kind


def _without_footer(data: bytes) -> bytes:
    """The values of a table alone: its footer says which version has written it.

    Not what pyarrow has in memory: below a null lies anything there, and beside a view all others of its batch.
    """
    length = int.from_bytes(data[-8:-4], "little")
    return data[: -8 - length]


def _table_bytes(table: Any) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out, compression="none", use_dictionary=False, write_statistics=False)
    return out.getvalue()
