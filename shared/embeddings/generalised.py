"""A k-anonymous vocabulary: words outside a public list are shown as the centre of a cluster of at least K words.

Guarantee, whatever an attacker knows or computes: two words of one cluster have the same vector, bit for bit, so what is
computed from them is the same too, and no number of repetitions tells them apart. It says nothing about words of two
clusters, nor about the words of a cluster being equally likely: see the audit for both.

Treatment of other words: casing is folded; a word outside the vocabulary (rare, misspelt) goes to the cluster whose
centre is nearest to the sum of its n-grams, never to a public word. Numbers cluster among themselves where there are
enough of them, since the casing class, which travels too, tells numbers from words.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, unit_rows, unknown_row
from shared.errors import ConfigurationError, EmbeddingError

PUBLIC = -1
_ITERATIONS = 12
# Length of a flag beside a vector of length 1.
_FLAG = 0.5
NUMBERS = (1, 3, 4)
"""A number has a flag for each of these that its count of digits reaches: a day, a count, a year."""


class FoldedVectors(WordVectors):
    """Word vectors that ignore casing and know what kind of word it is; see `folded`.

    Args:
        words: in lower case, each once.
        matrix: as in WordVectors; the last columns are flags, of which those of numbers come first.
        flags: how many columns are flags.
        subwords: as in WordVectors, zero in the columns of the flags.

    Raises:
        EmbeddingError: as for WordVectors, a word that is not in lower case, or an impossible number of flags.
    """

    def __init__(
        self, words: Sequence[str], matrix: NDArray[np.float32], flags: int, subwords: Subwords | None = None
    ) -> None:
        super().__init__(words, matrix, subwords)
        self.flags = flags
        if not len(NUMBERS) <= flags < self.dim:
            raise EmbeddingError(f"expected {len(NUMBERS)} to {self.dim - 1} columns of flags, got {flags}")
        if any(word != word.lower() for word in self.words):
            raise EmbeddingError("expected words in lower case, got others; make the vocabulary again")

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Row of the vocabulary of each word, casing ignored; -1 where there is none."""
        return super().ids([word.lower() for word in words])

    def _subword_rows(self, words: list[str]) -> NDArray[np.float32]:
        lowered = [word.lower() for word in words]
        return flagged(super()._subword_rows(lowered), number_flags(lowered), self.dim - self.flags)


class GeneralisedVectors(FoldedVectors):
    """Word vectors of which a word outside the public list shows its cluster only.

    Args:
        words: in lower case, each once.
        matrix: float32 `[words, dim]`; rows of one cluster are equal.
        flags: as in FoldedVectors.
        classes: int32 `[words]`, PUBLIC or the cluster, from 0 on.
        subwords: for unknown words, which only ever find their nearest cluster by them.

    Raises:
        EmbeddingError: as for FoldedVectors, or clusters that are not shown alike.
    """

    def __init__(
        self,
        words: Sequence[str],
        matrix: NDArray[np.float32],
        flags: int,
        classes: NDArray[np.int32],
        subwords: Subwords | None = None,
    ) -> None:
        super().__init__(words, matrix, flags, subwords)
        self.classes = classes
        self._check_classes()

    def __repr__(self) -> str:
        return f"GeneralisedVectors({len(self.words)} words, {len(self.centres)} clusters of at least {self.k})"

    @property
    def k(self) -> int:
        """Words in the smallest cluster."""
        return int(np.bincount(self.classes[self.classes >= 0]).min())

    @property
    def public_words(self) -> int:
        """How many words are shown as they are."""
        return int((self.classes == PUBLIC).sum())

    @cached_property
    def centres(self) -> NDArray[np.float32]:
        """What each cluster shows, float32 `[clusters, dim]`."""
        hidden = np.flatnonzero(self.classes >= 0)
        _, first = np.unique(self.classes[hidden], return_index=True)
        return np.ascontiguousarray(self.matrix[hidden[first]])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides a vector, in hex."""
        total = hashlib.sha256(super().digest.encode("ascii"))
        total.update(np.ascontiguousarray(self.classes, dtype="<i4").data)
        return total.hexdigest()

    def cluster(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The cluster of each word, known or not; PUBLIC for a public word. int64 `[words]`."""
        ids = self.ids(words)
        found = self.classes[np.maximum(ids, 0)].astype(np.int64)
        missing = np.flatnonzero(ids < 0)
        if len(missing):
            found[missing] = self._nearest([words[place] for place in missing.tolist()])
        return found

    @cached_property
    def _unknown(self) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.centres[np.argmax(self.centres @ unknown_row(self.dim))]
        return row

    def _subword_rows(self, words: list[str]) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self.centres[self._nearest(words)]
        return rows

    def _nearest(self, words: list[str]) -> NDArray[np.int64]:
        if self.subwords is None:
            rows = np.tile(unknown_row(self.dim), (len(words), 1))
        else:
            rows = super()._subword_rows(words)
        nearest: NDArray[np.int64] = np.argmax(rows @ self.centres.T, axis=1)
        return nearest

    def _check_classes(self) -> None:
        classes = self.classes
        if classes.dtype != np.int32 or classes.shape != (len(self.words),) or (classes < PUBLIC).any():
            raise EmbeddingError(
                f"expected an int32 cluster for each of {len(self.words)} words, got {classes.dtype} {list(classes.shape)}"
            )
        present = np.unique(classes[classes >= 0])
        if not len(present) or present[-1] != len(present) - 1:
            raise EmbeddingError("expected clusters numbered from 0 on, each with a word; fetch the release again")
        hidden = classes >= 0
        if not np.array_equal(self.matrix[hidden], self.centres[classes[hidden]]):
            raise EmbeddingError("expected equal vectors within a cluster, got others; fetch the release again")


def folded(vectors: WordVectors, lists: Sequence[Sequence[str]] = ()) -> FoldedVectors:
    """Word vectors that ignore casing, with what public lists and the number of digits say of a word.

    Of several spellings the first, which is the most frequent, gives the vector. The words of the lists join the
    vocabulary, so that a cluster can hold the names of a whole country.

    Args:
        vectors: word vectors.
        lists: of names of one kind each; whether a word is on a list is a flag of its own.

    Returns:
        vectors of `vectors.dim + len(NUMBERS) + len(lists)` dimensions.
    """
    rows: dict[str, int] = {}
    for row, word in enumerate(vectors.words):
        rows.setdefault(word.lower(), row)
    more = [word for word in dict.fromkeys(word.lower() for words in lists for word in words) if word not in rows]
    words = [*rows, *more]
    matrix = vectors.matrix[list(rows.values())]
    if more:
        matrix = np.concatenate([matrix, vectors.rows(more)])
    flags = number_flags(words)
    for listed in lists:
        on = {plain(word) for word in listed}
        flags = np.concatenate([flags, [[plain(word) in on] for word in words]], axis=1, dtype=np.float32)
    subwords = None
    if vectors.subwords is not None:
        grams = vectors.subwords
        subwords = Subwords(grams.minn, grams.maxn, np.pad(grams.buckets, ((0, 0), (0, flags.shape[1]))))
    return FoldedVectors(
        words, flagged(np.pad(matrix, ((0, 0), (0, flags.shape[1]))), flags, vectors.dim), flags.shape[1], subwords
    )


def flagged(rows: NDArray[np.float32], flags: NDArray[np.float32], first: int) -> NDArray[np.float32]:
    """Rows of length 1 with flags in some columns.

    Args:
        rows: float32 `[words, dim]`, zero in the columns of flags; written to.
        flags: float32 `[words, flags]`.
        first: column of the first flag.
    """
    rows[:, first : first + flags.shape[1]] = _FLAG * flags
    return unit_rows(rows)


def number_flags(words: Sequence[str]) -> NDArray[np.float32]:
    """Whether each word is a number, and one of at least so many digits, float32 `[words, len(NUMBERS)]`."""
    return np.array(
        [[word.isdecimal() and len(word) >= least for least in NUMBERS] for word in words], dtype=np.float32
    )


def plain(word: str) -> str:
    """The word in lower case and without accents, as lists of names are compared."""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def generalise(vectors: FoldedVectors, public: NDArray[np.bool_], k: int) -> GeneralisedVectors:
    """Cluster what is not public.

    Args:
        vectors: of words in lower case.
        public: bool `[words]`, which words are shown as they are.
        k: least number of words in a cluster.

    Raises:
        ConfigurationError: there are fewer than k words that are not public, or k is below 2.
    """
    hidden = np.flatnonzero(~public)
    if k < 2 or len(hidden) < k:
        raise ConfigurationError(
            f"expected 2 to {len(hidden)} words in a cluster, the words that are not public, got {k}; "
            "choose fewer or give more public text"
        )
    numbers = np.fromiter((word.isdecimal() for word in vectors.words), dtype=bool, count=len(vectors))
    parts = [hidden[numbers[hidden]], hidden[~numbers[hidden]]]
    if min(map(len, parts)) < k:
        parts = [hidden]
    classes = np.full(len(vectors), PUBLIC, dtype=np.int32)
    matrix = vectors.matrix.copy()
    clusters = 0
    for part in parts:
        for rows in _bisected(vectors.matrix[part], k):
            members = part[rows]
            classes[members] = clusters
            matrix[members] = unit_rows(vectors.matrix[members].mean(axis=0, keepdims=True))
            clusters += 1
    return GeneralisedVectors(vectors.words, matrix, vectors.flags, classes, vectors.subwords)


def _bisected(features: NDArray[np.float32], k: int) -> list[NDArray[np.int64]]:
    """Clusters of at least k rows and fewer than 2k, or as many as cannot be told apart: 2-means, again and again."""
    clusters: list[NDArray[np.int64]] = []
    waiting = [np.arange(len(features))]
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * k:
            clusters.append(rows)
            continue
        score = _split_score(features[rows])
        order = np.argsort(score, kind="stable")
        cut = int(np.clip((score <= 0).sum(), k, len(rows) - k))
        waiting += [rows[order[:cut]], rows[order[cut:]]]
    return clusters


def _split_score(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Distance of each row from the border between two means, negative on one side of it."""
    centred = features - features.mean(axis=0)
    direction = np.ones(features.shape[1], dtype=np.float32)
    for _ in range(_ITERATIONS):
        direction = centred.T @ (centred @ direction)
        direction /= max(float(np.linalg.norm(direction)), 1e-30)
    score: NDArray[np.float32] = centred @ direction
    for _ in range(_ITERATIONS):
        upper = score > 0
        if upper.all() or not upper.any():
            break
        one, other = centred[upper].mean(axis=0), centred[~upper].mean(axis=0)
        score = centred @ (one - other) - (one @ one - other @ other) / 2
    return score
