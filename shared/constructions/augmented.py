"""Augmented copies of the sentences of a share, for training: a code is read as a word, and the words of some sentences are altered.

Every code stands for words that are public (a word, or the members of a cluster) and its casing class travels, so a sentence
can be written down, in a draw of members and surrogates, without anything that the share does not tell; what is altered of it, and looked up
anew, is post-processing. What it shows of a word in its own place the head sees in the sentences that are no copies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.augment.augmentation import Augmentation
from shared.constructions.decoding import Decoding
from shared.labels import UNKNOWN_TAG
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences


@dataclass(frozen=True)
class AugmentedReading:
    """Reads codes for training.

    Args:
        decoding: reads codes and words of the construction.
        augmentation: of which sentences there are copies, and how they are made.
    """

    decoding: Decoding
    augmentation: Augmentation

    def read_augmented(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What a head gets of a pass: the sentences that are no copies, then the copies.

        Args:
            sentences: of shares, or of the provider's own notes. Tokens of UNKNOWN_TAG are to every draw what has no label, and keep it.
            generator: of the training.
        """
        copied = self.augmentation.choose(sentences.sentences, generator)
        kept = _select(sentences, np.flatnonzero(~copied))
        altered = _select(sentences, np.flatnonzero(copied))
        pieces = []
        if kept.sentences:
            read = self.decoding.read_codes(_without_unknown(kept), generator)
            pieces.append(replace(read, tags=kept.tags))
        if altered.sentences:
            words = self.decoding.draw_words(_without_unknown(altered), generator).with_tags(altered.tags)
            pieces.append(self.decoding.read_words(self.augmentation.alter(words, generator)))
        return pieces[0] if len(pieces) == 1 else _join(*pieces)


def _without_unknown(sentences: CodedSentences) -> CodedSentences:
    return replace(sentences, tags=np.where(sentences.tags == UNKNOWN_TAG, np.uint8(0), sentences.tags))


def _select(sentences: CodedSentences, rows: NDArray[np.int64]) -> CodedSentences:
    tokens = sentences.tokens_of(rows)
    return CodedSentences(
        sentences.codes[tokens], sentences.casing[tokens], sentences.tags[tokens], sentences.lengths[rows]
    )


def _join(first: RaggedSentences, second: RaggedSentences) -> RaggedSentences:
    """Sentences whose tokens are rows of two tables, over one table."""
    assert first.ids is not None
    assert second.ids is not None
    return RaggedSentences(
        np.concatenate([first.values, second.values]),
        np.concatenate([first.casing, second.casing]),
        np.concatenate([first.tags, second.tags]),
        np.concatenate([first.lengths, second.lengths]),
        np.concatenate([first.ids, second.ids + np.int32(len(first.values))]),
    )
