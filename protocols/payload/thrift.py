"""Reads Thrift structs in the compact protocol, as Parquet's footer and page headers are written.

A shape says what may be there: for every field number the kind of its value. A field that the shape does not name,
another kind, a field out of order, a number too large for its kind or spelt too long: all refused. What passes is
plain Python: a struct is a dict by field number, a list a list, a string bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TypeAlias

from protocols.errors import SchemaError

Value: TypeAlias = "int | bytes | list[Value] | Struct"
Struct: TypeAlias = "dict[int, Value]"
StructShape: TypeAlias = "Mapping[int, Shape]"
Shape: TypeAlias = "Kind | list[Shape] | StructShape"
"""A kind, a list of one shape, or a struct."""


class Kind(IntEnum):
    """Kinds of values by their number in the protocol; doubles, booleans, sets and maps never occur in our files."""

    I16 = 4
    I32 = 5
    I64 = 6
    BINARY = 8


_BITS = {Kind.I16: 16, Kind.I32: 32, Kind.I64: 64}
_LIST, _STRUCT = 9, 12


def read_struct(data: bytes, shape: StructShape, place: str) -> tuple[Struct, int]:
    """The struct at the start of `data`, and how many bytes it takes.

    Raises:
        SchemaError: `data` ends too early, or is not of this shape.
    """
    reader = _Reader(data, place)
    return reader.struct(shape), reader.position


class _Reader:
    # The recursion follows the shape, so it ends however the data nest.

    def __init__(self, data: bytes, place: str) -> None:
        self._data = data
        self._place = place
        self.position = 0

    def struct(self, shape: StructShape) -> Struct:
        fields: Struct = {}
        number = 0
        while byte := self._byte():
            # A step of zero would announce the field number in full, which our structs never need.
            number += byte >> 4
            if byte < 0x10 or number not in shape or byte & 0x0F != _kind(shape[number]):
                raise self._wrong()
            fields[number] = self._value(shape[number])
        return fields

    def _value(self, shape: Shape) -> Value:
        if isinstance(shape, Mapping):
            return self.struct(shape)
        if isinstance(shape, list):
            return self._list(shape[0])
        if shape is Kind.BINARY:
            return self._take(self._varint(32))
        number = self._varint(_BITS[shape])
        return number >> 1 ^ -(number & 1)

    def _list(self, shape: Shape) -> list[Value]:
        head = self._byte()
        size = head >> 4 if head < 0xF0 else self._varint(32)
        # Every element takes a byte at least, so a list can't claim more than there is.
        if head & 0x0F != _kind(shape) or size > len(self._data) - self.position:
            raise self._wrong()
        return [self._value(shape) for _ in range(size)]

    def _varint(self, bits: int) -> int:
        number = shift = 0
        while (byte := self._byte()) >= 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift >= bits:
                raise self._wrong()
        number |= byte << shift
        # A last byte of zero is a longer spelling of a shorter number.
        if number >= 1 << bits or (shift and not byte):
            raise self._wrong()
        return number

    def _take(self, size: int) -> bytes:
        start = self.position
        if size > len(self._data) - start:
            raise self._wrong()
        self.position += size
        return self._data[start : self.position]

    def _byte(self) -> int:
        if self.position >= len(self._data):
            raise self._wrong()
        self.position += 1
        return self._data[self.position - 1]

    def _wrong(self) -> SchemaError:
        return SchemaError("structs of a plain payload", received="others", advice="refuse the file", place=self._place)


def _kind(shape: Shape) -> int:
    if isinstance(shape, Mapping):
        return _STRUCT
    return _LIST if isinstance(shape, list) else int(shape)
