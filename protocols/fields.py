"""Reads the fields of a JSON object strictly: every key known, every value of its type and within its limits."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping

from protocols.canonical import MAX_INTEGER, Json, read_decimal
from protocols.errors import BoundsError, SchemaError, VersionError

SITE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SHA256 = re.compile(r"[0-9a-f]{64}")
MEASURE = re.compile(r"[a-z][a-z0-9_]{0,63}")
LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,200}")
_ADVICE = "refuse the file"


class Fields:
    """The fields of one object.

    Args:
        value: the parsed object.
        keys: exactly the keys that it must have.
        place: name for messages.

    Raises:
        SchemaError: no object, or other keys.
    """

    def __init__(self, value: Json, keys: Collection[str], place: str) -> None:
        self.place = place
        if not isinstance(value, dict):
            raise SchemaError("an object", received=type(value).__name__, advice=_ADVICE, place=place)
        missing, unknown = sorted(set(keys) - set(value)), len(set(value) - set(keys))
        if missing or unknown:
            received = f"{unknown} unknown keys, and none of {missing}" if missing else f"{unknown} unknown keys"
            raise SchemaError("the keys of this version and no other", received=received, advice=_ADVICE, place=place)
        self._value: Mapping[str, Json] = value

    def text(self, key: str, pattern: re.Pattern[str], expected: str = "") -> str:
        """A string that `pattern` matches as a whole; `expected` says in words what that is."""
        value = self._value[key]
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise self.refuse_field(key, expected or f"text like {pattern.pattern}")
        return value

    def integer(self, key: str, *, least: int = 0, most: int = MAX_INTEGER) -> int:
        """An integer from `least` to `most`."""
        value = self._value[key]
        if type(value) is not int:
            raise self.refuse_field(key, "an integer")
        check_range(value, least, most, f"{self.place}, {key}")
        return value

    def is_null(self, key: str) -> bool:
        """Whether null stands there."""
        return self._value[key] is None

    def decimal(self, key: str) -> float:
        """A decimal string, see `protocols.canonical`."""
        return read_decimal(self._value[key], f"{self.place}, {key}")

    def date(self, key: str) -> datetime.date:
        """A day as YYYY-MM-DD."""
        return read_date(self._value[key], f"{self.place}, {key}")

    def items(self, key: str, *, most: int) -> list[Json]:
        """An array of at most `most` items."""
        value = self._value[key]
        if not isinstance(value, list):
            raise self.refuse_field(key, "an array")
        check_range(len(value), 0, most, f"{self.place}, {key}")
        return value

    def mapping(self, key: str, *, most: int) -> dict[str, Json]:
        """An object of at most `most` entries."""
        value = self._value[key]
        if not isinstance(value, dict):
            raise self.refuse_field(key, "an object")
        check_range(len(value), 0, most, f"{self.place}, {key}")
        return value

    def version(self, key: str, known: int) -> int:
        """The format version, which must be the one that this program knows."""
        return check_version(self._value[key], known, self.place)

    def refuse_field(self, key: str, expected: str) -> SchemaError:
        """The error for a field that is not as expected."""
        return SchemaError(expected, received="something else", advice=_ADVICE, place=f"{self.place}, {key}")


def check_version(value: Json, known: int, place: str) -> int:
    """`value` if it is the version `known`.

    Raises:
        VersionError: it is another.
    """
    if type(value) is not int or value != known:
        received = str(value) if type(value) is int else "something else"
        raise VersionError(f"format version {known}", received=received, advice="update the older program", place=place)
    return value


def check_range(value: float, least: float, most: float, place: str) -> None:
    """Returns if `value` lies within its limits.

    Raises:
        BoundsError: it does not.
    """
    if not least <= value <= most:
        raise BoundsError(f"{least:g} to {most:g}", received=f"{value:g}", advice=_ADVICE, place=place)


def check_text(value: str, pattern: re.Pattern[str], place: str, expected: str = "") -> None:
    """Returns if `pattern` matches the whole of `value`.

    Raises:
        SchemaError: it does not.
    """
    if not isinstance(value, str) or not pattern.fullmatch(value):
        if pattern is LINE:
            expected = expected or "one line of up to 200 characters"
        raise SchemaError(
            expected or f"text like {pattern.pattern}", received="something else", advice="correct it", place=place
        )


def read_date(value: Json, place: str) -> datetime.date:
    """The day that YYYY-MM-DD names.

    Raises:
        SchemaError: another spelling or no day.
    """
    try:
        # fromisoformat takes several spellings; one comes back.
        if isinstance(value, str) and (day := datetime.date.fromisoformat(value)).isoformat() == value:
            return day
    except ValueError as error:
        raise SchemaError("a date YYYY-MM-DD", received="no date", advice=_ADVICE, place=place) from error
    raise SchemaError("a date YYYY-MM-DD", received="something else", advice=_ADVICE, place=place)
