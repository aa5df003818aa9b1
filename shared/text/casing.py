"""The casing classes of Reimers and Gurevych that Friedrich et al. 2019 feed to the tagger, never to the representer.

A casing class travels beside the representation, so it is part of what an attacker sees.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

CASING_CLASSES = ("numeric", "mainly numeric", "all lower", "all upper", "initial upper", "contains digit", "other")
CASING_EXAMPLES = np.array(["1", "11a", "a", "A", "Aa", "aA1", "aA"], dtype=object)
"""A word for each of CASING_CLASSES: a surrogate bank draws by class, the word itself says nothing more to it."""

_MEMORY_WORDS = 1 << 15
LONGEST_REMEMBERED = 64
"""Characters of a word that is remembered: a note may hold "words" of a megabyte, and few come back."""


def casing_class(word: str) -> int:
    """Index into CASING_CLASSES; the first class that matches, in their order.

    Args:
        word: one token, not empty.
    """
    if word.isdigit():
        return 0
    # Most words hold none, and that is known at once.
    digits = 0 if word.isalpha() else sum(map(str.isdigit, word))
    if digits * 2 > len(word):
        return 1
    if word.islower():
        return 2
    if word.isupper():
        return 3
    if word[0].isupper():
        return 4
    if digits:
        return 5
    return 6


def writable_classes(word: str) -> frozenset[int]:
    """Casing classes in which a word can be written, whatever the casing of its letters.

    Args:
        word: in lower case, not empty.
    """
    after = 1 + next((place for place, character in enumerate(word) if _capital(character) != character), len(word))
    capitals = "".join(map(_capital, word))
    spellings = (word, capitals, capitals[0] + word[1:], word[:after] + capitals[after:])
    return frozenset(map(casing_class, spellings))


def _capital(character: str) -> str:
    """The capital, where it is one character: that of "ß" would make another word."""
    upper = character.upper()
    return upper if len(upper) == 1 else character


def cased_like(word: str, model: str) -> str:
    """The word in the casing class of another, where it can take it; the class of "A" is all upper."""
    if model.islower():
        return word.lower()
    if model.isupper():
        return word.upper()
    if model[0].isupper():
        return word[:1].upper() + word[1:].lower()
    return word


def spelled(word: str, kind: int) -> str:
    """A word of a vocabulary without casing, written in a casing class as far as it can be.

    Args:
        word: in small letters.
        kind: the class.
    """
    if CASING_CLASSES[kind] == "other":
        # "pH" and "mRNA"; what has no letters is of this class as it is.
        return word[0] + word[1:].upper()
    return cased_like(word, CASING_EXAMPLES[kind])


class _Memory(dict[str, int]):
    """Classes of words seen before; emptied when full, since a text may be all different words."""

    def __missing__(self, word: str) -> int:
        found = casing_class(word)
        if len(word) <= LONGEST_REMEMBERED:
            if len(self) >= _MEMORY_WORDS:
                self.clear()
            self[word] = found
        return found


_MEMORY = _Memory()


def casing_classes(words: Iterable[str]) -> NDArray[np.uint8]:
    """Casing class of each word, uint8 `[words]`."""
    return np.fromiter(map(_MEMORY.__getitem__, words), dtype=np.uint8)
