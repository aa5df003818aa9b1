"""Sentences laid end to end, and padded batches cut from them.

A batch is sorted by falling length (the CRF and the LSTM rely on it) and holds sentences of similar length, so that
little of it is padding. The order in which batches come is random in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.labels import tag_categories, tag_spans
from shared.sentences.layout import SentenceLayout

# So many batches are sorted by length together: enough to keep padding low, few enough to keep the order random.
WINDOW = 40


@dataclass(frozen=True, slots=True)
class Batch:
    """A padded batch.

    Args:
        inputs: float32 `[batch, steps, dim]`, zero on padding.
        casing: int64 `[batch, steps]`.
        tags: int64 `[batch, steps]`, O on padding.
        lengths: int64 `[batch]`, falling, the first equal to `steps`.
        rows: index of each sentence in its source, int64 `[batch]`.
        marks: uint8 `[batch, steps, marks]`, zero on padding; None where the sentences have none.
    """

    inputs: Tensor
    casing: Tensor
    tags: Tensor
    lengths: Tensor
    rows: NDArray[np.int64]
    marks: Tensor | None = None


class SentenceSource(Protocol):
    """Where a training gets its sentences: memory, or a pool on disk."""

    @property
    def dim(self) -> int:
        """Numbers of a token's vector."""

    @property
    def sentences(self) -> int:
        """How many sentences."""

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """Every sentence once; in random order where a generator is given, else by length within windows."""
        ...


@dataclass(frozen=True)
class RaggedSentences(SentenceLayout):
    """Token vectors of many sentences, laid end to end.

    Args:
        values: float `[tokens, dim]`, or float `[words, dim]` where `ids` is given.
        casing: uint8 `[tokens]`.
        tags: uint8 `[tokens]`.
        lengths: int `[sentences]`, each at least 1, their sum the number of tokens.
        ids: int32 `[tokens]`, rows of `values`: sentences of word vectors need each word's vector only once.
        marks: uint8 `[tokens, marks]`, what a tagger that reads the words themselves has noted of them; None for nothing.
    """

    values: NDArray[np.floating]
    casing: NDArray[np.uint8]
    tags: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    ids: NDArray[np.int32] | None = None
    marks: NDArray[np.uint8] | None = None

    @staticmethod
    def concatenate(pieces: Sequence[RaggedSentences]) -> RaggedSentences:
        """Pieces, at least one, as one that holds a row for every token; all of them have marks, or none."""
        marks = [piece.marks for piece in pieces if piece.marks is not None]
        return RaggedSentences(
            np.concatenate([piece.values if piece.ids is None else piece.values[piece.ids] for piece in pieces]),
            np.concatenate([piece.casing for piece in pieces]),
            np.concatenate([piece.tags for piece in pieces]),
            np.concatenate([piece.lengths for piece in pieces]),
            marks=np.concatenate(marks) if marks else None,
        )

    @property
    def dim(self) -> int:
        """Numbers of a token's vector."""
        return int(self.values.shape[1])

    @property
    def categories(self) -> NDArray[np.int64]:
        """See SentenceLayout; -1 where nobody knows."""
        return tag_categories(self._known_tags)

    def rows_with_phi(self) -> NDArray[np.int64]:
        """See SentenceLayout; a token of which nobody knows is not looked at."""
        return np.flatnonzero(self.sentences_with(self._known_tags > 0))

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """See SentenceLayout; what nobody knows is no span."""
        return tag_spans(self._known_tags)

    @property
    def _known_tags(self) -> NDArray[np.uint8]:
        return np.where(self.known, self.tags, np.uint8(0))

    def batches(
        self, size: int, generator: np.random.Generator | None = None, turns: np.random.Generator | None = None
    ) -> Iterator[Batch]:
        """See SentenceSource, and `batch_rows` for turns."""
        starts = self.starts
        for rows in batch_rows(self.lengths, size, generator, turns):
            yield self.batch(rows, starts)

    def batch(self, rows: NDArray[np.int64], starts: NDArray[np.int64]) -> Batch:
        """The batch of given sentences, which must come in order of falling length."""
        lengths = self.lengths[rows]
        position, inside = padded_positions(starts[rows], lengths)
        vectors = self.vectors(position)
        vectors *= inside[:, :, None]
        return Batch(
            torch.from_numpy(vectors),
            torch.from_numpy((self.casing[position] * inside).astype(np.int64)),
            torch.from_numpy((self.tags[position] * inside).astype(np.int64)),
            torch.from_numpy(lengths.astype(np.int64)),
            rows,
            None if self.marks is None else torch.from_numpy(self.marks[position] * inside[:, :, None]),
        )

    def vectors(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of the vectors of some tokens, float32 `[*tokens.shape, dim]`."""
        # numpy takes rows faster than it indexes them.
        rows = np.take(self.values, tokens if self.ids is None else self.ids[tokens], axis=0)
        return rows.astype(np.float32, copy=False)

    def select(self, rows: NDArray[np.int64]) -> RaggedSentences:
        """A copy of some sentences, in the order given."""
        lengths = self.lengths[rows]
        index = self.tokens_of(rows)
        marks = None if self.marks is None else self.marks[index]
        if self.ids is None:
            return RaggedSentences(self.values[index], self.casing[index], self.tags[index], lengths, marks=marks)
        return RaggedSentences(self.values, self.casing[index], self.tags[index], lengths, self.ids[index], marks)


def padded_positions(
    starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Token index of every cell of a padded batch (that of the sentence's first token on padding), and which are no padding."""
    offset = np.arange(int(lengths.max()))[None, :]
    inside = offset < lengths[:, None]
    return starts[:, None] + offset * inside, inside


def batch_rows(
    lengths: NDArray[np.int64],
    size: int,
    generator: np.random.Generator | None = None,
    turns: np.random.Generator | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Indices of the sentences of each batch, by falling length within the batch.

    Args:
        lengths: of the sentences.
        size: sentences of a batch.
        generator: mixes them; None leaves them in their order, but for the lengths.
        turns: draws when the long batches of a window come and when the short ones, in the place of the generator. Where several
            processes draw it alike, none waits at a step for another that has the longer sentences.
    """
    order = np.arange(len(lengths)) if generator is None else generator.permutation(len(lengths))
    for begin in range(0, len(order), size * WINDOW):
        window = order[begin : begin + size * WINDOW]
        window = window[np.argsort(-lengths[window], kind="stable")]
        cuts = [window[first : first + size] for first in range(0, len(window), size)]
        if generator is not None:
            cuts = [cuts[index] for index in (turns or generator).permutation(len(cuts))]
        yield from cuts
