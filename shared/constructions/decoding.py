"""From the codes of a share to what a head gets, and from the words of a note in-house to the same.

A head sees a word, and beside it the centre of its cluster: the centre generalises, since an unknown surname looks like all surnames,
and the word tells it from others. Of a hidden word a share tells the cluster alone, so any member stands in for it, another one
in every pass; and of labelled PHI it tells category, casing and punctuation, so other public PHI takes its place in every pass.
All of it is computed from the share and from what is public.

So reading goes by words: those of a share are drawn (`draw_words`), those of a note are there, and both are looked up alike (`read_words`).
Beside the two views a head sees what a word looks like and how common it is in public text (`shared.text.shape`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.surrogates import SurrogateBank
from shared.augment.pseudonyms import is_punctuation
from shared.embeddings.members import MemberVectors
from shared.models.token_local import TokenLocal
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES, CASING_EXAMPLES, cased_like, casing_classes
from shared.text.shape import RANKS, SHAPES, rank_marks, word_shapes

# A head shall also meet what stands in the provider's own notes, spans and contexts together.
_SHARE = 0.5
# A member that can't be written as the token was is drawn so many times again: a name does not stand in for a number.
_REDRAWS = 3
# Classes of the words with digits, and of what is neither: their letters say no more of how they are written.
_WITHOUT_CASE = frozenset(
    CASING_CLASSES.index(name) for name in ("numeric", "mainly numeric", "contains digit", "other")
)


def decoded_dim(representer: TokenLocal) -> int:
    """Numbers of what a head gets for a token of codes."""
    return 2 * representer.config.dim + SHAPES + RANKS


@dataclass(frozen=True)
class Decoding:
    """Reads codes and words of one construction.

    Args:
        vectors: of its words.
        representer: turns each view into what the head gets.
        bank: public PHI; None where the share has the places of labelled PHI as those of other words.
    """

    vectors: MemberVectors
    representer: TokenLocal
    bank: SurrogateBank | None

    @property
    def dim(self) -> int:
        """Numbers of what the head gets for a token."""
        return decoded_dim(self.representer)

    def read_words(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets of words: float16 rows, one for each different word, and ids into them."""
        words, ids = chunk.distinct_words()
        return RaggedSentences(self._rows(words), casing_classes(chunk.words), chunk.tags, chunk.lengths, ids)

    def read_codes(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What the head gets of a share, under one draw of members and surrogates.

        Args:
            sentences: of a share, or of the provider's own notes.
            generator: of the training.
        """
        return self.read_words(self.draw_words(sentences, generator))

    def draw_words(self, sentences: CodedSentences, generator: np.random.Generator) -> TokenisedSentences:
        """Words that a share may have been made of, as far as it tells: public ones, members and other public PHI.

        Args:
            sentences: of a share, or of the provider's own notes.
            generator: of the training.
        """
        words = self._members(sentences, generator)
        if self.bank is not None:
            places, drawn = self._surrogates(sentences, self.bank, generator)
            for place, word in zip(places.tolist(), drawn, strict=True):
                words[place] = word
        return TokenisedSentences(words, sentences.tags, sentences.lengths)

    def _members(self, sentences: CodedSentences, generator: np.random.Generator) -> list[str]:
        """For every code a word of the vocabulary, itself or any of its cluster, as the token was written."""
        ids = sentences.codes.astype(np.int64)
        places = np.flatnonzero(ids >= len(self.vectors))
        clusters = ids - len(self.vectors)
        order, starts = self.vectors.members
        words, casing = [""] * len(ids), sentences.casing
        for _ in range(1 + _REDRAWS):
            first = starts[clusters[places]]
            sizes = starts[clusters[places] + 1] - first
            ids[places] = order[first + (generator.random(len(places)) * sizes).astype(np.int64)]
            written = self._written(ids[places], casing[places])
            for place, word in zip(places.tolist(), written, strict=True):
                words[place] = word
            places = places[casing_classes(written) != casing[places]]
        shown = np.flatnonzero(sentences.codes < len(self.vectors))
        for place, word in zip(shown.tolist(), self._written(ids[shown], casing[shown]), strict=True):
            words[place] = word
        return words

    def _written(self, ids: NDArray[np.int64], casing: NDArray[np.uint8]) -> list[str]:
        words, examples = self.vectors.words, CASING_EXAMPLES.tolist()
        return [
            words[row] if kind in _WITHOUT_CASE else cased_like(words[row], examples[kind])
            for row, kind in zip(ids.tolist(), casing.tolist(), strict=True)
        ]

    def _surrogates(
        self, sentences: CodedSentences, bank: SurrogateBank, generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Where other public PHI takes the place of what is labelled, and its words."""
        redrawn = ~sentences.sentences_with(self._own_notes(sentences))
        redrawn |= generator.random(sentences.sentences) < _SHARE
        inside = np.repeat(redrawn, sentences.lengths)
        places = np.flatnonzero(inside & (sentences.tags > 0))
        words = CASING_EXAMPLES[sentences.casing]
        for place in places.tolist():
            code = int(sentences.codes[place])
            if code < len(self.vectors) and is_punctuation(self.vectors.words[code]):
                words[place] = self.vectors.words[code]
        tags = np.where(inside, sentences.tags, 0).astype(np.uint8)
        noise = torch.Generator().manual_seed(int(generator.integers(2**62)))
        drawn = bank.replace_spans(TokenisedSentences(words.tolist(), tags, sentences.lengths), noise).words
        return places, [drawn[place] for place in places.tolist()]

    def _own_notes(self, sentences: CodedSentences) -> NDArray[np.bool_]:
        """Tokens that only the provider's own notes can hold: hidden words by their own codes, bool `[tokens]`."""
        codes = sentences.codes
        known = np.minimum(codes, len(self.vectors) - 1)
        own: NDArray[np.bool_] = (codes < len(self.vectors)) & ~self.vectors.public[known]
        return own

    def _rows(self, words: list[str]) -> NDArray[np.float16]:
        """Both views of each word, its shape and how common it is, side by side, float16 `[words, dim]`."""
        marks = np.concatenate([word_shapes(words), rank_marks(self.vectors.ids(words))], axis=1)
        return np.concatenate([self._views(words), marks], axis=1)

    def _views(self, words: list[str]) -> NDArray[np.float16]:
        """Both views through the representer, float16 `[words, 2 * representation]`."""
        views, config = self.vectors.both_views(words), self.representer.config
        if config.dim == config.inputs:
            # A rotation of the whole space changes nothing for a head.
            return views.astype(np.float16)
        both = torch.from_numpy(views.reshape(-1, config.inputs))
        shown: NDArray[np.float16] = self.representer.end_to_end_noise_free(both, torch.ones(0)).half().numpy()
        return shown.reshape(-1, 2 * config.dim)
