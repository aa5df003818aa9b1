"""Word vectors, and a unit vector for any word whatever.

Invariants, checked at construction: no word twice, every value finite, every row of length 1 (or UNKNOWN_LENGTH where
the source has a zero vector). Two kinds of vectors differ in what an unknown word gets:

- "subwords" (fastText): the mean of its character n-grams, scaled to length 1;
- "words" (GloVe, word2vec text): the row of the first spelling that is known of: the word, in lower case, without the
  characters that are neither letter nor digit, with every digit as 0. Failing all, a vector of length near zero, as in
  the reference of Friedrich et al. 2019. It still has a direction, so it too has neighbours: no word is exempt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.cache import RowCache
from shared.embeddings.subwords import LONGEST_NGRAM, Subwords
from shared.errors import EmbeddingError

UNKNOWN_LENGTH = 1e-3

# Rows kept for unknown words: 7 MB at 100 dimensions.
CACHED_ROWS = 1 << 14

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"\d")
_BLOCK_ROWS = 1 << 14
_LENGTH_TOLERANCE = 1e-3


class WordVectors:
    """A vocabulary, its unit vectors, and vectors for words outside it.

    Args:
        words: the vocabulary, most frequent first where the source orders it.
        matrix: float32 `[words, dim]`, rows of length 1; kept, not copied. See `unit_rows`.
        subwords: n-gram vectors, for vectors of kind "subwords".

    Raises:
        EmbeddingError: shapes that do not fit, a word twice, a value that is not finite, a row that is not of length 1.
    """

    def __init__(self, words: Sequence[str], matrix: NDArray[np.float32], subwords: Subwords | None = None) -> None:
        self.words = tuple(words)
        self.matrix = matrix
        self.subwords = subwords
        self.index = {word: row for row, word in enumerate(self.words)}
        self._check()
        self.matrix.flags.writeable = False
        if subwords is not None:
            subwords.buckets.flags.writeable = False
        self._rows = RowCache(CACHED_ROWS if subwords else 1, self.dim, np.float32, self._subword_rows)
        self._ids = RowCache(CACHED_ROWS, 1, np.int64, self._spelling_ids)

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return int(self.matrix.shape[1])

    @property
    def kind(self) -> str:
        """Either "subwords" or "words"."""
        return "words" if self.subwords is None else "subwords"

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordVectors({len(self.words)} words, {self.dim} dimensions, kind {self.kind!r})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides a vector, in hex; equal digests mean equal vectors for every word."""
        grams = (
            (0, 0, 0) if self.subwords is None else (self.subwords.minn, self.subwords.maxn, len(self.subwords.buckets))
        )
        total = hashlib.sha256(json.dumps([self.dim, *grams, self.words]).encode("ascii"))
        total.update(np.ascontiguousarray(self.matrix, dtype="<f4").data)
        if self.subwords is not None:
            total.update(np.ascontiguousarray(self.subwords.buckets, dtype="<f4").data)
        return total.hexdigest()

    def spell(self, words: Sequence[str]) -> list[str]:
        """The words as far as the vectors tell spellings apart: here, as they are."""
        return list(words)

    def stored_besides(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What these vectors have and plain ones have not, as `save_vectors` stores it: tensors, and fields of the vocabulary."""
        return {}, {}

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Row of the vocabulary that stands for each word `[words]`; -1 where none does.

        For kind "subwords" only a word itself stands for it; for kind "words" also its other spellings do.
        """
        found = np.fromiter(map(self.index.get, words, repeat(-1)), dtype=np.int64, count=len(words))
        if self.subwords is None:
            missing = np.flatnonzero(found < 0)
            if len(missing):
                found[missing] = self._ids.rows([words[place] for place in missing.tolist()])[:, 0]
        return found

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """A vector for every word, float32 `[words, dim]`.

        Length 1, or UNKNOWN_LENGTH for a word of which nothing is known. A word costs a dictionary look-up, the first
        sight of an unknown one more; memory does not grow with the words asked for.
        """
        ids = self.ids(words)
        out = np.empty((len(words), self.dim), dtype=np.float32)
        # "clip" spares numpy a buffered copy; the rows of the -1 it would bend to row 0 are overwritten below.
        np.take(self.matrix, ids, axis=0, out=out, mode="clip")
        missing = np.flatnonzero(ids < 0)
        if len(missing):
            out[missing] = (
                self._unknown
                if self.subwords is None
                else self._rows.rows([words[place] for place in missing.tolist()])
            )
        return out

    @cached_property
    def _unknown(self) -> NDArray[np.float32]:
        return unknown_row(self.dim)

    def _subword_rows(self, words: list[str]) -> NDArray[np.float32]:
        assert self.subwords is not None
        return unit_rows(self.subwords.sums(words)[0])

    def _spelling_ids(self, words: list[str]) -> NDArray[np.int64]:
        return np.array([[self._spelling_id(word)] for word in words], dtype=np.int64)

    def _spelling_id(self, word: str) -> int:
        lower = word.lower()
        bare = _NOT_ALPHANUMERIC.sub("", lower)
        for spelling in (lower, bare, _DIGIT.sub("0", lower), _DIGIT.sub("0", bare)):
            if spelling in self.index:
                return self.index[spelling]
        return -1

    def _check(self) -> None:
        if self.matrix.dtype != np.float32 or self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise EmbeddingError(
                f"expected float32 vectors [{len(self.words)}, dim], got {self.matrix.dtype} "
                f"{list(self.matrix.shape)}; give one row a word"
            )
        if not self.words or not self.dim:
            raise EmbeddingError("expected at least one word and one dimension, got none; choose other word vectors")
        if len(self.index) != len(self.words):
            raise EmbeddingError(
                f"expected distinct words, got {len(self.words) - len(self.index)} repeated; remove them"
            )
        if self.subwords is not None:
            self._check_subwords(self.subwords)
        for start in range(0, len(self.matrix), _BLOCK_ROWS):
            lengths = np.linalg.norm(self.matrix[start : start + _BLOCK_ROWS], axis=1)
            # Written so that a NaN fails too.
            if not np.all(
                (np.abs(lengths - 1) < _LENGTH_TOLERANCE) | (np.abs(lengths - UNKNOWN_LENGTH) < UNKNOWN_LENGTH * 0.01)
            ):
                raise EmbeddingError(
                    f"expected finite rows of length 1, got others from row {start} on; scale them with unit_rows"
                )

    def _check_subwords(self, subwords: Subwords) -> None:
        buckets = subwords.buckets
        if buckets.dtype != np.float32 or buckets.ndim != 2 or buckets.shape[1] != self.dim or not len(buckets):
            raise EmbeddingError(
                f"expected float32 n-gram vectors [buckets, {self.dim}], got {buckets.dtype} {list(buckets.shape)}"
            )
        if not 1 <= subwords.minn <= subwords.maxn <= LONGEST_NGRAM:
            raise EmbeddingError(
                f"expected n-grams of 1 <= minn <= maxn <= {LONGEST_NGRAM} characters, got {subwords.minn} to {subwords.maxn}; "
                "choose other word vectors"
            )
        if not all_finite(buckets):
            raise EmbeddingError("expected finite n-gram vectors, got a NaN or an infinity; the file is damaged")


def unknown_row(dim: int) -> NDArray[np.float32]:
    """The vector of a word of which nothing is known: length UNKNOWN_LENGTH, the same for all, `[dim]`."""
    return np.full(dim, UNKNOWN_LENGTH / np.sqrt(dim), dtype=np.float32)


def unit_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length 1, in place; a zero row becomes `unknown_row`.

    Args:
        matrix: finite float32 `[rows, dim]`, writeable.
    """
    for start in range(0, len(matrix), _BLOCK_ROWS):
        block = matrix[start : start + _BLOCK_ROWS]
        # In double precision, since the square of a large float32 overflows.
        lengths = np.sqrt(np.einsum("rd,rd->r", block, block, dtype=np.float64))
        empty = lengths < 1e-30
        block /= np.where(empty, 1, lengths)[:, None]
        block[empty] = unknown_row(matrix.shape[1])
    return matrix


def all_finite(matrix: NDArray[np.float32]) -> bool:
    """Whether no value is NaN or infinite; looked at in blocks, so that no copy of the whole is made."""
    return all(
        bool(np.isfinite(matrix[start : start + _BLOCK_ROWS]).all()) for start in range(0, len(matrix), _BLOCK_ROWS)
    )
