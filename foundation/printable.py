"""Text from outside in a line for people: whatever commands a terminal, turns a line round or ends it stands there as an escape."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

# Controls (C0, C1), ends of lines, marks of direction, and half surrogates: of the latter are names of files that are no UTF-8.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_unprintable(text: str) -> str:
    r"""The same on one line, with what can't be printed as \uXXXX; so JSON on one line stays JSON of the same value."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def escape_lines(text: str) -> str:
    """The same for a text of several lines, whose ends stay."""
    return "\n".join(map(escape_unprintable, text.split("\n")))


def as_typed(path: Path) -> str:
    """A path in a command that a person is to type: quoted where it needs that, and no option with a dash ahead.

    >>> as_typed(Path("ward notes/share.parquet"))
    "'ward notes/share.parquet'"
    >>> as_typed(Path("-share.parquet"))
    './-share.parquet'
    """
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
