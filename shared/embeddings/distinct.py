"""The words that a k-anonymous vocabulary shows differently, so that a neighbour is one that can be told at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.generalised import PUBLIC, FoldedVectors, GeneralisedVectors


class DistinctVectors(FoldedVectors):
    """One word for each vector that is shown: every public word, and of each cluster the first.

    The nearest words in a clustered vocabulary look alike, and an attacker who has to choose between them can only guess:
    a bound over such pairs says nothing.

    Args:
        vectors: all words. Every word, known or not, stands for one of those that are kept.
    """

    def __init__(self, vectors: GeneralisedVectors) -> None:
        hidden = np.flatnonzero(vectors.classes != PUBLIC)
        _, first = np.unique(vectors.classes[hidden], return_index=True)
        kept = np.sort(np.concatenate([np.flatnonzero(vectors.classes == PUBLIC), hidden[first]]))
        super().__init__([vectors.words[row] for row in kept.tolist()], vectors.matrix[kept], vectors.flags)
        self._all = vectors
        self._of_cluster = np.searchsorted(kept, hidden[first])
        self._of_word = np.searchsorted(kept, np.arange(len(vectors)))
        self._of_word[hidden] = self._of_cluster[vectors.classes[hidden]]

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Row that is shown for each word `[words]`."""
        known = self._all.ids(words)
        found: NDArray[np.int64] = self._of_word[np.maximum(known, 0)]
        missing = np.flatnonzero(known < 0)
        if len(missing):
            found[missing] = self._of_cluster[self._all.cluster([words[place] for place in missing.tolist()])]
        return found
