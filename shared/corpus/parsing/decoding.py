"""From bytes and loose values to ones that can be trusted, with errors that hold nothing of the note.

The exceptions of Python's own decoders carry the whole input (`UnicodeDecodeError.object`, `JSONDecodeError.doc`,
the message of `int("...")`), so they are never chained: each error here is raised outside the `except` block.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from shared.errors import FormatError

# What notes may be in that are no UTF-8. Windows-1252 is what nearly all of them are that are called ISO 8859-1.
ENCODINGS = ("utf-8", "windows-1252", "iso-8859-1", "iso-8859-15")
_PUNCTUATION = frozenset(
    "\u2018\u2019\u201c\u201d\u201e\u2013\u2014\u2026\u2022\u20ac\u00a0\u00a1\u00a7\u00ab\u00b0\u00b1\u00b2\u00b3\u00b4\u00b7\u00bb\u00bd\u00bf"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def as_utf8(data: bytes, encoding: str) -> bytes:
    """The bytes of notes in UTF-8: as they are where they are that already, else read as `encoding`, one of ENCODINGS.

    What the encoding has no character for stays as it is, and is refused where it is read.
    """
    if encoding == ENCODINGS[0] or data.isascii():
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return data
    try:
        return data.decode(encoding).encode()
    except UnicodeDecodeError:
        return data


def looks_western(data: bytes) -> bool:
    """Whether bytes that are no UTF-8 read as Windows-1252: nearly all that is no ASCII is then a letter or a common mark."""
    try:
        text = data.decode("windows-1252")
    except UnicodeDecodeError:
        return False
    others = [character for character in text if not character.isascii()]
    sound = sum(character.isalpha() or character in _PUNCTUATION for character in others)
    return bool(others) and sound >= 0.9 * len(others)


def decode_utf8(data: bytes, document: str) -> str:
    """Bytes to text. A byte order mark at the front is no part of the text; every other byte is kept.

    Raises:
        FormatError: a byte is not UTF-8, or there is a NUL byte; says which.
    """
    nul = data.find(b"\0")
    if nul >= 0:
        hint = "; it looks like UTF-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
        raise FormatError(
            f"expected text without NUL bytes, got one at byte {nul}{hint}; save it as UTF-8 text", document=document
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = error.start
    else:
        return text[1:] if data.startswith(codecs.BOM_UTF8) else text
    raise FormatError(f"expected UTF-8, got byte 0x{data[bad]:02X} at byte {bad}; {_advice(data)}", document=document)


def _advice(data: bytes) -> str:
    if looks_western(data):
        return "it looks like Windows-1252: repeat with --encoding windows-1252 if it is, or convert it to UTF-8"
    return "convert it to UTF-8, or name what it is in by --encoding"


def decode_json(data: bytes, document: str) -> Any:
    """One JSON value.

    Args:
        data: of it alone.
        document: for errors.

    Raises:
        FormatError: not UTF-8, not JSON, holding half a surrogate pair, which no text file can hold, or an object with one key twice, of which
            only the last would be read.
    """
    text = decode_utf8(data, document)
    try:
        value = json.loads(text, object_pairs_hook=_keys_once)
    except _RepeatedKeyError:
        problem = "expected each key of an object once, got one a second time; leave the right one"
    except json.JSONDecodeError as error:
        problem = f"expected JSON, got something else ({error.msg}) at character {error.pos} of the record; correct it"
    except (ValueError, RecursionError):
        problem = "expected JSON, got a number or a nesting beyond any limit; correct it"
    else:
        if not _ESCAPED_SURROGATE.search(text) or not _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
            return value
        problem = (
            "expected whole characters, got half of a surrogate pair (an escape \\ud800 to \\udfff alone); correct it"
        )
    raise FormatError(problem, document=document)


class _RepeatedKeyError(Exception):
    """A key stands twice in one object."""


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKeyError
    return found


def refuse_escaped_bytes(text: str, document: str) -> None:
    """For text that was decoded with "surrogateescape", so that one bad row does not end a whole file.

    Raises:
        FormatError: it holds a byte that is not UTF-8.
    """
    found = _SURROGATE.search(text)
    if found:
        raise FormatError(
            f"expected UTF-8, got byte 0x{ord(found.group()) - 0xDC00:02X}; {_advice(text.encode('utf-8', 'surrogateescape'))}",
            document=document,
        )


def offset(value: object, document: str, place: str) -> int:
    """A non-negative whole number, from JSON or from an attribute.

    Raises:
        FormatError: anything else; the value is not quoted, for it may be text of the note.
    """
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) <= 18:
            return int(value)
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise FormatError(
        "expected an offset that is a whole number from 0, got something else; correct it",
        document=document,
        place=place,
    )


def text_value(value: object, what: str, document: str, place: str = "") -> str:
    """A string, or a clear error that names what it should have been."""
    if isinstance(value, str):
        return value
    raise FormatError(f"expected {what} to be text, got {kind_of(value)}; correct it", document=document, place=place)


def kind_of(value: object) -> str:
    """What a JSON value is, in words; never the value."""
    for kinds, words in (
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "text"),
        (list, "a list"),
        (dict, "an object"),
    ):
        if isinstance(value, kinds):
            return words
    return "nothing"
