"""The Parquet payload: one row a sentence, one row group a block, plain and uncompressed.

Columns, all required: `representation` (float16 little-endian [tokens, dim] as bytes) or, in version 2, `codes` (uint32
little-endian [tokens] as bytes), `tags` and `casing` (uint8 [tokens] as bytes), `tokens` (int32), and beside codes a `feature_NAME`
(uint8 [tokens] as bytes) for each feature column. The file's key-value metadata hold `deid-commons` alone: format version, dim, which
is 0 for codes, and name and classes of the feature columns, if there are any.
The reader checks that footer, column chunks and pages account for every byte of the file, so that no footer can
claim less than what decoding would expand to.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foundation.os_errors import storage_error
from protocols.errors import BoundsError
from protocols.features import check_classes
from protocols.payload.base import PayloadLimits, PayloadReader, PayloadWriter, check_size, token_bytes
from protocols.payload.failing_file import ForgivingFile
from protocols.payload.parquet_footer import METADATA_KEY, RowGroup, columns, metadata_entry, read_footer
from protocols.payload.parquet_pages import ColumnChunk, plain_bytes
from protocols.payload.sentence_block import (
    CLASS_TYPE,
    LENGTH_TYPE,
    Array,
    SentenceBlock,
    row_bytes,
    row_shape,
    row_type,
)

MAGIC = b"PAR1"
# At the end of the file: the size of the footer and the magic once more.
_TAIL_BYTES = 8
_MAX_FOOTER_BYTES = 32 << 20
# Plain encoding puts the length of every byte string in front of it; an int32 takes as many bytes.
_PREFIX_BYTES = 4


class ParquetPayloadWriter(PayloadWriter):
    """Writes the Parquet payload."""

    @contextmanager
    def _session(self, sink: ForgivingFile) -> Iterator[None]:
        self._schema = _schema(columns(self.dim, self.features))
        with pq.ParquetWriter(
            pa.PythonFile(sink, mode="w"),
            self._schema,
            compression="none",
            use_dictionary=False,
            column_encoding="PLAIN",
            data_page_version="1.0",
            write_statistics=False,
            store_schema=False,
        ) as self._writer:
            self._writer.add_key_value_metadata({METADATA_KEY: metadata_entry(self.dim, self.features)})
            yield

    def _write(self, block: SentenceBlock) -> None:
        offsets = block.offsets
        arrays = [
            _binary(np.ascontiguousarray(block.values), offsets * row_bytes(self.dim)),
            _binary(np.ascontiguousarray(block.tags), offsets),
            _binary(np.ascontiguousarray(block.casing), offsets),
            pa.array(block.lengths, type=pa.int32()),
            *(_binary(np.ascontiguousarray(column), offsets) for column in block.features.T),
        ]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        self._writer.write_table(table, row_group_size=block.sentences)


class ParquetPayloadReader(PayloadReader):
    """Reads the Parquet payload, and nothing but it."""

    format: Literal["parquet"] = "parquet"

    def __init__(self, path: Path, limits: PayloadLimits) -> None:
        super().__init__(path, limits)
        try:
            self._handle = path.open("rb")
        except OSError as error:
            raise storage_error(path, error) from error
        try:
            self._open()
        except BaseException:
            self._handle.close()
            raise

    def _open(self) -> None:
        data = self._read_footer()
        footer = read_footer(data, magic_bytes=len(MAGIC), place=self.path.name)
        self.dim, self.features = footer.dim, footer.features
        self._columns = columns(self.dim, self.features)
        self.sentences = sum(group.rows for group in footer.groups)
        self.blocks = len(footer.groups)
        if not 1 <= self.sentences <= self.limits.max_sentences:
            raise BoundsError(
                f"1 to {self.limits.max_sentences} sentences", received=str(self.sentences), place=self.path.name
            )
        end = footer.groups[-1].start + sum(footer.groups[-1].sizes)
        if end != self.file_bytes - len(data) - _TAIL_BYTES:
            raise self.wrong("columns that fill the file", "a gap, or columns that end behind it")
        sizes = [self._plain_sizes(index, group) for index, group in enumerate(footer.groups)]
        with self._mapped():
            self._file = pq.ParquetFile(
                self._handle, binary_type=pa.large_binary(), arrow_extensions_enabled=False, pre_buffer=False
            )
            self.tokens = sum(self._block_tokens(index, *size) for index, size in enumerate(sizes))

    def _read_footer(self) -> bytes:
        """The footer, from the size of the file and its last eight bytes."""
        if self.file_bytes < len(MAGIC) + _TAIL_BYTES:
            raise self.wrong("a Parquet file", f"{self.file_bytes} bytes")
        with self._mapped():
            head = self._handle.read(len(MAGIC))
            self._handle.seek(self.file_bytes - _TAIL_BYTES)
            tail = self._handle.read()
            size = int.from_bytes(tail[:4], "little")
            room = self.file_bytes - len(MAGIC) - _TAIL_BYTES
            if head != MAGIC or tail[4:] != MAGIC or size > min(_MAX_FOOTER_BYTES, room):
                raise self.wrong("a whole Parquet file", "one that is cut or damaged")
            self._handle.seek(self.file_bytes - _TAIL_BYTES - size)
            return self._handle.read(size)

    def _plain_sizes(self, index: int, group: RowGroup) -> tuple[int, list[int]]:
        """Rows of a row group and the bytes of its columns without page headers, which are all read here."""
        if sum(group.sizes) > self.limits.max_block_bytes:
            raise BoundsError(
                f"a block of {self.limits.max_block_bytes} bytes at most",
                received=str(sum(group.sizes)),
                advice="ask for smaller blocks",
                place=f"{self.path.name}, block {index}",
            )
        starts = itertools.accumulate(group.sizes, initial=group.start)
        return group.rows, [
            plain_bytes(self._handle, ColumnChunk(start, size, group.rows, name))
            for name, start, size in zip(self._columns, starts, group.sizes, strict=False)
        ]

    def _block_tokens(self, index: int, rows: int, sizes: list[int]) -> int:
        """The tokens of a block, if its columns are as long as they say; only the column of lengths is decoded."""
        if sizes[3] != _PREFIX_BYTES * rows:
            raise self.wrong("an int32 a row", "another size")
        lengths = self._file.read_row_group(index, columns=["tokens"], use_threads=False).column(0)
        array = lengths.combine_chunks().to_numpy()
        if len(array) != rows or not 1 <= int(array.min()) <= int(array.max()) <= self._longest:
            raise BoundsError(
                f"sentences of 1 to {self._longest} tokens",
                received="another length",
                advice="refuse the file",
                place=f"{self.path.name}, block {index}",
            )
        tokens = int(array.sum(dtype=np.int64))
        each = token_bytes(self.dim, len(self.features))
        check_size(rows, tokens, each, self.limits, f"{self.path.name}, block {index}")
        prefixes = _PREFIX_BYTES * rows
        if sizes[:3] != [prefixes + tokens * row_bytes(self.dim), prefixes + tokens, prefixes + tokens]:
            raise self.wrong("columns as long as their tokens", "other lengths")
        if any(size != prefixes + tokens for size in sizes[4:]):
            raise self.wrong("feature columns as long as their tokens", "other lengths")
        return tokens

    @property
    def _longest(self) -> int:
        return self.limits.max_tokens_per_sentence

    def read_block(self, index: int) -> SentenceBlock:
        """The sentences of one block; see PayloadReader."""
        self.check_index(index)
        with self._mapped():
            table = self._file.read_row_group(index, use_threads=False)
        lengths = table.column(3).combine_chunks().to_numpy().astype(LENGTH_TYPE, copy=False)
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        values = self._flat(table, 0, offsets * row_bytes(self.dim)).view(row_type(self.dim))
        values = values.reshape(-1, *row_shape(self.dim))
        features = np.empty((len(values), len(self.features)), dtype=CLASS_TYPE)
        for number in range(len(self.features)):
            features[:, number] = self._flat(table, 4 + number, offsets)
        check_classes(features, self.features, f"{self.path.name}, block {index}")
        return SentenceBlock(values, self._flat(table, 1, offsets), self._flat(table, 2, offsets), lengths, features)

    def _flat(self, table: pa.Table, column: int, offsets: Array) -> Array:
        """The bytes of a column, without a copy, if its rows end where `offsets` say."""
        array = table.column(column).combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0)
        buffers = array.buffers()
        ends = np.frombuffer(buffers[1], dtype=np.int64, count=len(array) + 1, offset=8 * array.offset)
        if array.null_count or not np.array_equal(ends - ends[0], offsets):
            raise self.wrong(f"rows of {self._columns[column]} as long as their tokens", "another length")
        return np.frombuffer(buffers[2], dtype=CLASS_TYPE, count=int(offsets[-1]), offset=int(ends[0]))

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except pa.ArrowException as error:
            raise self.wrong("a sound Parquet file", type(error).__name__) from error
        except OSError as error:
            # Arrow raises an OSError without errno for damaged files, with one for real failures to read.
            if error.errno:
                raise storage_error(self.path, error) from error
            raise self.wrong("a sound Parquet file", "a damaged one") from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        self._handle.close()


def _schema(names: Sequence[str]) -> pa.Schema:
    kinds = (pa.int32() if name == "tokens" else pa.large_binary() for name in names)
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in zip(names, kinds, strict=True)])


def _binary(data: Array, offsets: Array) -> pa.Array:
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, dtype=np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
