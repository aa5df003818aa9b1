"""A k-anonymous vocabulary whose words keep their own vectors, beside what is shown of them.

What may leave the house of a word is a code: its own if it is public, else that of its cluster; far from PHI the words that are
public but not common show a cluster of public words too ("narrowing"). So what is shown is as in `generalised`, and less.

The vectors themselves are public, all of them. Whoever reads a share can turn the code of a cluster into any member, and the hospital
looks at its own words as they are: a head sees a word, or a member drawn in its place, beside the centre of its cluster. That is
post-processing, and changes nothing of what a code tells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.bisecting import group_words
from shared.embeddings.cache import RowCache
from shared.embeddings.generalised import PUBLIC, FoldedVectors, GeneralisedVectors
from shared.embeddings.vectors import CACHED_ROWS, unit_rows, unknown_row
from shared.errors import EmbeddingError
from shared.text.reached import casing_table, fewest_alike

MOST_WINDOW = 255
CANDIDATES = 200
"""Words that are shown far from PHI are among so many commonest ones."""


@dataclass(frozen=True)
class Narrowing:
    """What is shown of public words that are far from PHI.

    Args:
        generals: cluster of each public word among the clusters of public words, int32 `[words]`, -1 for hidden words.
        common: public words that are shown as they are wherever they stand, bool `[words]`.
        window: a word is near PHI if a labelled token of its sentence is at most so many tokens away.
    """

    generals: NDArray[np.int32]
    common: NDArray[np.bool_]
    window: int


class MemberVectors(GeneralisedVectors):
    """Generalised vectors, and beside them the words' own.

    Args:
        shown: the vectors of what is shown where nothing is narrowed.
        hidden: the hidden words' own vectors, in the order of the vocabulary, float32 `[hidden words, dim]`.
        narrowing: of the public words.

    Raises:
        EmbeddingError: they do not fit each other.
    """

    def __init__(self, shown: GeneralisedVectors, hidden: NDArray[np.float32], narrowing: Narrowing) -> None:
        super().__init__(shown.words, shown.matrix, shown.flags, shown.classes, shown.subwords, shown.largest_share)
        self.hidden = hidden
        self.narrowing = narrowing
        self._check_members()
        self.hidden.flags.writeable = False
        self._own_row = np.cumsum(self.classes >= 0) - 1
        self._own_rows = RowCache(CACHED_ROWS if self.subwords else 1, self.dim, np.float32, self._unknown_exact)

    def __repr__(self) -> str:
        return f"MemberVectors({len(self.words)} words, {len(self.centres)} clusters of at least {self.k})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides a vector, in hex."""
        total = hashlib.sha256(super().digest.encode("ascii"))
        total.update(np.ascontiguousarray(self.hidden, dtype="<f4").data)
        total.update(np.ascontiguousarray(self.narrowing.generals, dtype="<i4").data)
        total.update(self.narrowing.common.tobytes() + bytes([self.narrowing.window]))
        return total.hexdigest()

    def stored_besides(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """See WordVectors."""
        tensors, fields = super().stored_besides()
        tensors |= {
            "hidden": self.hidden,
            "generals": self.narrowing.generals,
            "common": self.narrowing.common.astype(np.uint8),
        }
        return tensors, fields | {"members": True, "window": self.narrowing.window, "hidden_words": len(self.hidden)}

    @property
    def public(self) -> NDArray[np.bool_]:
        """Which words may be shown as they are, bool `[words]`."""
        marked: NDArray[np.bool_] = self.classes == PUBLIC
        return marked

    @cached_property
    def cluster_centres(self) -> NDArray[np.float32]:
        """Of the clusters of hidden words, then of those of public words, float32 `[clusters, dim]`."""
        groups = self.narrowing.generals
        rows = [self.matrix[groups == group].mean(axis=0) for group in range(int(groups.max(initial=-1)) + 1)]
        return np.concatenate([self.centres, unit_rows(np.stack(rows))]) if rows else self.centres

    @cached_property
    def clusters(self) -> NDArray[np.int64]:
        """The row of `cluster_centres` of each word, int64 `[words]`."""
        return np.where(self.public, len(self.centres) + self.narrowing.generals, self.classes).astype(np.int64)

    @cached_property
    def members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What the code of each cluster can mean, cluster by cluster, int64 `[words]`, and where each starts, int64 `[clusters + 1]`.

        A common word is never shown by the code of its cluster. A cluster of such words alone has no code that an honest hospital
        sends; who sends it all the same gets one of them.
        """
        meant = ~self.narrowing.common
        meant |= np.bincount(self.clusters[meant], minlength=len(self.cluster_centres))[self.clusters] == 0
        rows = np.flatnonzero(meant)
        order = rows[np.argsort(self.clusters[rows], kind="stable")]
        starts = np.searchsorted(self.clusters[order], np.arange(len(self.cluster_centres) + 1))
        return order, starts

    @cached_property
    def smallest_group(self) -> int | None:
        """Public words that the code of a group of them can mean, at the least; None where no word is shown by such a code.

        As many as a text can hold in one casing class, where it can any; punctuation hides no word.
        """
        meant = np.flatnonzero(self.public & ~self.narrowing.common)
        table = _lettered([self.words[row] for row in meant.tolist()])
        return fewest_alike(self.narrowing.generals[meant].astype(np.int64), table)

    def own_rows(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some words of the vocabulary as they are, float32 `[ids, dim]`."""
        rows = np.take(self.matrix, ids, axis=0)
        away = np.flatnonzero(self.classes[ids] >= 0)
        rows[away] = self.hidden[self._own_row[ids[away]]]
        return rows

    def both_views(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Each word as it is, and beside it the centre of its cluster; in-house only. float32 `[words, 2 dim]`."""
        ids = self.ids(words)
        known = np.maximum(ids, 0)
        views = np.concatenate([self.own_rows(known), self.cluster_centres[self.clusters[known]]], axis=1)
        missing = np.flatnonzero(ids < 0)
        if len(missing):
            unknown = [words[place] for place in missing.tolist()]
            views[missing, : self.dim] = self._own_rows.rows(unknown)
            views[missing, self.dim :] = self.rows(unknown)
        return views

    def _unknown_exact(self, words: list[str]) -> NDArray[np.float32]:
        if self.subwords is None:
            return np.tile(unknown_row(self.dim), (len(words), 1))
        # Not as a generalised word is shown, which is as its nearest cluster.
        return FoldedVectors._subword_rows(self, words)

    def _check_members(self) -> None:
        hidden, narrowing = self.classes >= 0, self.narrowing
        groups = narrowing.generals
        if self.hidden.dtype != np.float32 or self.hidden.shape != (int(hidden.sum()), self.dim):
            raise EmbeddingError("expected a vector for each hidden word, got others; fetch the release again")
        if not np.isfinite(self.hidden).all() or float(np.linalg.norm(self.hidden, axis=1).max()) > 1.01:
            raise EmbeddingError("expected finite vectors of length 1, got others; fetch the release again")
        if groups.dtype != np.int32 or groups.shape != hidden.shape or not np.array_equal(groups < 0, hidden):
            raise EmbeddingError("expected a cluster for each public word, got others; fetch the release again")
        if set(np.unique(groups[~hidden]).tolist()) != set(range(int(groups.max(initial=-1)) + 1)):
            raise EmbeddingError("expected clusters numbered from 0 on, each with a word; fetch the release again")
        if narrowing.common.dtype != np.bool_ or narrowing.common.shape != hidden.shape:
            raise EmbeddingError("expected to know of each word whether it is common; fetch the release again")
        if (narrowing.common & hidden).any() or not 0 <= narrowing.window <= MOST_WINDOW:
            raise EmbeddingError("expected common words that are public, and a window; fetch the release again")


def _lettered(words: Sequence[str]) -> NDArray[np.bool_]:
    """The casing table of words, where words without a letter count for nothing."""
    table = casing_table(words)
    table[[not any(map(str.isalpha, word)) for word in words]] = False
    return table


def keep_members(
    vectors: FoldedVectors,
    shown: GeneralisedVectors,
    frequencies: NDArray[np.int64],
    topicality: NDArray[np.float64],
    common: int,
    window: int,
    k: int,
    group_size: int = 1,
) -> MemberVectors:
    """The shown vocabulary with the words' own vectors beside it.

    Args:
        vectors: all words as they are.
        shown: the same words, clustered.
        frequencies: occurrences in public text, int64 `[words]`.
        topicality: how far each tells what a text is about, float64 `[words]`.
        common: so many public words are shown wherever they stand: of the CANDIDATES commonest, or of so many where more are asked,
            those that tell least what a text is about; fewer where else less than k were left for a group.
        window: see Narrowing.
        k: least number of public words in a cluster of them, where there are as many; the hospital's policy says how few it takes. What
            has no letter does not count, nor what no text holds, and as many can be written in each casing class in which any can.
            Common ones do not count, for no code of a cluster means them: they lie in the cluster that is nearest to them.
        group_size: the same, of a cluster where there are as many; k where it is larger.
    """
    public = np.flatnonzero(shown.classes == PUBLIC)
    table = _lettered(shown.words)
    if len(public) > common:
        # So few words that no group of k could be left are one group: the hospital's policy says whether it takes that.
        together = fewest_alike(np.zeros(len(public), dtype=np.int64), table[public]) or 0
        common = min(common, max(0, together - k))
    commonest = np.zeros(len(shown), dtype=np.bool_)
    candidates = public[np.argsort(-frequencies[public], kind="stable")[: max(common, CANDIDATES)]]
    commonest[candidates[np.argsort(topicality[candidates], kind="stable")[:common]]] = True
    # Where all are common no code means a group, and the only one is for the centre that a head sees.
    grouped = public[~commonest[public]] if len(public) > common else public
    generals = np.full(len(shown), -1, dtype=np.int32)
    groups = group_words(vectors.matrix[grouped], table[grouped], min(max(k, group_size), len(grouped)))
    for group, rows in enumerate(groups):
        generals[grouped[rows]] = group
    others = np.setdiff1d(public, grouped)
    if len(others):
        centres = unit_rows(np.stack([vectors.matrix[grouped[rows]].mean(axis=0) for rows in groups]))
        generals[others] = (vectors.matrix[others] @ centres.T).argmax(axis=1)
    hidden = np.ascontiguousarray(vectors.matrix[shown.classes >= 0])
    return MemberVectors(shown, hidden, Narrowing(generals, commonest, window))
