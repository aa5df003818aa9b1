"""Other surrogates in every pass over a share, at the provider, so that a head does not learn one draw by heart.

A share shows each labelled span as one public span, drawn by its category, casing and punctuation. All three stand in the
share, and the spans are public: whoever trains on it can draw again, as the hospital could have, and learns nothing new of it.
It takes a construction that shows each token by itself; in any other, a token's neighbours would show the first draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from shared.anonymity.surrogates import SurrogateBank
from shared.augment.pseudonyms import is_punctuation
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES, CASING_EXAMPLES

# A head shall also meet what stands in the provider's own notes, spans and contexts together.
_SHARE = 0.5
_OTHER = CASING_CLASSES.index("other")


class Redrawing:
    """Draws new surrogates for half of the sentences that it is given.

    Args:
        bank: that the surrogates of the shares were drawn from.
        words: of the vocabulary.
        show: what a share shows of sentences whose words are public, token by token.
    """

    def __init__(
        self, bank: SurrogateBank, words: Sequence[str], show: Callable[[TokenisedSentences], RaggedSentences]
    ) -> None:
        self._bank, self._show = bank, show
        marks = [word for word in words if is_punctuation(word)]
        rows = [row.tobytes() for row in show(TokenisedSentences.single_words(marks)).values] if marks else []
        # Two marks that look alike are neither: any word may stand for them then.
        self._marks = {row: mark for row, mark in zip(rows, marks, strict=True) if rows.count(row) == 1}

    def __call__(self, sentences: RaggedSentences, generator: np.random.Generator) -> RaggedSentences:
        """The sentences, with other surrogates in half of those that have labels.

        Args:
            sentences: as they stand in a share, float16 `[tokens, dim]`.
            generator: of the training.
        """
        chosen = np.repeat(generator.random(sentences.sentences) < _SHARE, sentences.lengths)
        places = np.flatnonzero(chosen & (sentences.tags > 0))
        if not len(places):
            return sentences
        words = CASING_EXAMPLES[sentences.casing]
        for place in places[sentences.casing[places] == _OTHER].tolist():
            words[place] = self._marks.get(sentences.values[place].tobytes(), words[place])
        tags = np.where(chosen, sentences.tags, 0).astype(np.uint8)
        noise = torch.Generator().manual_seed(int(generator.integers(2**62)))
        drawn = self._bank.replace_spans(TokenisedSentences(words.tolist(), tags, sentences.lengths), noise).words
        new = self._show(TokenisedSentences.single_words([drawn[place] for place in places.tolist()]))
        values, casing = sentences.values.copy(), sentences.casing.copy()
        values[places], casing[places] = new.values, new.casing
        return RaggedSentences(values, casing, sentences.tags, sentences.lengths)
