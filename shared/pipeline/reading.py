"""What a tagger says of the tokens of some sentences: its best tags, and how sure it is that a token is PHI of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.sentences.ragged import SentenceSource
from shared.taggers.tagger import Tagger

# Sentences of one batch.
_BATCH = 128


@dataclass(frozen=True)
class Reading:
    """Of consecutive tokens.

    Args:
        tags: the best, uint8 `[tokens]`.
        certainty: probability of PHI of any category, float32 `[tokens]`.
        category: the most probable, int64 `[tokens]`.
        released: what the head of the release says, where another one is in use; None where nobody asked it.
    """

    tags: NDArray[np.uint8]
    certainty: NDArray[np.float32]
    category: NDArray[np.int64]
    released: Reading | None = None

    @staticmethod
    def concatenate(pieces: Sequence[Reading]) -> Reading:
        """Pieces in any number as one."""
        released = [piece.released for piece in pieces if piece.released is not None]
        return Reading(
            np.concatenate([np.zeros(0, np.uint8), *(piece.tags for piece in pieces)]),
            np.concatenate([np.zeros(0, np.float32), *(piece.certainty for piece in pieces)]),
            np.concatenate([np.zeros(0, np.int64), *(piece.category for piece in pieces)]),
            Reading.concatenate(released) if released else None,
        )

    def part(self, begin: int, end: int) -> Reading:
        """Of some of the tokens."""
        released = None if self.released is None else self.released.part(begin, end)
        return Reading(self.tags[begin:end], self.certainty[begin:end], self.category[begin:end], released)


def read_sentences(head: Tagger, shown: SentenceSource) -> Reading:
    """What a head says of all tokens of some sentences, in their order.

    Args:
        head: in evaluation mode.
        shown: what it is given of them.
    """
    lines: list[Reading | None] = [None] * shown.sentences
    for batch in shown.batches(_BATCH):
        tags, marginals = head.tags_and_marginals(batch)
        categories = marginals[:, :, 1::2] + marginals[:, :, 2::2]
        best, certainty, category = tags.numpy(), categories.sum(2).numpy(), categories.argmax(2).numpy()
        for row, (line, length) in enumerate(zip(batch.rows.tolist(), batch.lengths.tolist(), strict=True)):
            lines[line] = Reading(best[row, :length].astype(np.uint8), certainty[row, :length], category[row, :length])
    return Reading.concatenate([line for line in lines if line is not None])


def raise_tags(reading: Reading, sentence_starts: NDArray[np.int32], threshold: float) -> NDArray[np.uint8]:
    """The best tags, with PHI of its most probable category wherever PHI is as probable as a threshold: uint8 `[tokens]`.

    What touches in one sentence and is of one category is one span where any of it was raised; no tag is given up.

    Args:
        reading: of a note.
        sentence_starts: tokens that begin its sentences.
        threshold: in (0, 1).
    """
    raised = (reading.tags == 0) & (reading.certainty >= threshold)
    if not raised.any():
        return reading.tags
    kinds = np.where(raised, reading.category, (reading.tags.astype(np.int64) + 1) // 2 - 1)
    ahead = np.concatenate([[-1], kinds[:-1]])
    ahead[sentence_starts] = -1
    raised_ahead = np.concatenate([[False], raised[:-1]])
    goes_on = (kinds >= 0) & (kinds == ahead) & (raised | raised_ahead)
    tags = np.where(raised, 2 * kinds + 1, reading.tags)
    return np.where(goes_on, 2 * kinds + 2, tags).astype(np.uint8)
