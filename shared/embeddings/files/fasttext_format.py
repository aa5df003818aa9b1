"""The binary format of fastText, version 12: arguments, dictionary, input matrix, output matrix, all little-endian.

A word's vector is the mean of its own row of the input matrix and the rows of its n-grams. Quantised models, pruned
models and classifiers are refused: their vectors are not those that neighbours were defined on. The file is read to its
last byte, so that a cut short download never passes for a model.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from foundation.files import atomic_file
from shared.embeddings.files.unpacking import open_unpacked
from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, all_finite, unit_rows
from shared.errors import EmbeddingError

MAGIC = 793712314
# Version 11 differs only for classifiers, which are refused anyway.
VERSIONS = (11, 12)

_ARGUMENTS = struct.Struct("<12id")
_COUNTS = struct.Struct("<3i2q")
_ENTRY = struct.Struct("<qb")
_SHAPE = struct.Struct("<2q")
_SUPERVISED, _SKIP_GRAM, _NEGATIVE_SAMPLING = 3, 2, 2
_CHUNK_BYTES = 1 << 22
_MAX_WORD_BYTES = 1 << 16
_MAX_DIM = 1 << 14


@dataclass(frozen=True, slots=True)
class _Arguments:
    """Those of the model's arguments that reading needs."""

    dim: int
    buckets: int
    minn: int
    maxn: int


def read_bin(path: Path) -> WordVectors:
    """Read a fastText `.bin` model, plain or gzipped.

    Returns:
        Vectors of kind "subwords", or "words" if the model has no n-grams.

    Raises:
        EmbeddingError: the file is cut short, damaged, quantised, pruned or a classifier.
        StorageError: the file can't be read.
    """
    with open_unpacked(path) as handle:
        return _Reading(path.name, handle).read()


class _Reading:
    """One pass over one file, buffered, never beyond its end."""

    def __init__(self, name: str, handle: IO[bytes]) -> None:
        self._name = name
        self._handle = handle
        self._buffer = b""
        self._position = 0

    def read(self) -> WordVectors:
        arguments = self._arguments()
        words, has_subwords = self._dictionary()
        has_subwords = has_subwords and arguments.minn <= arguments.maxn and arguments.buckets > 0
        matrix = self._matrix(len(words) + arguments.buckets, arguments.dim)
        self._skip_output()
        if not all_finite(matrix):
            raise self._error("expected finite vectors, got a NaN or an infinity; the file is damaged")
        own = matrix[: len(words)]
        if not has_subwords:
            return WordVectors(words, unit_rows(own.copy()))
        subwords = Subwords(arguments.minn, arguments.maxn, matrix[len(words) :])
        # The length is lost below, so the sum of a word's rows serves as well as their mean.
        for start in range(0, len(words), 4096):
            own[start : start + 4096] += subwords.sums(words[start : start + 4096])[0]
        return WordVectors(words, unit_rows(own), subwords)

    def _error(self, problem: str) -> EmbeddingError:
        return EmbeddingError(f"{self._name}: {problem}")

    def _arguments(self) -> _Arguments:
        magic, version = struct.unpack("<2i", self._take(8))
        if magic != MAGIC:
            raise self._error("expected a fastText .bin model, got another format; convert it or use its .vec")
        if version not in VERSIONS:
            raise self._error(f"expected fastText version 12, got {version}; save the model with a current fastText")
        values = _ARGUMENTS.unpack(self._take(_ARGUMENTS.size))
        dim, model, buckets, minn, maxn = values[0], values[7], values[8], max(values[9], 1), values[10]
        if model == _SUPERVISED:
            raise self._error("expected word vectors, got a classifier; use a skip-gram or CBOW model")
        if not 0 < dim <= _MAX_DIM or buckets < 0 or maxn < 0:
            raise self._error(
                f"expected sensible arguments, got dim {dim}, {buckets} buckets, n-grams {minn}-{maxn}; "
                "the file is damaged"
            )
        return _Arguments(dim, buckets, minn, maxn)

    def _dictionary(self) -> tuple[list[str], bool]:
        size, count, labels, _, pruned = _COUNTS.unpack(self._take(_COUNTS.size))
        if labels != 0:
            raise self._error(f"expected a dictionary without labels, got {labels}; use a skip-gram or CBOW model")
        if pruned > 0:
            raise self._error("expected all n-grams, got a pruned model; use the model it was made from")
        if size != count or size <= 0:
            raise self._error(
                f"expected a dictionary of at least one word, got {count} words in {size} entries; the file is damaged"
            )
        words: list[str] = []
        for entry in range(1, size + 1):
            raw = self._word(entry)
            _, kind = _ENTRY.unpack(self._take(_ENTRY.size))
            if kind != 0:
                raise self._error(
                    f"expected entry {entry} of the dictionary to be a word, got kind {kind}; the file is damaged"
                )
            try:
                words.append(raw.decode("utf-8"))
            except UnicodeDecodeError:
                raise self._error(
                    f"expected entry {entry} of the dictionary in UTF-8, got other bytes; the file is damaged"
                ) from None
        if len(set(words)) != len(words):
            raise self._error("expected each word once, got one twice; the file is damaged")
        # As in fastText: a pruning list of length 0 (not -1, "never pruned") switches the n-grams off.
        return words, pruned < 0

    def _word(self, entry: int) -> bytes:
        end = self._buffer.find(b"\0", self._position)
        while end < 0:
            if len(self._buffer) - self._position > _MAX_WORD_BYTES:
                raise self._error(
                    f"expected entry {entry} of the dictionary to be a word, got {_MAX_WORD_BYTES} bytes and more; "
                    "the file is damaged"
                )
            if not self._fill():
                raise self._cut_short()
            end = self._buffer.find(b"\0", self._position)
        word = self._buffer[self._position : end]
        self._position = end + 1
        return word

    def _matrix(self, rows: int, dim: int) -> NDArray[np.float32]:
        self._refuse_quantised()
        shape = _SHAPE.unpack(self._take(_SHAPE.size))
        if shape != (rows, dim):
            raise self._error(f"expected vectors [{rows}, {dim}], got {list(shape)}; the file is damaged")
        try:
            matrix = np.empty(shape, dtype="<f4")
        except (MemoryError, ValueError) as error:
            raise self._error(
                f"expected vectors that fit the memory, got {list(shape)}; use a smaller model"
            ) from error
        target = memoryview(matrix.data).cast("B")
        while len(target):
            if self._position == len(self._buffer) and not self._fill():
                raise self._cut_short()
            step = min(len(target), len(self._buffer) - self._position)
            target[:step] = self._buffer[self._position : self._position + step]
            self._position += step
            target = target[step:]
        return matrix.astype(np.float32, copy=False)

    def _skip_output(self) -> None:
        """Pass over the output layer, which no word's vector needs, and make sure that it and nothing else is there."""
        self._refuse_quantised()
        rows, columns = _SHAPE.unpack(self._take(_SHAPE.size))
        left = rows * columns * 4 if rows >= 0 and columns >= 0 else -1
        while left > 0:
            if self._position == len(self._buffer) and not self._fill():
                raise self._cut_short()
            step = min(left, len(self._buffer) - self._position)
            self._position += step
            left -= step
        if left < 0 or self._position < len(self._buffer) or self._fill():
            raise self._error("expected the file to end with its output layer, got more; the file is damaged")

    def _refuse_quantised(self) -> None:
        flag = self._take(1)
        if flag == b"\1":
            raise self._error("expected a full model, got a quantised one; use the .bin from which the .ftz was made")
        if flag != b"\0":
            raise self._error("expected a flag for quantisation, got another byte; the file is damaged")

    def _take(self, count: int) -> bytes:
        while len(self._buffer) - self._position < count:
            if not self._fill():
                raise self._cut_short()
        self._position += count
        return self._buffer[self._position - count : self._position]

    def _fill(self) -> bool:
        """Read on; False at the end of the file."""
        more = self._handle.read(_CHUNK_BYTES)
        self._buffer = self._buffer[self._position :] + more
        self._position = 0
        return bool(more)

    def _cut_short(self) -> EmbeddingError:
        return self._error("expected more data, got the end of the file; it is cut short: fetch it again")


def save_bin(vectors: WordVectors, path: Path) -> None:
    """Write a genuine fastText `.bin`, which gives back equal unit vectors for known and unknown words.

    A word's own row is chosen so that the mean with its n-grams is its unit vector. The output layer is zero, the value
    from which fastText starts to train; in place of the counts, which are not kept, stand ranks.

    Raises:
        EmbeddingError: a word can't stand in this format.
        StorageError: the file can't be written.
    """
    subwords = vectors.subwords
    buckets = 0 if subwords is None else len(subwords.buckets)
    minn, maxn = (0, 0) if subwords is None else (subwords.minn, subwords.maxn)
    with atomic_file(path, private=False) as handle:
        handle.write(struct.pack("<2i", MAGIC, VERSIONS[-1]))
        handle.write(
            _ARGUMENTS.pack(vectors.dim, 5, 5, 1, 5, 1, _NEGATIVE_SAMPLING, _SKIP_GRAM, buckets, minn, maxn, 100, 1e-4)
        )
        size = len(vectors.words)
        handle.write(_COUNTS.pack(size, size, 0, size * (size + 1) // 2, -1))
        for rank, word in enumerate(vectors.words):
            try:
                raw = word.encode("utf-8")
            except UnicodeEncodeError:
                raise EmbeddingError(
                    f"expected words that UTF-8 can hold, got another at row {rank}; remove it"
                ) from None
            if b"\0" in raw:
                raise EmbeddingError(f"expected words without NUL, got one at row {rank}; remove it")
            handle.write(raw + b"\0" + _ENTRY.pack(size - rank, 0))
        handle.write(b"\0" + _SHAPE.pack(size + buckets, vectors.dim))
        for start in range(0, size, 4096):
            handle.write(_own_rows(vectors, start, start + 4096).astype("<f4").tobytes())
        if subwords is not None:
            handle.write(np.ascontiguousarray(subwords.buckets, dtype="<f4").data)
        handle.write(b"\0" + _SHAPE.pack(size, vectors.dim))
        blank = bytes(4 * vectors.dim)
        for _ in range(size):
            handle.write(blank)


def _own_rows(vectors: WordVectors, start: int, stop: int) -> NDArray[np.float32]:
    """Rows of the input matrix from which the unit vectors of some words come out as means."""
    unit = vectors.matrix[start:stop]
    if vectors.subwords is None:
        return unit
    sums, counts = vectors.subwords.sums(vectors.words[start:stop])
    return unit * (counts + 1)[:, None].astype(np.float32) - sums
