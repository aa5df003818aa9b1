"""Automatic pseudonymisation by nearest neighbours (Friedrich et al. 2019, section 4).

A word is replaced by a uniform choice among its N nearest neighbours, itself included, so it stays with probability 1/N
if the vocabulary has it and never if not. What the paper and its reference exempt, and what is done here:

- Stop words and unknown words: NOT exempt. "Will" is a name too, and a rare name is an unknown word.
- Tokens of digits: a uniform choice among the vocabulary's digit tokens of the same length, if there are at least N of
  them; else among all of its digit tokens; if there are fewer than N of those too, the neighbours as for any word.
- Punctuation: exempt as in the paper, unless asked for. A token of punctuation and symbols alone names nobody, and is
  the same in millions of notes; the neighbours of "/" are words, which would make the changed copy of a date easy to
  tell by its grammar and so teach the representer to hide the grammar, not the person. Anything else that is
  neither letter nor digit (unassigned, private, lone marks) may be a script that we do not know: it is replaced.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.cache import RowCache
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError

# Memory for the candidates of words seen before.
_CACHE_BYTES = 1 << 26


class Pseudonymiser:
    """Replaces words by words like them.

    Args:
        neighbours: search over the vocabulary that pseudonyms come from.
        n: candidates for a word, from 1 (nothing is replaced that the vocabulary has) to the size of the vocabulary.
        replace_punctuation: whether punctuation is replaced as well.

    Raises:
        ConfigurationError: n is out of range.
    """

    def __init__(self, neighbours: Neighbours, n: int, *, replace_punctuation: bool = False) -> None:
        size = len(neighbours.vectors)
        if not 1 <= n <= size:
            raise ConfigurationError(
                f"expected 1 to {size} neighbours, the size of the vocabulary, got {n}; choose another number"
            )
        self.neighbours = neighbours
        self.n = n
        self.replace_punctuation = replace_punctuation
        capacity = min(_CACHE_BYTES // (4 * n), 1 << 16)
        self._every_digit_word = neighbours.digit_words()
        self._nearest = RowCache(capacity, n, np.int32, lambda words: neighbours.find_nearest(words, n)[0])

    def __repr__(self) -> str:
        return f"Pseudonymiser(n={self.n}, {self.neighbours.vectors!r})"

    def candidates(self, word: str) -> NDArray[np.int32]:
        """Rows of the vocabulary from which the pseudonym is chosen, each equally likely; none for an exempt word."""
        if self._is_exempt(word):
            return np.zeros(0, dtype=np.int32)
        digits = self._digits(word)
        return self._nearest.rows([word])[0] if digits is None else digits

    def becomes_digits(self, word: str) -> bool:
        """Whether the pseudonyms of a word are words of digits, whichever they are, and not its neighbours."""
        return self._digits(word) is not None

    def replace(self, words: Sequence[str], generator: np.random.Generator) -> list[str]:
        """A pseudonym for each word; each occurrence is chosen anew.

        Args:
            words: the PHI words, in any number; large batches are fastest.
            generator: the only source of chance.
        """
        vocabulary = self.neighbours.vectors.words
        replaced = list(words)
        ordinary: list[int] = []
        # One draw for every position, exempt or not, so that no word's pseudonym depends on what other words are.
        chances = generator.random(len(replaced))
        for place, word in enumerate(replaced):
            if self._is_exempt(word):
                continue
            digits = self._digits(word)
            if digits is None:
                ordinary.append(place)
            else:
                replaced[place] = vocabulary[digits[int(chances[place] * len(digits))]]
        if ordinary:
            rows = self._nearest.rows([words[place] for place in ordinary])
            columns = (chances[ordinary] * self.n).astype(np.int64)
            for place, row in zip(ordinary, rows[np.arange(len(rows)), columns].tolist(), strict=True):
                replaced[place] = vocabulary[row]
        return replaced

    def _is_exempt(self, word: str) -> bool:
        return not self.replace_punctuation and is_punctuation(word)

    def _digits(self, word: str) -> NDArray[np.int32] | None:
        """Candidates for a token of digits; None if the word is to be replaced by its neighbours."""
        if not word.isdecimal():
            return None
        same_length = self.neighbours.digit_words(len(word))
        if len(same_length) >= self.n:
            return same_length
        return self._every_digit_word if len(self._every_digit_word) >= self.n else None


def is_punctuation(word: str) -> bool:
    """Whether a token is made of punctuation and symbols alone."""
    return not word.isalnum() and all(unicodedata.category(character)[0] in "PS" for character in word)
