"""The pool: all accepted shares as one stream of sentences, read from disk block by block.

Only a few blocks are in memory at a time, so the pool may be larger than the memory. In training the blocks come in
random order, and the sentences of the blocks that are held together are mixed before batches are cut. A share's
sentences were shuffled at the hospital, so every tenth of a block is a random sample: it is held out, for the score of
each site.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aggregator.errors import WorkspaceError
from protocols.payload.opening import PayloadReader, SentenceBlock, open_payload
from shared.sentences.ragged import Batch, RaggedSentences

Change = Callable[[RaggedSentences, np.random.Generator], RaggedSentences]
_BLOCKS_HELD = 8
_HELD_OUT = 10


class Pool:
    """A SentenceSource over payloads that were verified when they were taken in; a context manager that closes them.

    Args:
        payloads: their files.
        held_out: which sentences: None for all, False for those to train on, True for the held-out tenth.
        change: what training does to sentences before it sees them, anew in every pass; batches in the order of the disk
            are as the shares are.

    Raises:
        WorkspaceError: no payloads, or of different dimensions.
    """

    def __init__(self, payloads: Sequence[Path], *, held_out: bool | None = None, change: Change | None = None) -> None:
        self.payloads = tuple(payloads)
        self.held_out = held_out
        self.change = change
        with ExitStack() as files:
            readers = [files.enter_context(open_payload(path)) for path in self.payloads]
            dims = {reader.dim for reader in readers}
            if len(dims) != 1:
                raise WorkspaceError(
                    f"expected shares of one representer, got {len(self.payloads)} shares of {len(dims)} different dimensions; "
                    "ingest at least one share, all made with the representer that is published"
                )
            self._files = files.pop_all()
        self._pieces = [(reader, block) for reader in readers for block in range(reader.blocks)]
        self.dim = dims.pop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    @property
    def sentences(self) -> int:
        """Sentences that the batches hold, counted from the lengths on disk."""
        return self._sizes[0]

    @property
    def tokens(self) -> int:
        """Their tokens."""
        return self._sizes[1]

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        sentences = tokens = 0
        for held in self._held_sentences(self._pieces):
            sentences += held.sentences
            tokens += held.tokens
        return sentences, tokens

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource; `rows` of a batch number the sentences of the blocks that were held together."""
        pieces = self._pieces
        if generator is not None:
            pieces = [pieces[index] for index in generator.permutation(len(pieces))]
        for sentences in self._held_sentences(pieces):
            if generator is not None and self.change is not None:
                sentences = self.change(sentences, generator)
            yield from sentences.batches(size, generator)

    def _held_sentences(self, pieces: Sequence[tuple[PayloadReader, int]]) -> Iterator[RaggedSentences]:
        """The sentences of a few blocks at a time."""
        for begin in range(0, len(pieces), _BLOCKS_HELD):
            blocks = [reader.read_block(block) for reader, block in pieces[begin : begin + _BLOCKS_HELD]]
            kept = [sentences for sentences in map(self._chosen, blocks) if sentences.sentences]
            if kept:
                yield RaggedSentences.concatenate(kept)

    def _chosen(self, block: SentenceBlock) -> RaggedSentences:
        sentences = RaggedSentences(block.values, block.casing, block.tags, block.lengths.astype(np.int64))
        if self.held_out is None:
            return sentences
        return sentences.select(np.flatnonzero(_is_held_out(sentences.sentences) == self.held_out))


def _is_held_out(sentences: int) -> NDArray[np.bool_]:
    marked: NDArray[np.bool_] = np.arange(sentences) % _HELD_OUT == _HELD_OUT - 1
    return marked
