"""Canonical JSON: one value, one spelling, so that what is signed is what is read.

The rules, in full:

- UTF-8, no byte order mark, no space outside strings, no line end at the end.
- Objects have their keys sorted by code point, no key twice.
- Values are objects, arrays, strings, integers, true, false and null. There are NO floats: a number with a
  fraction travels as a decimal string ("0.25"), written by `decimal_text` and read by `read_decimal`, since every
  language prints floats in its own way.
- Integers lie within +-(2^53 - 1), which every JSON reader holds exactly.
- Strings are in Unicode normal form C and hold no lone surrogates, so that one name has one spelling. Only `"`, the
  backslash and control characters are escaped, the shortest way.
- Nesting is at most `MAX_DEPTH` deep.

`parse_canonical` accepts exactly the bytes that `canonical_bytes` writes: any other spelling is refused.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from typing import NoReturn, TypeAlias

from protocols.errors import BoundsError, SchemaError

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 16
MAX_DECIMAL_CHARACTERS = 64

_ADVICE = "repair or refuse the file"
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
# Possessive, and a string may lack its end: so every byte is looked at once, whatever the bytes are.
_BRACKET = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def canonical_bytes(value: Json) -> bytes:
    """The one spelling of `value`.

    Raises:
        SchemaError: a value that canonical JSON can't hold.
        BoundsError: an integer beyond 2^53 - 1, or nesting beyond `MAX_DEPTH`.
    """
    _check_value(value, depth=1)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def parse_json(data: bytes, *, max_bytes: int, place: str = "JSON") -> Json:
    """Parses strictly, whatever the spacing and the order of keys.

    Args:
        data: the bytes.
        max_bytes: the most to look at.
        place: name for error messages.

    Raises:
        SchemaError: not JSON, a key twice, a float, NaN, a string that is not in normal form C.
        BoundsError: too many bytes, too deep, an integer beyond 2^53 - 1.
    """
    if len(data) > max_bytes:
        raise BoundsError(f"at most {max_bytes} bytes", received=str(len(data)), advice=_ADVICE, place=place)
    _check_depth(data, place)
    try:
        value: Json = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_float=_no_float,
            parse_int=_integer,
            parse_constant=_no_float,
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise SchemaError("JSON in UTF-8", received=_what(error), advice=_ADVICE, place=place) from error
    _check_value(value, depth=1)
    return value


def parse_canonical(data: bytes, *, max_bytes: int, place: str = "JSON") -> Json:
    """Parses bytes that must be canonical: exactly what `canonical_bytes` writes.

    Raises:
        SchemaError: as `parse_json`, and any other spelling of the same value.
        BoundsError: as `parse_json`.
    """
    value = parse_json(data, max_bytes=max_bytes, place=place)
    if canonical_bytes(value) != data:
        raise SchemaError("canonical JSON", received="another spelling of it", advice=_ADVICE, place=place)
    return value


def decimal_text(number: float) -> str:
    """A finite number as the shortest decimal that reads back to the same float, without exponent.

    >>> decimal_text(0.25), decimal_text(1e-07), decimal_text(3.0)
    ('0.25', '0.0000001', '3')
    """
    if not math.isfinite(number):
        raise SchemaError("a finite number", received="NaN or infinity", advice="leave the number out")
    text = format(Decimal(repr(float(number))), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text = "0" if text == "-0" else text
    if len(text) > MAX_DECIMAL_CHARACTERS:
        raise BoundsError(f"at most {MAX_DECIMAL_CHARACTERS} characters", received=str(len(text)), advice="round it")
    return text


def read_decimal(text: Json, place: str = "decimal") -> float:
    """The number that `decimal_text` wrote; every other spelling is refused.

    Raises:
        SchemaError: not such a string.
    """
    wrong = SchemaError("a decimal string such as '0.25'", received="something else", advice=_ADVICE, place=place)
    if not isinstance(text, str) or len(text) > MAX_DECIMAL_CHARACTERS or not _DECIMAL.fullmatch(text):
        raise wrong
    number = float(text)
    if decimal_text(number) != text:
        raise wrong
    return number


def _check_value(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BoundsError(f"nesting of at most {MAX_DEPTH}", received="deeper", advice=_ADVICE)
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise BoundsError("an integer within 2^53 - 1", received="a larger one", advice=_ADVICE)
    elif isinstance(value, list):
        for item in value:
            _check_value(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise SchemaError("string keys", received=type(key).__name__, advice=_ADVICE)
            _check_text(key)
            _check_value(item, depth + 1)
    else:
        raise SchemaError("a JSON value without floats", received=type(value).__name__, advice="use a decimal string")


def _check_text(text: str) -> None:
    # Most of it is, and then there is nothing to look for in what may be megabytes.
    if text.isascii():
        return
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise SchemaError("text in UTF-8", received="other bytes", advice="write it in UTF-8")
    if not unicodedata.is_normalized("NFC", text):
        raise SchemaError("text in Unicode normal form C", received="another form", advice="normalise the name")


def _check_depth(data: bytes, place: str) -> None:
    # The parser recurses, so depth is bounded before it runs.
    depth = 0
    for match in _BRACKET.finditer(data):
        first = match.group()[:1]
        depth += (first in b"[{") - (first in b"]}")
        if depth > MAX_DEPTH:
            raise BoundsError(f"nesting of at most {MAX_DEPTH}", received="deeper", advice=_ADVICE, place=place)


def _unique(pairs: list[tuple[str, Json]]) -> Mapping[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise SchemaError("each key once", received="a key twice", advice=_ADVICE)
    return result


def _no_float(text: str) -> NoReturn:
    raise SchemaError("no floats", received="one", advice="write it as a decimal string")


def _integer(text: str) -> int:
    if len(text) > 17:
        raise BoundsError("an integer within 2^53 - 1", received="a larger one", advice=_ADVICE)
    return int(text)


def _what(error: Exception) -> str:
    # The parser's own message can quote the file; the position is enough.
    if isinstance(error, json.JSONDecodeError):
        return f"something else at byte {error.pos}"
    return "bytes that are not UTF-8" if isinstance(error, UnicodeDecodeError) else "nesting too deep"
