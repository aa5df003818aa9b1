"""Capitals for notes in small letters: a tagger that learned names by their capitals finds them again.

At a hospital that writes all in small letters a tagger misses a quarter of the names. Words that a dictionary has, and that are no names, stay small; all
others get a capital, as they would have where people write capitals. Only what the tagger reads changes, never the note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set

_WORD = re.compile(r"[^\W\d_]{2,}")
_MOST_CAPITALS = 0.1
"""Of the words of a note in small letters, so many at most begin with a capital; of 1,500 others none had so few."""


def is_small(text: str) -> bool:
    """Whether a note is in small letters."""
    words = _WORD.findall(text)
    return bool(words) and sum(word[0].isupper() for word in words) < _MOST_CAPITALS * len(words)


def with_capitals(text: str, is_ordinary: Callable[[str], bool], short: Set[str]) -> str:
    """The note, each word that may be a name with a capital; every character stands where it stood.

    Args:
        text: a note in small letters.
        is_ordinary: whether a dictionary has a word, in small letters, that names nobody.
        short: words of grammar.
    """

    def capitalised(match: re.Match[str]) -> str:
        word = match[0]
        if word != word.lower() or word in short or is_ordinary(word):
            return word
        capital = word[0].upper() + word[1:]
        return capital if len(capital) == len(word) else word

    return _WORD.sub(capitalised, text)
