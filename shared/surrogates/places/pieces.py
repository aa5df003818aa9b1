"""Takes the text of a place apart, since of many schemes one category holds all that an address has: towns, streets, postcodes, states.

Each piece says how it is replaced, and every letter and digit belongs to one. Of a piece that is no street what holds a digit is drawn by itself, so that
the town beside a postcode is the town of the rest of the note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shared.surrogates.spelling import folded
from shared.surrogates.words.lists import word_lists
from shared.surrogates.words.streets import is_numbered_street

_BETWEEN = re.compile(r"(\s*[,;/()]\s*|\s+-\s+)")
_WORDS = re.compile(r"([\s\-]+)")
# "E" of "E-28034", "3 B": no town.
_LONGEST_CODE = 2


@dataclass(frozen=True, repr=False)
class Piece:
    """A stretch of the text.

    Args:
        kind: "gap" stays, "signs" is drawn sign by sign, "street" as a street, "state" among the short names of states, "place" is a place.
        text: of it.
    """

    kind: str
    text: str


def pieces_of(text: str, language: str, is_listed: Callable[[str], bool]) -> Iterator[Piece]:
    """The pieces of a text, in their order.

    Args:
        text: on one line.
        language: of the note, in English.
        is_listed: whether the list of places has a name.
    """
    for at, piece in enumerate(_BETWEEN.split(text)):
        if at % 2 or not any(map(str.isalnum, piece)):
            yield Piece("gap", piece)
        elif is_listed(piece):
            yield Piece("place", piece)
        elif not any(map(str.isalpha, piece)):
            yield Piece("signs", piece)
        elif is_numbered_street(piece, language):
            yield Piece("street", piece)
        else:
            yield from _parted(piece, language, is_listed)


def _parted(text: str, language: str, is_listed: Callable[[str], bool]) -> Iterator[Piece]:
    """Names, and what stands ahead of, between and behind them."""
    numbered = any(map(str.isdigit, text))
    name = gap = ""
    for at, word in enumerate(_WORDS.split(text)):
        if at % 2 or not word:
            gap += word
            continue
        kind = "signs" if any(map(str.isdigit, word)) else "state" if _is_state(word, language) else "place"
        if kind == "place" and name:
            name, gap = name + gap + word, ""
            continue
        if name and kind != "place":
            yield _named(name, numbered, is_listed)
            name = ""
        yield Piece("gap", gap)
        gap = ""
        if kind == "place":
            name = word
        else:
            yield Piece(kind, word)
    if name:
        yield _named(name, numbered, is_listed)
    yield Piece("gap", gap)


def _named(name: str, numbered: bool, is_listed: Callable[[str], bool]) -> Piece:
    is_code = numbered and not is_listed(name) and all(len(word) <= _LONGEST_CODE for word in folded(name).split())
    return Piece("signs" if is_code else "place", name)


def _is_state(word: str, language: str) -> bool:
    return language == "English" and word in word_lists(language, "states")
