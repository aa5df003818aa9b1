"""Where a text holds character references of HTML, and what each stands for: as `html.unescape` has it, once.

What was escaped twice (`&amp;iacute;`) is the letter, too: it is one for whoever sees the page in the end.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5

_ESCAPED = re.compile(r"&(?:(?:amp|AMP|#0{0,9}38|#[xX]0{0,9}26);)*")
_NUMBER = re.compile(r"#(?:[0-9]{1,16}(?![0-9])|[xX][0-9a-fA-F]{1,16}(?![0-9a-fA-F]));?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{1,31};?")
_SHORTEST = 2
# What stands for no sign (`&#1;`) parts no word.
_NOTHING = "\u2060"


def find_references(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each begins and ends, and what it stands for, in order.

    Args:
        text: any text.
    """
    place = text.find("&")
    while place >= 0:
        escaped = _ESCAPED.match(text, place)
        assert escaped is not None
        end, signs = _signs(text, escaped.end())
        if end > place + 1:
            yield place, end, signs
        place = text.find("&", end)


def _signs(text: str, start: int) -> tuple[int, str]:
    """Where what follows a "&" ends that makes a reference of it, and what that stands for; "&" itself where nothing does."""
    if number := _NUMBER.match(text, start):
        return number.end(), html.unescape(f"&{number[0]}") or _NOTHING
    if name := _NAME.match(text, start):
        # Without its semicolon a name ends where the longest does that needs none.
        for size in range(len(name[0]), _SHORTEST - 1, -1):
            if (signs := html5.get(name[0][:size])) is not None:
                return start + size, signs
    return start, "&"
