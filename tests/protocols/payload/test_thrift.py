from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import SchemaError
from protocols.payload.thrift import Kind, StructShape, read_struct

SHAPE: StructShape = {1: Kind.I32, 2: [Kind.I32], 3: {1: Kind.BINARY}, 5: Kind.I64, 6: [{1: Kind.I16}]}


@pytest.mark.parametrize(
    ("data", "struct"),
    [
        ("00", {}),
        ("150200", {1: 1}),
        ("150100", {1: -1}),
        ("15feffffff0f00", {1: 2**31 - 1}),
        ("15ffffffff0f00", {1: -(2**31)}),
        ("2925020400", {2: [1, 2]}),
        ("290500", {2: []}),
        ("3c180261620000", {3: {1: b"ab"}}),
        ("150256feffffffffffffffff0100", None),
        ("150246feffffffffffffffff0100", {1: 1, 5: 2**63 - 1}),
        ("692c14020014040000", {6: [{1: 1}, {1: 2}]}),
    ],
)
def test_structs_by_hand(data: str, struct: object) -> None:
    raw = bytes.fromhex(data)
    if struct is None:
        with pytest.raises(SchemaError):
            read_struct(raw, SHAPE, "test")
    else:
        assert read_struct(raw, SHAPE, "test") == (struct, len(raw))


@pytest.mark.parametrize(
    "data",
    [
        "",  # no end
        "1502",  # no end
        "15",  # no value
        "160200",  # another kind
        "450200",  # a field that the shape does not name
        "05020200",  # the field number in full
        "1502150200",  # a field behind its place
        "1582800000",  # a longer spelling
        "15ffffffff1f00",  # beyond 32 bits
        "15ffffffffffffff0000",  # too long
        "29f5ffffffff0f00",  # a list that claims more than there is
        "29160000",  # a list of another kind
        "3c18ffffffff0f0000",  # a string that claims more than there is
        "1100",  # a boolean
    ],
)
def test_other_bytes_are_refused(data: str) -> None:
    with pytest.raises(SchemaError):
        read_struct(bytes.fromhex(data), SHAPE, "test")


@given(st.binary(max_size=80))
def test_no_bytes_raise_anything_but_our_error(data: bytes) -> None:
    try:
        _, size = read_struct(data, SHAPE, "test")
    except SchemaError:
        return
    assert 0 < size <= len(data)
