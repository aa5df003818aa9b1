"""What sentences laid end to end have in common, whatever they hold for a token: where each lies, and what its tags say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shared.labels import UNKNOWN_TAG, tag_categories, tag_spans


class SentenceLayout:
    """Base of all sentences laid end to end.

    Args:
        tags: uint8 `[tokens]`, BIO; they start anew with every sentence.
        lengths: int64 `[sentences]`, each at least 1, their sum the number of tokens.
    """

    tags: NDArray[np.uint8]
    lengths: NDArray[np.int64]

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """How many there are in all sentences."""
        return len(self.tags)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Index of each sentence's first token, int64 `[sentences]`."""
        return np.cumsum(self.lengths, dtype=np.int64) - self.lengths

    @cached_property
    def sentence_of_token(self) -> NDArray[np.int64]:
        """Which sentence each token is of, int64 `[tokens]`."""
        return np.repeat(np.arange(self.sentences), self.lengths)

    @property
    def categories(self) -> NDArray[np.int64]:
        """PHI category of each token, an index into those of the scheme, -1 for none; int64 `[tokens]`."""
        return tag_categories(self.tags)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which tokens somebody has labelled, be it as no PHI; the others are neither trained on nor scored. bool `[tokens]`."""
        known: NDArray[np.bool_] = self.tags != UNKNOWN_TAG
        return known

    def tokens_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Indices of the tokens of some sentences, sentence after sentence."""
        lengths = self.lengths[rows]
        return np.repeat(self.starts[rows] - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))

    def sentences_with(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which sentences hold a marked token, bool `[sentences]`.

        Args:
            marked: bool `[tokens]`.
        """
        # `reduceat` takes no empty list of starts.
        if not self.sentences:
            return np.zeros(0, dtype=np.bool_)
        found: NDArray[np.bool_] = np.logical_or.reduceat(marked, self.starts)
        return found

    def rows_with_phi(self) -> NDArray[np.int64]:
        """The sentences that hold PHI, ascending."""
        return np.flatnonzero(self.sentences_with(self.tags > 0))

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """First token, end and category of every span of PHI; see `tag_spans`."""
        return tag_spans(self.tags)
