"""The Parquet payload, and the files that break naive readers of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from protocols.errors import BoundsError, ProtocolError, SchemaError, VersionError
from protocols.payload.opening import PayloadLimits, open_payload
from protocols.payload.parquet_pages import ColumnChunk, plain_bytes
from tests.protocols.payload.blocks import DIM, make_block, rewrite, write_payload
from tests.protocols.payload.payload_contract import PayloadContract

OURS: dict[str, Any] = {
    "compression": "none",
    "use_dictionary": False,
    "column_encoding": "PLAIN",
    "data_page_version": "1.0",
    "write_statistics": False,
    "store_schema": False,
}
METADATA = {"deid-commons": f'{{"dim":{DIM},"format_version":1}}'}
Columns = dict[str, tuple[Any, pa.DataType]]


class TestParquetPayload(PayloadContract):
    suffix = ".parquet"


def columns(lengths: list[int]) -> Columns:
    """Sound columns, for tests to spoil."""
    binary = pa.binary()
    return {
        "representation": ([bytes(2 * DIM * length) for length in lengths], binary),
        "tags": ([bytes(length) for length in lengths], binary),
        "casing": ([bytes(length) for length in lengths], binary),
        "tokens": (lengths, pa.int32()),
    }


def write(
    path: Path, data: Columns, *, metadata: dict[str, str] = METADATA, nullable: bool = False, **options: Any
) -> Path:
    """A Parquet file as a stranger would write it."""
    schema = pa.schema([pa.field(name, kind, nullable=nullable) for name, (_, kind) in data.items()])
    table = pa.Table.from_arrays([pa.array(values, kind) for values, kind in data.values()], schema=schema)
    with pq.ParquetWriter(path, schema, **{**OURS, **options}) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata)
    return path


def changed(name: str, values: Any, kind: pa.DataType | None = None) -> Columns:
    data = columns([3, 4, 2])
    data[name] = (values, kind or data[name][1])
    return data


def test_a_sound_file_of_a_stranger_is_read(tmp_path: Path) -> None:
    with open_payload(write(tmp_path / "share", columns([3, 4, 2]))) as reader:
        assert reader.read_block(0).lengths.tolist() == [3, 4, 2]


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "snappy"},
        {"compression": "zstd"},
        {"compression": {"casing": "gzip", "tags": "none", "representation": "none", "tokens": "none"}},
        {"use_dictionary": True, "column_encoding": None},
        {"use_dictionary": ["tags"], "column_encoding": None},
        {"column_encoding": {"tokens": "DELTA_BINARY_PACKED"}},
        {"column_encoding": {"tags": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"use_byte_stream_split": ["tokens"], "column_encoding": None},
        {"data_page_version": "2.0"},
        {"write_statistics": True},
        {"write_page_index": True, "write_statistics": True},
        {"store_schema": True},
        {"nullable": True},
    ],
)
def test_other_encodings_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    path = write(tmp_path / "share", columns([3, 4, 2]), **options)
    with pytest.raises(SchemaError):
        open_payload(path)


def test_a_compressed_bomb_is_refused_without_expanding_it(tmp_path: Path) -> None:
    lengths = [500] * 400
    path = write(tmp_path / "share", columns(lengths), compression="zstd")
    assert path.stat().st_size < sum(lengths) * DIM * 2 / 100
    with pytest.raises(SchemaError, match="plain"):
        open_payload(path)


def test_a_dictionary_bomb_is_refused_by_its_pages_even_if_the_footer_lies(tmp_path: Path) -> None:
    data = {**columns([500] * 5000), "representation": ([bytes(2 * DIM * 500)] * 5000, pa.binary())}
    path = write(tmp_path / "share", data, use_dictionary=["representation"], column_encoding=None)
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert column.total_compressed_size < 5000 * 2 * DIM * 500 / 1000
    chunk = ColumnChunk(column.dictionary_page_offset, column.total_compressed_size, 5000, "representation")
    with path.open("rb") as file, pytest.raises(SchemaError):
        plain_bytes(file, chunk)
    with pytest.raises(SchemaError):
        open_payload(path)


@pytest.mark.parametrize("options", [{"compression": "zstd"}, {"column_encoding": {"tags": "DELTA_LENGTH_BYTE_ARRAY"}}])
def test_a_page_that_is_not_plain_is_refused_whatever_the_footer_says(tmp_path: Path, options: dict[str, Any]) -> None:
    path = write(tmp_path / "share", columns([500] * 40), **options)
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    chunk = ColumnChunk(column.data_page_offset, column.total_compressed_size, 40, "tags")
    with path.open("rb") as file, pytest.raises(SchemaError, match="plain pages"):
        plain_bytes(file, chunk)


@pytest.mark.parametrize(
    ("sound", "other", "words"),
    [
        # Thrift: list of the encodings, path, codec.
        (b"\x19\x18\x04tags\x15\x00", b"\x19\x18\x04tags\x15\x02", "uncompressed"),
        (b"\x00\x19\x18\x04tags", b"\x10\x19\x18\x04tags", "without dictionary"),
    ],
)
def test_a_footer_that_claims_more_than_plain_pages_is_refused(
    tmp_path: Path, sound: bytes, other: bytes, words: str
) -> None:
    path = write(tmp_path / "share", columns([3, 4, 2]))
    data = path.read_bytes()
    assert data.count(sound) == 1
    rewrite(path, data.replace(sound, other))
    with pytest.raises(SchemaError, match=words):
        open_payload(path)


def test_pages_must_fill_their_column(tmp_path: Path) -> None:
    path = write(tmp_path / "share", columns([3, 4, 2]))
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    start, size = column.data_page_offset, column.total_compressed_size
    with path.open("rb") as file:
        assert plain_bytes(file, ColumnChunk(start, size, 3, "tags")) == 3 * 4 + 9
        for chunk in (
            ColumnChunk(start, size - 1, 3, "tags"),
            ColumnChunk(start, size + 5, 3, "tags"),
            ColumnChunk(start, size, 4, "tags"),
            ColumnChunk(start + 1, size - 1, 3, "tags"),
        ):
            with pytest.raises(SchemaError):
                plain_bytes(file, chunk)


def test_every_flipped_byte_of_a_page_header_is_refused_or_harmless(tmp_path: Path) -> None:
    path = write(tmp_path / "share", columns([3, 4, 2]))
    start = pq.ParquetFile(path).metadata.row_group(0).column(1).data_page_offset
    data = path.read_bytes()
    refused = 0
    for offset in range(start, start + 17):
        for flip in (1, 0x40, 0xFF):
            rewrite(path, data[:offset] + bytes([data[offset] ^ flip]) + data[offset + 1 :])
            try:
                PayloadContract.read_all(path)
            except ProtocolError:
                refused += 1
    assert refused > 40


@pytest.mark.parametrize(
    "spoil",
    [
        lambda: {name: column for name, column in columns([3]).items() if name != "casing"},
        lambda: {**columns([3]), "document": (["note-1"], pa.string())},
        lambda: dict(reversed(columns([3]).items())),
        lambda: {"Tags" if name == "tags" else name: column for name, column in columns([3]).items()},
        lambda: changed("tags", ["abc", "abcd", "ab"], pa.string()),
        lambda: changed("tokens", [3, 4, 2], pa.int64()),
        lambda: changed("tokens", [3, 4, 2], pa.uint32()),
        lambda: changed("tokens", [3, 4, 2], pa.date32()),
        lambda: changed("tags", [[b"abc"], [b"abcd"], [b"ab"]], pa.list_(pa.binary())),
        lambda: changed("tags", [b"abc", b"abc", b"abc"], pa.binary(3)),
        lambda: changed("tags", [b"abcd", b"abc", b"ab"]),
        lambda: changed("tags", [b"abc", b"abcd", b""]),
        lambda: changed("casing", [b"abc", b"abcd", b"abc"]),
        lambda: changed("representation", [bytes(2 * DIM * 9), b"", b""]),
    ],
)
def test_other_columns_are_refused(tmp_path: Path, spoil: Callable[[], Columns]) -> None:
    path = write(tmp_path / "share", spoil())
    with pytest.raises(SchemaError):
        PayloadContract.read_all(path)


@pytest.mark.parametrize("lengths", [[3, 0, 6], [3, -1, 7], [513], [2**31 - 1]])
def test_lengths_out_of_bounds_are_refused(tmp_path: Path, lengths: list[int]) -> None:
    sound = [length if 0 <= length <= 600 else 1 for length in lengths]
    path = write(tmp_path / "share", {**columns(sound), "tokens": (lengths, pa.int32())})
    with pytest.raises(BoundsError):
        open_payload(path)


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({}, SchemaError),
        ({**METADATA, "pandas": "{}"}, SchemaError),
        ({"deid-commons": '{"dim":6,"format_version":3}'}, VersionError),
        ({"deid-commons": '{"dim":0,"format_version":1}'}, BoundsError),
        ({"deid-commons": '{"dim":true,"format_version":1}'}, SchemaError),
        ({"deid-commons": '{"dim":5000,"format_version":1}'}, BoundsError),
        ({"deid-commons": '{"dim":7,"format_version":1}'}, SchemaError),
        ({"deid-commons": '{"dim":6, "format_version":1}'}, SchemaError),
        ({"deid-commons": '{"dim":6,"format_version":1,"site":"a"}'}, SchemaError),
        ({"deid-commons": "[]"}, SchemaError),
        ({"deid-commons": "x" * 300}, ProtocolError),
    ],
)
def test_other_metadata_are_refused(tmp_path: Path, metadata: dict[str, str], error: type[ProtocolError]) -> None:
    path = write(tmp_path / "share", columns([3, 4]), metadata=metadata)
    with pytest.raises(error):
        open_payload(path)


def test_bytes_between_the_columns_are_refused(tmp_path: Path) -> None:
    path = write_payload(tmp_path / "share.parquet", [make_block([3, 4])])
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little")
    cut = len(data) - 8 - footer
    path.write_bytes(data[:cut] + b"hidden" + data[cut:])
    with pytest.raises(SchemaError):
        open_payload(path)


def test_a_row_group_beyond_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protocols.payload.parquet.plain_bytes", pytest.fail)
    path = write(tmp_path / "share", columns([400] * 200))
    with pytest.raises(BoundsError, match="block"):
        open_payload(path, PayloadLimits(max_block_bytes=100_000))


def test_no_flipped_byte_of_the_file_raises_anything_but_our_errors(tmp_path: Path) -> None:
    # pyarrow alone ends the process on some of these footers.
    path = write_payload(tmp_path / "share.parquet", [make_block([3, 4]), make_block([2])])
    data = path.read_bytes()
    refused = 0
    for offset in range(len(data)):
        rewrite(path, data[:offset] + bytes([data[offset] ^ 0x55]) + data[offset + 1 :])
        with suppress(SchemaError, BoundsError):
            PayloadContract.read_all(path)
            continue
        refused += 1
    assert refused > len(data) / 2
