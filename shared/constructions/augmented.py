"""Augmented copies of the sentences of a share, for training: a code is read as a word, and the words of some sentences are altered.

Every code stands for words that are public (a word, or the members of a cluster) and its casing class travels, so a sentence
can be written down, in a draw of members and surrogates, without anything that the share does not tell; what is altered of it, and looked up
anew, is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shared.augment.augmentation import Augmentation
from shared.constructions.decoding import Decoding
from shared.constructions.drawn_words import DrawnWords
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

    decoding: Decoding | DrawnWords
    augmentation: Augmentation

    def read_augmented(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What a head gets of a pass: every sentence, or a copy in its place, in their order.

        Args:
            sentences: of shares, or of the provider's own notes. Tokens of UNKNOWN_TAG are to every draw what has no label, and keep it.
            generator: of the training.
        """
        known = replace(sentences, tags=np.where(sentences.tags == UNKNOWN_TAG, np.uint8(0), sentences.tags))
        words = self.decoding.draw_words(known, generator).with_tags(sentences.tags)
        return self.decoding.read_words(self.augmentation.mix(words, generator))
