"""Reads the footer of a Parquet payload and refuses every footer that our writer would not have made.

pyarrow ends the whole process on some damaged footers, so it gets to see none that has not passed here. The field
numbers are those of FileMetaData in the Thrift definition of Parquet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foundation.feature_columns import FeatureColumn
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.features import MAX_JSON_BYTES, columns_from_json, columns_to_json, stored_name
from protocols.fields import Fields, check_version
from protocols.payload.parquet_pages import DATA_PAGE, PLAIN, RLE
from protocols.payload.sentence_block import CODES, MAX_DIM
from protocols.payload.thrift import Kind, Struct, StructShape, Value, read_struct

METADATA_KEY = b"deid-commons"
_LENGTHS = "tokens"
_REST = ("tags", "casing", _LENGTHS)
REPRESENTATIONS, CODED = 1, 2
"""Versions of the format: a token is shown by its representation, or by its code."""

_INT32, _BYTE_ARRAY = 1, 6
_REQUIRED = 0
_UNCOMPRESSED = 0
_PARQUET_VERSION = 2
_MAX_METADATA_BYTES = 256 + MAX_JSON_BYTES
_WRITER = re.compile(rb"[A-Za-z0-9 ._()-]{0,100}")

_COLUMN_METADATA: StructShape = {
    1: Kind.I32,  # type
    2: [Kind.I32],  # encodings
    3: [Kind.BINARY],  # path
    4: Kind.I32,  # compression
    5: Kind.I64,  # values
    6: Kind.I64,  # bytes, uncompressed
    7: Kind.I64,  # bytes, compressed
    9: Kind.I64,  # where the first page lies
    13: [{1: Kind.I32, 2: Kind.I32, 3: Kind.I32}],  # pages by type and encoding
    16: {1: Kind.I64, 2: [Kind.I64], 3: [Kind.I64]},  # bytes without prefixes; histograms of levels
}
_ROW_GROUP: StructShape = {
    1: [{2: Kind.I64, 3: _COLUMN_METADATA}],  # columns
    2: Kind.I64,  # bytes, uncompressed
    3: Kind.I64,  # rows
    5: Kind.I64,  # where it starts
    6: Kind.I64,  # bytes, compressed
    7: Kind.I16,  # its number
}
_FOOTER: StructShape = {
    1: Kind.I32,  # version
    2: [{1: Kind.I32, 3: Kind.I32, 4: Kind.BINARY, 5: Kind.I32}],  # schema: type, repetition, name, children
    3: Kind.I64,  # rows
    4: [_ROW_GROUP],
    5: [{1: Kind.BINARY, 2: Kind.BINARY}],  # metadata
    6: Kind.BINARY,  # program
    7: [{1: {}}],  # order of each column
}


def metadata_entry(dim: int, features: Sequence[FeatureColumn]) -> bytes:
    """What a payload of this width, or of codes and these feature columns, says of itself."""
    entry: dict[str, Json] = {"dim": dim, "format_version": REPRESENTATIONS if dim else CODED}
    return canonical_bytes(entry | ({"features": columns_to_json(features)} if features else {}))


def columns(dim: int, features: Sequence[FeatureColumn]) -> tuple[str, ...]:
    """Names of the columns of such a payload."""
    return ("representation" if dim else "codes", *_REST, *map(stored_name, features))


def _type(name: str) -> int:
    return _INT32 if name == _LENGTHS else _BYTE_ARRAY


def _schema(names: Sequence[str]) -> list[Struct]:
    root: Struct = {3: _REQUIRED, 4: b"schema", 5: len(names)}
    leaves: list[Struct] = [{1: _type(name), 3: _REQUIRED, 4: name.encode()} for name in names]
    return [root, *leaves]


@dataclass(frozen=True)
class RowGroup:
    """One row group.

    Args:
        rows: its sentences.
        start: its first byte in the file.
        sizes: bytes of each column, page headers included.
    """

    rows: int
    start: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Footer:
    """What a sound footer says.

    Args:
        dim: width of the representations, or CODES.
        features: the feature columns, in their order.
        groups: the row groups, which tile the file from its magic to its footer.
    """

    dim: int
    features: tuple[FeatureColumn, ...]
    groups: tuple[RowGroup, ...]


def read_footer(data: bytes, *, magic_bytes: int, place: str) -> Footer:
    """Reads a footer, given that the columns start behind `magic_bytes`.

    The caller compares the end of the last row group with the start of the footer.

    Raises:
        SchemaError: not a footer of our writer.
        VersionError: of another version of our format.
    """
    footer, size = read_struct(data, _FOOTER, place)
    dim, features = _read_metadata(footer.get(5), place)
    names = columns(dim, features)
    known = {1: _PARQUET_VERSION, 2: _schema(names), 7: [{1: {}}] * len(names)}
    if size != len(data) or any(footer.get(field) != value for field, value in known.items()):
        raise _wrong(f"the {len(names)} columns of a payload", place)
    program, groups = footer.get(6), footer.get(4)
    if not isinstance(program, bytes) or not _WRITER.fullmatch(program) or not isinstance(groups, list):
        raise _wrong("the name of a program and row groups", place)
    read: list[RowGroup] = []
    position = magic_bytes
    for group in groups:
        read.append(_row_group(group, position, len(read), names, place))
        position += sum(read[-1].sizes)
    if footer.get(3) != sum(group.rows for group in read):
        raise _wrong("as many rows as the row groups hold", place)
    return Footer(dim, features, tuple(read))


def _read_metadata(metadata: Value | None, place: str) -> tuple[int, tuple[FeatureColumn, ...]]:
    """Width and feature columns."""
    if not isinstance(metadata, list) or len(metadata) != 1:
        raise _wrong(f"the metadata {METADATA_KEY.decode()!r} alone", place)
    entry = metadata[0]
    value = entry.get(2) if isinstance(entry, dict) and entry.get(1) == METADATA_KEY else None
    if not isinstance(value, bytes):
        raise _wrong(f"the metadata {METADATA_KEY.decode()!r} alone", place)
    parsed = parse_canonical(value, max_bytes=_MAX_METADATA_BYTES, place=place)
    version = parsed.get("format_version") if isinstance(parsed, dict) else None
    if isinstance(parsed, dict) and version == CODED:
        named = {"features"} & set(parsed)
        dim = Fields(parsed, {"dim", "format_version"} | named, place).integer("dim", least=CODES, most=CODES)
        return dim, columns_from_json(parsed["features"], place, least=1) if named else ()
    if isinstance(parsed, dict):
        check_version(version, REPRESENTATIONS, place)
    return Fields(parsed, ("dim", "format_version"), place).integer("dim", least=1, most=MAX_DIM), ()


def _row_group(group: Value, start: int, number: int, names: tuple[str, ...], place: str) -> RowGroup:
    found = group.get(1) if isinstance(group, dict) else None
    rows = group.get(3) if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(found, list) or len(found) != len(names):
        raise _wrong("row groups of all columns", place)
    if not isinstance(rows, int) or rows < 1:
        raise _wrong("row groups with rows", place)
    sizes: list[int] = []
    for name, column in zip(names, found, strict=True):
        sizes.append(_column_size(column, name, rows, start + sum(sizes), place))
    expected: Struct = {1: found, 2: sum(sizes), 3: rows, 5: start, 6: sum(sizes)}
    if group not in (expected, {**expected, 7: number}):
        raise _wrong("row groups one behind the other", place)
    return RowGroup(rows, start, tuple(sizes))


def _column_size(column: Value, name: str, rows: int, start: int, place: str) -> int:
    """The bytes of a column chunk, if all that the footer says about it is what our writer says."""
    metadata = column.get(3) if isinstance(column, dict) else None
    size = metadata.get(7) if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(size, int) or size < 1:
        raise _wrong("columns with data", place)
    encodings = metadata.get(2)
    if encodings not in ([PLAIN], [RLE, PLAIN], [PLAIN, RLE]):
        raise _wrong("plain columns without dictionary", place)
    expected: Struct = {
        1: _type(name),
        2: encodings,
        3: [name.encode()],
        4: _UNCOMPRESSED,
        5: rows,
        6: size,
        7: size,
        9: start,
    }
    # Two counts that newer writers add; they change nothing for a reader.
    pages, plain = metadata.get(13), metadata.get(16)
    if (
        isinstance(pages, list)
        and len(pages) == 1
        and isinstance(pages[0], dict)
        and pages[0].get(3, 0) in range(1, rows + 1)
    ):
        expected[13] = [{1: DATA_PAGE, 2: PLAIN, 3: pages[0][3]}]
    if isinstance(plain, dict) and plain.get(1, -1) in range(size):
        expected[16] = {1: plain[1], 2: [], 3: []}
    if column != {2: 0, 3: expected}:
        raise _wrong("plain, uncompressed columns one behind the other, without statistics", place)
    return size


def _wrong(expected: str, place: str) -> SchemaError:
    return SchemaError(expected, received="another Parquet file", advice="refuse the file", place=place)
