"""Walks the pages of one Parquet column chunk and refuses all but plain, uncompressed data pages.

The footer of a Parquet file only claims how its pages are encoded; each page carries the truth in its own header. A
chunk that claims PLAIN can hold a dictionary page and indices that expand a thousandfold. So every header is read here
before any page is decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from protocols.errors import SchemaError
from protocols.payload.thrift import Kind, Struct, StructShape, read_struct

PLAIN, RLE = 0, 3
DATA_PAGE = 0
_HEADER_BYTES = 64
_HEADER: StructShape = {
    1: Kind.I32,  # type of the page
    2: Kind.I32,  # bytes, uncompressed
    3: Kind.I32,  # bytes, compressed
    5: {  # data page
        1: Kind.I32,  # values
        2: Kind.I32,  # encoding
        3: Kind.I32,  # encoding of definition levels, of which required columns have none
        4: Kind.I32,  # encoding of repetition levels, the same
        5: {},  # statistics, always empty
    },
}


@dataclass(frozen=True)
class ColumnChunk:
    """Where a column chunk lies and what it claims to hold.

    Args:
        start: first byte in the file.
        size: bytes, headers included.
        values: number of values, one a row.
        name: the column, for messages.
    """

    start: int
    size: int
    values: int
    name: str


def plain_bytes(file: BinaryIO, chunk: ColumnChunk) -> int:
    """Bytes of plain data in `chunk`, if it is nothing but plain data pages that hold its values and fill its bytes.

    Raises:
        SchemaError: it is anything else.
    """
    place = f"column {chunk.name}"
    position, end, values, data = chunk.start, chunk.start + chunk.size, 0, 0
    while position < end:
        file.seek(position)
        header, size = read_struct(file.read(min(_HEADER_BYTES, end - position)), _HEADER, place)
        page = header.get(3)
        data_header = header.get(5)
        count = data_header.get(1) if isinstance(data_header, dict) else None
        if not isinstance(page, int) or not isinstance(count, int) or page < 0 or count < 1:
            raise _wrong(place)
        plain: Struct = {1: count, 2: PLAIN, 3: RLE, 4: RLE}
        if header not in [{1: DATA_PAGE, 2: page, 3: page, 5: data_page} for data_page in (plain, {**plain, 5: {}})]:
            raise _wrong(place)
        position += size + page
        values += count
        data += page
    if position != end or values != chunk.values:
        raise _wrong(place)
    return data


def _wrong(place: str) -> SchemaError:
    return SchemaError(
        "plain pages without compression or dictionary that fill the column",
        received="others",
        advice="refuse the file",
        place=place,
    )
