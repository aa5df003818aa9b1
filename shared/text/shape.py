"""What a word looks like, whatever it says: how many signs of which kind it has.

Formats differ between hospitals where words do not: a head that sees seven casing classes takes `29-Oct-07` at one hospital and
`10/29/2007` at another for strangers. These marks are computed from the words that a head is given anyway: public words, members and
surrogates in the place of what a share hides, and a hospital's own words in its house. So they tell of a share nothing that it does not tell already.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.text.casing import LONGEST_REMEMBERED

_LENGTHS = (2, 3, 4, 5, 6, 8, 10, 14)
_DIGITS = (1, 2, 3, 4, 5, 6, 7, 8, 10)
_RANKS = (100, 1_000, 5_000, 20_000)
_VOWELS = frozenset("aeiouyáéíóúàèìòùâêîôûäëïöüãõåæøœ")
_YEARS = range(1900, 2040)
_MEMORY_WORDS = 1 << 16

_KINDS = (
    "letters alone",
    "digits alone",
    "neither letter nor digit",
    "letters without a vowel",
    "a capital behind a small letter",
    "letters outside of ASCII",
    "a number up to 12",
    "a number up to 31",
    "a number up to 120",
    "a year",
    "a zero ahead of other digits",
)
SHAPES = len(_LENGTHS) + len(_DIGITS) + len(_KINDS)
"""Marks of a word by itself."""
RANKS = len(_RANKS) + 1
"""Marks of its place among the words of a vocabulary."""


class _Memory(dict[str, NDArray[np.float16]]):
    """Marks of words seen before; emptied when full, since a text may be all different words."""

    def __missing__(self, word: str) -> NDArray[np.float16]:
        found = np.array(_marks(word), dtype=np.float16)
        if len(word) <= LONGEST_REMEMBERED:
            if len(self) >= _MEMORY_WORDS:
                self.clear()
            self[word] = found
        return found


_MEMORY = _Memory()


def word_shapes(words: Sequence[str]) -> NDArray[np.float16]:
    """The marks of each word, 0 or 1, float16 `[words, SHAPES]`.

    Args:
        words: as they are written. None is empty.
    """
    return np.array(list(map(_MEMORY.__getitem__, words)), dtype=np.float16).reshape(-1, SHAPES)


def rank_marks(ids: NDArray[np.int64]) -> NDArray[np.float16]:
    """How common each word is in public text: whether the vocabulary has it, and among how many of its first, float16 `[words, RANKS]`.

    Args:
        ids: of words in a vocabulary whose commonest come first, int64 `[words]`; -1 for what it lacks.
    """
    known = ids >= 0
    return np.stack([known, *(known & (ids < rank) for rank in _RANKS)], axis=1).astype(np.float16)


def _marks(word: str) -> list[bool]:
    digits = sum(map(str.isdigit, word))
    letters = sum(map(str.isalpha, word))
    number = int(word) if digits == len(word) <= 4 and word.isascii() else -1
    kinds = (
        letters == len(word),
        digits == len(word),
        not letters and not digits,
        letters == len(word) and _VOWELS.isdisjoint(word.lower()),
        any(left.islower() and right.isupper() for left, right in itertools.pairwise(word)),
        bool(letters) and not word.isascii(),
        0 <= number <= 12,
        0 <= number <= 31,
        0 <= number <= 120,
        number in _YEARS,
        digits == len(word) > 1 and word[0] == "0",
    )
    return [*(len(word) >= least for least in _LENGTHS), *(digits >= least for least in _DIGITS), *kinds]
