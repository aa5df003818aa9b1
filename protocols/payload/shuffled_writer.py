"""Sentences of a whole share in random order, at any size and in little memory.

A share must not tell which sentences come from one note. A small share is held in memory and permuted. In a larger one
each sentence goes to a random one of BUCKETS spools on the disk; at the end each spool is read back and permuted. A uniform choice
of the spool and a uniform order within it make a uniform permutation of the whole (Rao 1961), while memory holds one
spool: a share of 6.4 GB needs 100 MB.

The spools have no name on the disk, so nothing stays when the program is killed.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from foundation.feature_columns import FeatureColumn
from foundation.os_errors import storage_error
from protocols.payload.base import PayloadLimits, PayloadWriter
from protocols.payload.opening import create_payload
from protocols.payload.sentence_block import (
    CLASS_TYPE,
    LENGTH_TYPE,
    CheckedValues,
    SentenceBlock,
    ValueRules,
    row_bytes,
    row_shape,
    row_type,
)

BUCKETS = 64
BLOCK_TOKENS = 1 << 16
# Bytes of representations that are held before they go to the spools.
_IN_MEMORY = 32 << 20


class ShuffledWriter:
    """Takes blocks of sentences in the order of the notes and writes them in random order.

    The order is drawn from the entropy of the operating system and kept nowhere.

    Args:
        path: payload to write; its suffix decides the format.
        dim: width of the representations, or CODES.
        limits: what the readers will accept.
        rules: what every value must keep to; None checks none.
        features: the feature columns, in their order.
    """

    def __init__(
        self,
        path: Path,
        *,
        dim: int,
        limits: PayloadLimits | None = None,
        rules: ValueRules | None = None,
        features: Sequence[FeatureColumn] = (),
    ) -> None:
        self.path = path
        self.dim = dim
        self._writer: PayloadWriter = create_payload(path, dim=dim, limits=limits, rules=rules, features=features)
        self._random = np.random.default_rng(secrets.randbits(128))
        self._stack = ExitStack()
        self._spools: list[IO[bytes]] = []
        self._held: list[SentenceBlock] = []
        self._held_bytes = 0
        self.sentences = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._writer)
            self._stack = stack.pop_all()
        return self

    @property
    def checked(self) -> CheckedValues | None:
        """What was found of the values under `rules`; complete when the payload is."""
        return self._writer.checked

    def append(self, block: SentenceBlock) -> None:
        """Takes the sentences of a block, whose arrays must not change afterwards.

        Raises:
            StorageError: the disk is full.
        """
        self.sentences += block.sentences
        self._held.append(block)
        self._held_bytes += block.values.nbytes + block.features.nbytes
        if self._held_bytes > _IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        """Deal what is held out to the spools."""
        block = join_blocks(self._held)
        self._held, self._held_bytes = [], 0
        bucket = self._random.integers(BUCKETS, size=block.sentences)
        order = np.argsort(bucket, kind="stable")
        moved = permute_sentences(block, order)
        ends = np.searchsorted(bucket[order], np.arange(BUCKETS), side="right").tolist()
        start = 0
        try:
            if not self._spools:
                self._open_spools()
            for spool, end in zip(self._spools, ends, strict=True):
                if start < end:
                    _write(spool, moved, start, end)
                start = end
        except OSError as error:
            raise storage_error(self.path, error) from error

    def _open_spools(self) -> None:
        for _ in range(BUCKETS):
            spool = tempfile.TemporaryFile(dir=self.path.parent)  # noqa: SIM115 - closed by the stack
            self._stack.callback(_let_go, spool)
            self._spools.append(spool)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        # An error while draining must reach the writer too, so that no file appears.
        with self._stack:
            self._drain()

    def _drain(self) -> None:
        if not self._spools:
            self._emit(self._held)
            return
        if self._held:
            self._spill()
        held: list[SentenceBlock] = []
        try:
            for spool in self._spools:
                held += _read(spool, self.dim, len(self._writer.features))
                if sum(block.tokens for block in held) >= BLOCK_TOKENS:
                    self._emit(held)
                    held = []
        except OSError as error:
            raise storage_error(self.path, error) from error
        self._emit(held)

    def _emit(self, held: list[SentenceBlock]) -> None:
        """Write whole spools, permuted, in blocks of about BLOCK_TOKENS tokens."""
        if not held:
            return
        whole = join_blocks(held)
        whole = permute_sentences(whole, self._random.permutation(whole.sentences))
        first = 0
        while first < whole.sentences:
            last = int(np.searchsorted(whole.offsets, whole.offsets[first] + BLOCK_TOKENS, side="left"))
            last = min(max(last, first + 1), whole.sentences)
            self._writer.append(_slice(whole, first, last))
            first = last


def _let_go(spool: IO[bytes]) -> None:
    """Close a spool; what its buffer holds may not fit the disk any more, and nobody needs it."""
    with suppress(OSError):
        spool.close()


def join_blocks(blocks: list[SentenceBlock]) -> SentenceBlock:
    """One block of the sentences of all, in order."""
    if len(blocks) == 1:
        return blocks[0]
    return SentenceBlock(
        np.concatenate([block.values for block in blocks]),
        np.concatenate([block.tags for block in blocks]),
        np.concatenate([block.casing for block in blocks]),
        np.concatenate([block.lengths for block in blocks]),
        np.concatenate([block.features for block in blocks]),
    )


def permute_sentences(block: SentenceBlock, order: NDArray[np.int64]) -> SentenceBlock:
    """The sentences of a block in another order."""
    lengths = block.lengths[order]
    ends = np.cumsum(lengths, dtype=np.int64)
    tokens = np.repeat(block.offsets[order] - (ends - lengths), lengths) + np.arange(block.tokens)
    values, features = (np.take(array, tokens, axis=0) for array in (block.values, block.features))
    return SentenceBlock(values, block.tags[tokens], block.casing[tokens], lengths, features)


def _slice(block: SentenceBlock, first: int, last: int) -> SentenceBlock:
    tokens = slice(int(block.offsets[first]), int(block.offsets[last]))
    return SentenceBlock(
        block.values[tokens],
        block.tags[tokens],
        block.casing[tokens],
        block.lengths[first:last],
        block.features[tokens],
    )


def _write(spool: IO[bytes], block: SentenceBlock, first: int, last: int) -> None:
    piece = _slice(block, first, last)
    spool.write(np.array([piece.sentences, piece.tokens], dtype="<i8").tobytes())
    for array in (piece.lengths, piece.tags, piece.casing, piece.features, piece.values):
        spool.write(array.tobytes())


def _read(spool: IO[bytes], dim: int, columns: int) -> Iterator[SentenceBlock]:
    spool.seek(0)
    while header := spool.read(16):
        sentences, tokens = np.frombuffer(header, dtype="<i8").tolist()
        lengths = np.frombuffer(spool.read(4 * sentences), dtype=LENGTH_TYPE)
        tags = np.frombuffer(spool.read(tokens), dtype=CLASS_TYPE)
        casing = np.frombuffer(spool.read(tokens), dtype=CLASS_TYPE)
        features = np.frombuffer(spool.read(columns * tokens), dtype=CLASS_TYPE).reshape(tokens, columns)
        values = np.frombuffer(spool.read(row_bytes(dim) * tokens), dtype=row_type(dim))
        yield SentenceBlock(values.reshape(tokens, *row_shape(dim)), tags, casing, lengths, features)
