"""A k-anonymous vocabulary: words outside a public list are shown as the centre of a cluster of at least K words.

Guarantee, whatever an attacker knows or computes: two words of one cluster have the same vector, bit for bit, so what is
computed from them is the same too, and no number of repetitions tells them apart. Nor are they equally likely, but on request no
word holds more than a stated share of what public text uses of its cluster. It says nothing about words of two clusters, nor
about casing: see the audit for both.

Treatment of other words: casing is folded; a word outside the vocabulary (rare, misspelt) goes to the cluster whose
centre is nearest to the sum of its n-grams, never to a public word. Numbers cluster among themselves where there are
enough of them, since the casing class, which travels too, tells numbers from words.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.bisecting import bisected, largest_share
from shared.embeddings.cache import RowCache
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import CACHED_ROWS, WordVectors, unit_rows, unknown_row
from shared.errors import ConfigurationError, EmbeddingError
from shared.text.reached import casing_table, fewest_alike
from shared.text.tokens import is_token

PUBLIC = -1
# Length of a flag beside a vector of length 1.
_FLAG = 0.5
NUMBERS = (1, 3, 4)
"""A number has a flag for each of these that its count of digits reaches: a day, a count, a year."""


class FoldedVectors(WordVectors):
    """Word vectors that ignore casing and know what kind of word it is; see `fold_casing`.

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

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides a vector, in hex."""
        # What columns are flags decides the vector of a number that the vocabulary lacks.
        return hashlib.sha256(f"{super().digest} {self.flags}".encode("ascii")).hexdigest()

    def spell(self, words: Sequence[str]) -> list[str]:
        """The words in lower case: no other spelling is known."""
        return [word.lower() for word in words]

    def stored_besides(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """See WordVectors."""
        return {}, {"flags": self.flags}

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Row of the vocabulary of each word, casing ignored; -1 where there is none."""
        return super().ids(self.spell(words))

    def _subword_rows(self, words: list[str]) -> NDArray[np.float32]:
        lowered = [word.lower() for word in words]
        return set_flags(super()._subword_rows(lowered), number_flags(lowered), self.dim - self.flags)


class GeneralisedVectors(FoldedVectors):
    """Word vectors of which a word outside the public list shows its cluster only.

    Args:
        words: in lower case, each once.
        matrix: float32 `[words, dim]`; rows of one cluster are equal.
        flags: as in FoldedVectors.
        classes: int32 `[words]`, PUBLIC or the cluster, from 0 on.
        subwords: for unknown words, which only ever find their nearest cluster by them.
        largest_share: the most that a word holds of its cluster's public frequency, in (0, 1]; None if it is not known.

    Raises:
        EmbeddingError: as for FoldedVectors, clusters that are not shown alike, or an impossible share.
    """

    def __init__(
        self,
        words: Sequence[str],
        matrix: NDArray[np.float32],
        flags: int,
        classes: NDArray[np.int32],
        subwords: Subwords | None = None,
        largest_share: float | None = None,
    ) -> None:
        super().__init__(words, matrix, flags, subwords)
        self.classes = classes
        self.largest_share = largest_share
        self._nearest = RowCache(CACHED_ROWS, 1, np.int64, self._nearest_of)
        if largest_share is not None and not 0 < largest_share <= 1:
            raise EmbeddingError(f"expected a largest share in (0, 1], got {largest_share}; fetch the release again")
        self._check_classes()

    def __repr__(self) -> str:
        return f"GeneralisedVectors({len(self.words)} words, {len(self.centres)} clusters of at least {self.k})"

    @property
    def k(self) -> int:
        """Words in the smallest cluster."""
        return int(np.bincount(self.classes[self.classes >= 0]).min())

    @cached_property
    def k_in_casing(self) -> int:
        """As `k`, given the casing class too: words of one cluster that a text can hold in one class, where it can any; else 0."""
        hidden = np.flatnonzero(self.classes >= 0)
        table = casing_table([self.words[row] for row in hidden.tolist()])
        return fewest_alike(self.classes[hidden].astype(np.int64), table) or 0

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

    def stored_besides(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """See WordVectors."""
        tensors, fields = super().stored_besides()
        share = {} if self.largest_share is None else {"largest_share": self.largest_share}
        return tensors | {"classes": self.classes}, fields | {"generalised": True} | share

    def cluster(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The cluster of each word, known or not; PUBLIC for a public word. int64 `[words]`."""
        ids = self.ids(words)
        found = self.classes[np.maximum(ids, 0)].astype(np.int64)
        missing = np.flatnonzero(ids < 0)
        if len(missing):
            found[missing] = self._nearest.rows([words[place] for place in missing.tolist()])[:, 0]
        return found

    def _spelling_id(self, word: str) -> int:
        # A word that is public in another spelling may be a name in this one: "Peña" with the accent as a character of its own.
        found = super()._spelling_id(word)
        return -1 if found >= 0 and self.classes[found] == PUBLIC else found

    @cached_property
    def _unknown(self) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.centres[np.argmax(self.centres @ unknown_row(self.dim))]
        return row

    def _subword_rows(self, words: list[str]) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self.centres[self._nearest.rows(words)[:, 0]]
        return rows

    def _nearest_of(self, words: list[str]) -> NDArray[np.int64]:
        """The cluster of each word that the vocabulary lacks, `[words, 1]`."""
        if self.subwords is None:
            rows = np.tile(unknown_row(self.dim), (len(words), 1))
        else:
            rows = super()._subword_rows(words)
        nearest: NDArray[np.int64] = np.argmax(rows @ self.centres.T, axis=1)[:, None]
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
        # Two clusters may be equal: honest ones are where more words than one holds have no vector of their own.
        if not np.array_equal(self.matrix[hidden], self.centres[classes[hidden]]):
            raise EmbeddingError("expected equal vectors within a cluster, got others; fetch the release again")


def fold_casing(vectors: WordVectors, lists: Sequence[Sequence[str]] = ()) -> FoldedVectors:
    """Word vectors that ignore casing, with what public lists and the number of digits say of a word.

    Of several spellings the first, which is the most frequent, gives the vector. What mixes digits with other characters in one token
    ("mm³") is left to its n-grams: so few words do that its casing class would tell it from all others of its cluster. The words of the lists join the
    vocabulary, so that a cluster can hold the names of a whole country.

    Args:
        vectors: word vectors.
        lists: of names of one kind each; whether a word is on a list is a flag of its own.

    Returns:
        vectors of `vectors.dim + len(NUMBERS) + len(lists)` dimensions.
    """
    rows: dict[str, int] = {}
    for row, word in enumerate(vectors.words):
        if not _mixes_digits(word.lower()):
            rows.setdefault(word.lower(), row)
    more = [word for word in dict.fromkeys(word.lower() for words in lists for word in words) if word not in rows]
    words = [*rows, *more]
    matrix = vectors.matrix[list(rows.values())]
    if more:
        matrix = np.concatenate([matrix, vectors.rows(more)])
    flags = number_flags(words)
    for listed in lists:
        on = {strip_accents(word) for word in listed}
        flags = np.concatenate([flags, [[strip_accents(word) in on] for word in words]], axis=1, dtype=np.float32)
    subwords = None
    if vectors.subwords is not None:
        grams = vectors.subwords
        subwords = Subwords(grams.minn, grams.maxn, np.pad(grams.buckets, ((0, 0), (0, flags.shape[1]))))
    return FoldedVectors(
        words, set_flags(np.pad(matrix, ((0, 0), (0, flags.shape[1]))), flags, vectors.dim), flags.shape[1], subwords
    )


def _mixes_digits(word: str) -> bool:
    return not word.isdigit() and any(map(str.isdigit, word)) and is_token(word)


def set_flags(rows: NDArray[np.float32], flags: NDArray[np.float32], first: int) -> NDArray[np.float32]:
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


def strip_accents(word: str) -> str:
    """The word in lower case and without accents, as lists of names are compared."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def generalise(
    vectors: FoldedVectors,
    public: NDArray[np.bool_],
    k: int,
    frequencies: NDArray[np.int64] | None = None,
    max_share: float = 1.0,
) -> GeneralisedVectors:
    """Cluster what is not public, into clusters that keep two promises: enough words, none of them too likely.

    There are enough in each casing class, too, in which a text can hold any word of a cluster: as many as are asked for, or all that
    there are.

    Args:
        vectors: of words in lower case.
        public: bool `[words]`, which words are shown as they are.
        k: least number of words in a cluster.
        frequencies: occurrences in public text, int64 `[words]`; None if they are not known: all words as likely.
        max_share: no word holds more than this of its cluster's frequency, in (0, 1]; 1 promises nothing. In a cluster that
            public text never uses all words hold as much.

    Raises:
        ConfigurationError: there are fewer than k words that are not public, k is below 2, or even one cluster of all these
            words would break `max_share`.
    """
    hidden = np.flatnonzero(~public)
    if k < 2 or len(hidden) < k:
        raise ConfigurationError(
            f"expected 2 to {len(hidden)} words in a cluster, the words that are not public, got {k}; "
            "choose fewer or give more public text"
        )
    counts = np.zeros(len(vectors), dtype=np.int64) if frequencies is None else frequencies
    least = largest_share(counts[hidden])
    if not least <= max_share <= 1:
        raise ConfigurationError(
            f"expected a largest share of {least:.4g} to 1, what the commonest of all words that are not public holds of them, "
            f"got {max_share:g}; choose more or give more public text"
        )
    # Not `isdecimal`: "²" is of the casing class of numbers, too.
    numbers = np.fromiter((word.isdigit() for word in vectors.words), dtype=bool, count=len(vectors))
    table = casing_table(vectors.words)
    parts = [hidden[numbers[hidden]], hidden[~numbers[hidden]]]
    if not all(len(part) >= k and largest_share(counts[part]) <= max_share for part in parts):
        parts = [hidden]
    classes = np.full(len(vectors), PUBLIC, dtype=np.int32)
    matrix = vectors.matrix.copy()
    shares: list[float] = []
    for part in parts:
        for rows in bisected(vectors.matrix[part], counts[part], table[part], k, max_share):
            members = part[rows]
            classes[members] = len(shares)
            matrix[members] = unit_rows(vectors.matrix[members].mean(axis=0, keepdims=True))
            shares.append(largest_share(counts[members]))
    largest = None if frequencies is None else max(shares)
    return GeneralisedVectors(vectors.words, matrix, vectors.flags, classes, vectors.subwords, largest)
