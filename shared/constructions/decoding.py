"""From the codes of a share to what a head gets, and from the words of a note in-house to the same.

A head sees a word, and beside it the centre of its cluster: the centre generalises, since an unknown surname looks like all surnames,
and the word tells it from others. Of a hidden word a share tells the cluster alone, so any member stands in for it, another one
in every pass; and of labelled PHI it tells category, casing and punctuation, so other public PHI takes its place in every pass.
All of it is computed from the share and from what is public.

So reading goes by words: those of a share are drawn (`draw_words`), those of a note are there, and both are looked up alike (`read_words`).
Beside the two views a head sees what a word looks like, how common it is in public text (`shared.text.shape`), and whether a dictionary that
comes with the program has it as a word that names nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.drawn_dates import draw_dates
from shared.anonymity.public_lists import PublicList, on_public_lists
from shared.anonymity.shipped_lists import dictionary_words, lists_of
from shared.anonymity.surrogates import SurrogateBank
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.drawn_spans import DrawnSpans
from shared.embeddings.members import MemberVectors
from shared.labels import tag_spans
from shared.models.token_local import TokenLocal
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES, CASING_EXAMPLES, casing_classes, spelled
from shared.text.language import guess_vocabulary
from shared.text.shape import RANKS, SHAPES, rank_marks, word_shapes

# A head shall also meet what stands in the provider's own notes, spans and contexts together.
_SHARE = 0.5
_NUMERIC = CASING_CLASSES.index("numeric")
# Whether a word is on a public list of words that name nobody.
_LISTED = 1
# A member that can't be written as the token was is drawn so many times again: a name does not stand in for a number.
_REDRAWS = 3
# Of hidden words in a note about so many are in no vocabulary: a head that never met one takes it for a name.
_STRANGERS, _STRANGER_SHARE = 20_000, 0.25
# Classes of words with digits, and of those that the vocabulary has in small letters.
_AS_THEY_ARE = frozenset(map(CASING_CLASSES.index, ("numeric", "mainly numeric", "contains digit", "all lower")))
_WITH_DIGITS = frozenset(map(CASING_CLASSES.index, ("numeric", "mainly numeric", "contains digit")))


def decoded_dim(representer: TokenLocal) -> int:
    """Numbers of what a head gets for a token of codes."""
    return 2 * representer.config.dim + SHAPES + RANKS + _LISTED


@dataclass(frozen=True)
class Decoding:
    """Reads codes and words of one construction.

    Args:
        vectors: of its words.
        representer: turns each view into what the head gets.
        bank: public PHI; None where the share has the places of labelled PHI as those of other words.
        dates: numbers of the categories of days.
        spans: draws whole spans of which the bank has pieces alone; None for nothing.
    """

    vectors: MemberVectors
    representer: TokenLocal
    bank: SurrogateBank | None
    dates: frozenset[int] = frozenset()
    spans: DrawnSpans | None = None

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
        draw_dates(words, sentences.tags, self.dates, day_first=self._language != "English", generator=generator)
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
            self._estrange(written, clusters[places], casing[places], generator)
            for place, word in zip(places.tolist(), written, strict=True):
                words[place] = word
            places = places[casing_classes(written) != casing[places]]
        shown = np.flatnonzero(sentences.codes < len(self.vectors))
        for place, word in zip(shown.tolist(), self._written(ids[shown], casing[shown]), strict=True):
            words[place] = word
        return words

    def _estrange(
        self, written: list[str], clusters: NDArray[np.int64], casing: NDArray[np.uint8], generator: np.random.Generator
    ) -> None:
        """Let some of the words that stand for a cluster be words of it that the vocabulary lacks: of a dictionary, or other numbers."""
        strangers, starts = self._strangers
        chance = generator.random((2, len(written)))
        for place in np.flatnonzero(chance[0] < _STRANGER_SHARE).tolist():
            kind, cluster = int(casing[place]), int(clusters[place])
            if kind == _NUMERIC and written[place].isdecimal():
                written[place] = f"{int(chance[1, place] * 10 ** len(written[place])):0{len(written[place])}d}"
            elif kind not in _WITH_DIGITS and cluster + 1 < len(starts) and starts[cluster] < starts[cluster + 1]:
                first, last = starts[cluster], starts[cluster + 1]
                word = strangers[first + int(chance[1, place] * (last - first))]
                written[place] = spelled(word, kind)

    @cached_property
    def _strangers(self) -> tuple[list[str], list[int]]:
        """Words of dictionaries that the vocabulary lacks, cluster by cluster as a share would show them, and where each cluster starts."""
        if self.vectors.subwords is None:
            return [], []
        drawn = dictionary_words(self._language, _STRANGERS)
        words = [word for word, known in zip(drawn, self.vectors.ids(drawn).tolist(), strict=True) if known < 0]
        clusters = self.vectors.cluster(words)
        order = np.argsort(clusters, kind="stable")
        starts = np.searchsorted(clusters[order], np.arange(len(self.vectors.centres) + 1))
        return [words[row] for row in order.tolist()], starts.tolist()

    def _written(self, ids: NDArray[np.int64], casing: NDArray[np.uint8]) -> list[str]:
        words = self.vectors.words
        return [
            words[row] if kind in _AS_THEY_ARE else spelled(words[row], kind)
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
        if self.spans is not None:
            for start, end, category in tag_spans(tags):
                drawn[start:end] = self.spans.draw(category, words[start:end].tolist(), generator) or drawn[start:end]
        return places, [drawn[place] for place in places.tolist()]

    def _own_notes(self, sentences: CodedSentences) -> NDArray[np.bool_]:
        """Tokens that only the provider's own notes can hold: hidden words by their own codes, bool `[tokens]`."""
        codes = sentences.codes
        known = np.minimum(codes, len(self.vectors) - 1)
        own: NDArray[np.bool_] = (codes < len(self.vectors)) & ~self.vectors.public[known]
        return own

    def _rows(self, words: list[str]) -> NDArray[np.float16]:
        """Both views of each word, its shape, how common it is and whether a dictionary has it, float16 `[words, dim]`."""
        listed = on_public_lists(words, self._lists).astype(np.float16)[:, None]
        ranks = rank_marks(self.vectors.ids(words))
        return np.concatenate([self._views(words), word_shapes(words), ranks, listed], axis=1)

    @property
    def _lists(self) -> tuple[PublicList, ...]:
        return lists_of(self._language)

    @cached_property
    def _language(self) -> str | None:
        return guess_vocabulary(self.vectors.words)

    def _views(self, words: list[str]) -> NDArray[np.float16]:
        """Both views through the representer, float16 `[words, 2 * representation]`."""
        views, config = self.vectors.both_views(words), self.representer.config
        if config.dim == config.inputs:
            # A rotation of the whole space changes nothing for a head.
            return views.astype(np.float16)
        both = torch.from_numpy(views.reshape(-1, config.inputs))
        shown: NDArray[np.float16] = self.representer.end_to_end_noise_free(both, torch.ones(0)).half().numpy()
        return shown.reshape(-1, 2 * config.dim)
