"""From the codes of a share to what a head gets, and from the words of a note in-house to the same.

A head sees a word, and beside it the centre of its cluster: the centre generalises, since an unknown surname looks like all surnames,
and the word tells it from others. Of a hidden word a share tells the cluster alone, so any member stands in for it, another one
in every pass; and of labelled PHI it tells category, casing and punctuation, so other public PHI takes its place in every pass.
All of it is computed from the share and from what is public.
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
from shared.text.casing import CASING_CLASSES, CASING_EXAMPLES, casing_classes, spelled

# A head shall also meet what stands in the provider's own notes, spans and contexts together.
_SHARE = 0.5
_SMALL = CASING_CLASSES.index("all lower")


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
        return 2 * self.representer.config.dim

    def read_words(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets in-house: float16 rows, one for each different word, and ids into them."""
        places: dict[str, int] = {}
        ids = np.fromiter((places.setdefault(word, len(places)) for word in chunk.words), np.int32, len(chunk.words))
        rows = self._project(self.vectors.both_views(list(places)))
        return RaggedSentences(rows, casing_classes(chunk.words), chunk.tags, chunk.lengths, ids)

    def read_codes(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What the head gets of a share, under one draw of members and surrogates.

        Args:
            sentences: of a share, or of the provider's own notes.
            generator: of the training.
        """
        ids = self._members(sentences.codes, generator)
        rows, line = np.unique(ids, return_inverse=True)
        views = np.concatenate(
            [self.vectors.own_rows(rows), self.vectors.cluster_centres[self.vectors.clusters[rows]]], axis=1
        )
        casing = sentences.casing
        if self.bank is not None:
            places, drawn = self._surrogates(sentences, self.bank, generator)
            words = list(dict.fromkeys(drawn))
            index = {word: len(views) + number for number, word in enumerate(words)}
            line[places] = [index[word] for word in drawn]
            casing = casing.copy()
            casing[places] = casing_classes(drawn)
            views = np.concatenate([views, self.vectors.both_views(words)])
        return RaggedSentences(self._project(views), casing, sentences.tags, sentences.lengths, line.astype(np.int32))

    def draw_words(self, sentences: CodedSentences, generator: np.random.Generator) -> TokenisedSentences:
        """The words of one draw of members and surrogates, each written in the casing class that travels, as far as it can be.

        Args:
            sentences: as in `read_codes`.
            generator: of the training.
        """
        ids = self._members(sentences.codes, generator)
        words = [self.vectors.words[row] for row in ids.tolist()]
        # The vocabulary is in small letters.
        for place in np.flatnonzero(sentences.casing != _SMALL).tolist():
            words[place] = spelled(words[place], int(sentences.casing[place]))
        if self.bank is not None:
            places, drawn = self._surrogates(sentences, self.bank, generator)
            for place, word in zip(places.tolist(), drawn, strict=True):
                words[place] = word
        return TokenisedSentences(words, sentences.tags, sentences.lengths)

    def _members(self, codes: NDArray[np.uint32], generator: np.random.Generator) -> NDArray[np.int64]:
        """A word of the vocabulary for every code: itself, or any of its cluster."""
        ids = codes.astype(np.int64)
        hidden = np.flatnonzero(ids >= len(self.vectors))
        order, starts = self.vectors.members
        cluster = ids[hidden] - len(self.vectors)
        sizes = starts[cluster + 1] - starts[cluster]
        ids[hidden] = order[starts[cluster] + (generator.random(len(hidden)) * sizes).astype(np.int64)]
        return ids

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

    def _project(self, views: NDArray[np.float32]) -> NDArray[np.float16]:
        """Both views through the representer, side by side, float16 `[rows, dim]`."""
        config = self.representer.config
        if config.dim == config.inputs:
            # A rotation of the whole space changes nothing for a head.
            return views.astype(np.float16)
        both = torch.from_numpy(views.reshape(-1, config.inputs))
        shown: NDArray[np.float16] = self.representer.end_to_end_noise_free(both, torch.ones(0)).half().numpy()
        return shown.reshape(-1, self.dim)
