"""Which words the white-box attacker is to tell apart: every labelled PHI word and its neighbours."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.errors import ConfigurationError
from shared.sentences.tokenised import TokenisedSentences

# Memory for the neighbours of words seen before.
_KNOWN_BYTES = 1 << 26


@dataclass(frozen=True)
class WhiteBoxSettings:
    """How much is computed.

    Args:
        draws: of the input noise for each pair, over which the accuracy is averaged.
        neighbours: at most so many of a word's neighbours, drawn anew for each token; None for all.
        sentences: share of the sentences with PHI that is looked at, in (0, 1].
        least: of the sentences with PHI of a chunk so many are looked at on average, if it has them: a sample of few
            notes would say nothing.
        seed: of the input noise and of what is drawn.

    Raises:
        ConfigurationError: a value out of range.
    """

    draws: int = 4
    neighbours: int | None = None
    sentences: float = 1.0
    seed: int = 0
    least: int = 0

    def __post_init__(self) -> None:
        few = self.neighbours is not None and self.neighbours < 1
        if self.draws < 1 or not 0 < self.sentences <= 1 or few or self.least < 0:
            raise ConfigurationError(
                f"white box: expected at least 1 draw, 1 neighbour and a share of sentences in (0, 1], got {self.draws}, "
                f"{self.neighbours} and {self.sentences}; choose others"
            )


WHILE_ENCODING = WhiteBoxSettings(draws=1, neighbours=4, sentences=0.04, least=100)
"""A sample that takes about as long as the representation of all sentences; all pairs of N = 100 take about a hundred times as long."""


class WordPairs:
    """Chooses the pairs: every PHI token but punctuation, with its neighbours."""

    def __init__(self, pseudonyms: Pseudonymiser, settings: WhiteBoxSettings) -> None:
        self.pseudonyms, self.settings = pseudonyms, settings
        self._draws = np.random.default_rng(settings.seed)
        self._known: dict[str, NDArray[np.int32]] = {}

    def choose_pairs(self, chunk: TokenisedSentences) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
        """Tokens `[pairs]`, places in the list of words `[pairs]`, and that list."""
        marked = len(chunk.rows_with_phi())
        share = max(self.settings.sentences, self.settings.least / max(marked, 1))
        looked_at = self._draws.random(chunk.sentences) < share
        taken = np.flatnonzero((chunk.tags > 0) & looked_at[chunk.sentence_of_token])
        phi = [token for token in taken.tolist() if not is_punctuation(chunk.words[token])]
        self._search({chunk.words[token] for token in phi})
        rows = [self._candidates(chunk.words[token]) for token in phi]
        vocabulary, places = np.unique(np.concatenate([np.zeros(0, dtype=np.int32), *rows]), return_inverse=True)
        tokens = np.repeat(np.array(phi, dtype=np.int64), [len(found) for found in rows])
        words = self.pseudonyms.neighbours.vectors.words
        return tokens, places.astype(np.int64), [words[row] for row in vocabulary.tolist()]

    def _candidates(self, word: str) -> NDArray[np.int32]:
        found, most = self._known[word], self.settings.neighbours
        return found if most is None or most >= len(found) else self._draws.choice(found, most, replace=False)

    def _search(self, words: set[str]) -> None:
        """Finds the neighbours of all words in one search; of digits, of which there may be more, N - 1 are drawn.

        What is drawn for a word depends on nothing but it: a sentence under a bound is to get the same noise again in
        whatever company it is shared again.
        """
        if len(self._known) > _KNOWN_BYTES // (4 * self.pseudonyms.n):
            self._known.clear()
        fresh = sorted(words - self._known.keys())
        own = self.pseudonyms.neighbours.vectors.ids(fresh)
        plain = [word for word in fresh if not self.pseudonyms.becomes_digits(word)]
        n = self.pseudonyms.n
        nearest = dict(zip(plain, self.pseudonyms.neighbours.find_nearest(plain, n)[0], strict=True))
        for word, row in zip(fresh, own.tolist(), strict=True):
            found = nearest.get(word)
            others = self.pseudonyms.candidates(word) if found is None else found
            others = others[others != row]
            if len(others) > n - (row >= 0):
                draws = np.random.default_rng([self.settings.seed, zlib.crc32(word.encode())])
                others = draws.choice(others, n - (row >= 0), replace=False)
            self._known[word] = others
