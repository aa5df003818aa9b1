"""How a word is written, sign by sign, as numbers: what a network that reads characters gets.

The alphabet stands here and travels in no file: a head that was trained with it knows its numbers. Who adds to it adds at the end.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LONGEST = 25
"""Signs of a word that are read, its first ones (Khin et al. 2018, section 3)."""
ALPHABET = (
    string.digits
    + string.ascii_letters
    + string.punctuation
    + "ÁÉÍÓÚÜÑÇÀÈÌÒÙÂÊÎÔÛÄËÏÖÃÕÅÆØŒáéíóúüñçàèìòùâêîôûäëïöãõåæøœßªº¿¡°µ±·€–—…“”‘’«»"
)
_OTHER = 1
SIGNS = 2 + len(ALPHABET)
"""How many numbers there are: nothing, a sign that the alphabet lacks, and those of the alphabet."""

_NUMBERS = {sign: number for number, sign in enumerate(ALPHABET, 2)}
_MEMORY_WORDS = 1 << 16


class _Memory(dict[str, NDArray[np.uint8]]):
    """Spellings of words seen before; emptied when full, since a text may be all different words."""

    def __missing__(self, word: str) -> NDArray[np.uint8]:
        if len(self) >= _MEMORY_WORDS:
            self.clear()
        found = self[word] = np.zeros(LONGEST, dtype=np.uint8)
        signs = word[:LONGEST]
        found[: len(signs)] = [_NUMBERS.get(sign, _OTHER) for sign in signs]
        return found


_MEMORY = _Memory()


def spellings(words: Sequence[str]) -> NDArray[np.uint8]:
    """The signs of each word in their order, 0 behind its last, uint8 `[words, LONGEST]`.

    Args:
        words: as they are written. None is empty.
    """
    return np.array(list(map(_MEMORY.__getitem__, words)), dtype=np.uint8).reshape(-1, LONGEST)


def distinct_spellings(spelled: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Each different spelling once, and which of them every row is, int64 `[rows]`.

    Args:
        spelled: uint8 `[rows, LONGEST]`, as `spellings` gives them; a row of nothing is one, too.
    """
    # Nothing stands inside of a word, so rows are strings of bytes, which numpy sorts fast.
    rows = np.ascontiguousarray(spelled).view(f"S{LONGEST}")[:, 0]
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return spelled[first], inverse.astype(np.int64)
