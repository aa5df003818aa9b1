from __future__ import annotations

import json
import math
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.canonical import (
    MAX_DEPTH,
    MAX_INTEGER,
    Json,
    canonical_bytes,
    decimal_text,
    parse_canonical,
    parse_json,
    read_decimal,
)
from protocols.errors import BoundsError, ProtocolError, SchemaError

TEXT = st.text().map(lambda text: unicodedata.normalize("NFC", text.encode("utf-8", "ignore").decode()))
SCALARS = st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


@given(VALUES)
def test_round_trip(value: Json) -> None:
    data = canonical_bytes(value)
    assert parse_canonical(data, max_bytes=len(data)) == value
    assert json.loads(data) == value


@given(VALUES, st.data())
def test_any_other_spelling_is_refused(value: Json, data: st.DataObject) -> None:
    spelled = json.dumps(
        value, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=data.draw(st.booleans())
    ).encode()
    if spelled != canonical_bytes(value):
        with pytest.raises(SchemaError):
            parse_canonical(spelled, max_bytes=1 << 20)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_our_errors(data: bytes) -> None:
    try:
        value = parse_json(data, max_bytes=50)
    except ProtocolError:
        return
    assert len(data) <= 50
    assert parse_canonical(canonical_bytes(value), max_bytes=1 << 10) == value


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"a":1,"a":2}', SchemaError),
        (b'{"a":{"b":1,"b":1}}', SchemaError),
        (b"NaN", SchemaError),
        (b"[Infinity]", SchemaError),
        (b"-Infinity", SchemaError),
        (b"1.5", SchemaError),
        (b"1e3", SchemaError),
        (b"1e400", SchemaError),
        (str(2**53).encode(), BoundsError),
        (str(-(2**53)).encode(), BoundsError),
        (b"9" * 5000, BoundsError),
        (b"[" * 100_000, BoundsError),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), BoundsError),
        (b'"\\ud800"', SchemaError),
        ('"e\u0301"'.encode(), SchemaError),
        (b'"\xff"', SchemaError),
        (b"\xef\xbb\xbf{}", SchemaError),
        (b"{} {}", SchemaError),
        (b"", SchemaError),
        (b"[1,]", SchemaError),
        (b'"' + b"a" * (1 << 20) + b'"', BoundsError),
    ],
)
def test_hostile_json_is_refused(data: bytes, error: type[ProtocolError]) -> None:
    with pytest.raises(error):
        parse_json(data, max_bytes=1 << 20)


def test_brackets_in_strings_are_no_depth() -> None:
    assert parse_json(b'"' + b"[" * 50 + b'\\"{"', max_bytes=100) == "[" * 50 + '"{'


def test_depth_at_the_limit_passes() -> None:
    nested = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert canonical_bytes(parse_json(nested, max_bytes=100)) == nested


def test_keys_are_sorted_and_nothing_is_escaped_without_need() -> None:
    assert canonical_bytes({"b": [1, True, None], "a": 'ñ"\n'}) == '{"a":"ñ\\"\\n","b":[1,true,null]}'.encode()


@pytest.mark.parametrize("value", [1.5, {1: 2}, float("nan"), {"a": b"bytes"}, {"a": (1,)}])
def test_values_outside_json_are_refused(value: object) -> None:
    with pytest.raises(SchemaError):
        canonical_bytes(value)  # type: ignore[arg-type]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_round_trip(number: float) -> None:
    try:
        text = decimal_text(number)
    except BoundsError:
        assert abs(number) > 1e40 or abs(number) < 1e-40
        return
    assert read_decimal(text) == number
    # Decimal is the oracle: the text is in plain notation and names the number to the float's precision.
    assert "e" not in text.lower()
    assert math.isclose(float(Decimal(text)), number, rel_tol=0, abs_tol=0)


@pytest.mark.parametrize(
    "text",
    ["", "-", "1.", ".5", "1.50", "01", "+1", "1e3", "-0", " 1", "NaN", "Infinity", "٣", "0." + "3" * 40, 1, None],
)
def test_other_spellings_of_decimals_are_refused(text: Json) -> None:
    with pytest.raises(SchemaError):
        read_decimal(text)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_decimals_are_finite(number: float) -> None:
    with pytest.raises(SchemaError):
        decimal_text(number)


@pytest.mark.parametrize(
    "text", [b'"' + b'\\"' * 2_000_000, b'"' + b'\\"' * 2_000_000 + b"\\", b'["' + b"a" * 4_000_000]
)
def test_a_string_without_an_end_is_looked_at_once(text: bytes) -> None:
    """A reader that begins anew at every quotation mark would sit here for hours."""
    with pytest.raises(SchemaError):
        parse_json(text, max_bytes=len(text))
