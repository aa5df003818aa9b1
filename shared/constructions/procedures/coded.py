"""What constructions have in common whose shares hold a code for every token: a public word, or a cluster of words.

A code is a row of the vocabulary, or behind these a cluster. The share tells the code and nothing else, so what it tells of a word is
seen from the release alone, without a network and on every processor. What a head gets is made of codes at the provider, and of
the words themselves in the house: see `shared.constructions.decoding`.

A subclass that declares feature columns says what class a word has in each. It is asked about the words that stand in the place of
labelled PHI, never about PHI. Beside a cluster a column tells more of a word than the cluster does: what a subclass promises has to count that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.redrawing import Redrawing
from shared.constructions.decoding import Decoding, decoded_dim
from shared.constructions.drawn_spans import drawn_spans
from shared.constructions.procedures.k_anonymous import KAnonymous
from shared.constructions.procedures.narrowed import Codes, NarrowedVocabulary, explain_narrowing
from shared.constructions.rows import ANYWHERE, GROUP, NEAR_PHI, NOWHERE, CodePlaces, ShareRows
from shared.labels import categories_of_dates
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.models.token_local import TokenLocal
from shared.sentences.codes import CodedSentences, SharedCodes, no_features
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from shared.text.language import guess_vocabulary


@dataclass(frozen=True)
class Coded(NarrowedVocabulary, KAnonymous):
    """A k-anonymous vocabulary, of which a share holds codes."""

    representer: TokenLocal

    made_by = ("k-anonymous",)
    formerly = ()
    shows_codes = True

    @property
    def dims(self) -> tuple[int, ...]:
        """Both views of a token, its shape and how common it is; heads of before the shapes take the views alone."""
        return decoded_dim(self.representer), 2 * self.representer.config.dim

    def share_sentences(  # type: ignore[override]
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedCodes:
        """See Construction; there is no output noise that factors could raise."""
        return SharedCodes.of(self.rehearse_codes(chunk, noise), noise)

    def rehearse_codes(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> CodedSentences:
        """All that `share_sentences` gives under this noise."""
        replaced = self.replaced(chunk, noise)
        casing, features = casing_classes(replaced.words), self.feature_classes(replaced.words)
        return CodedSentences(self.codes(replaced), casing, replaced.tags, replaced.lengths, features)

    def rehearse_features(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> NDArray[np.uint8]:
        """See Construction."""
        if not self.features:
            return super().rehearse_features(chunk, noise)
        return self.rehearse_codes(chunk, noise).features

    def feature_classes(self, words: Sequence[str]) -> NDArray[np.uint8]:
        """The class of each word in each feature column, whatever stands around it, uint8 `[words, columns]`.

        Args:
            words: that a share shows. Casing must not count: it travels by itself, and the vocabulary has none.
        """
        return no_features(len(words))

    def share_public_sentences(  # type: ignore[override]
        self, sentences: RaggedSentences, noise: PrivateSource
    ) -> SharedCodes:
        """See Construction: every word of the vocabulary by its own code, for these words are public.

        A word that the vocabulary lacks has class 0 in every feature column.
        """
        if sentences.ids is None:
            raise TypeError("expected sentences of word vectors, each word's vector once; see `index_sentences`")
        codes = sentences.ids.astype(np.uint32)
        unknown = np.flatnonzero(codes >= len(self.vectors))
        known = np.append(self.feature_classes(self.vectors.words), np.zeros((1, len(self.features)), np.uint8), axis=0)
        features = known[np.minimum(codes, len(self.vectors))]
        # What the vocabulary lacks is shown as the centre of a cluster.
        nearest = sentences.values[codes[unknown]] @ self.vectors.centres.T
        codes[unknown] = len(self.vectors) + nearest.argmax(axis=1)
        return SharedCodes(codes, sentences.casing, sentences.tags, sentences.lengths, features, under=noise)

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        """See Construction: a row for every code, the same for the same code and another for another, float16 `[tokens, representation]`."""
        shown = self.rehearse_codes(chunk, noise)
        codes, line = np.unique(shown.codes, return_inverse=True)
        return RaggedSentences(self.code_rows(codes)[line], shown.casing, shown.tags, shown.lengths)

    def code_rows(self, codes: Codes) -> NDArray[np.float16]:
        """A row for each of some codes, float16 `[codes, representation]`: the same for the same code and another for another.

        Where the representer has one row for two codes, as of too few dimensions or of equal centres, the bytes of the code stand
        behind it: attacks and measurements look at rows, and a share holds the code.
        """
        rows = self._projected(codes)
        if self._rows_tell_codes:
            return rows
        told = codes.astype("<u4").view(np.uint8).reshape(-1, 4) / 256
        return np.concatenate([rows, told.astype(np.float16)], axis=1)

    def _projected(self, codes: Codes) -> NDArray[np.float16]:
        shown = self.representer.end_to_end_noise_free(torch.from_numpy(self.vectors_of(codes)), torch.ones(0))
        rows: NDArray[np.float16] = shown.half().numpy()
        return rows

    @cached_property
    def _rows_tell_codes(self) -> bool:
        """Whether the representer has a row of its own for every code that a share can hold."""
        codes = np.flatnonzero(self.code_places().places != NOWHERE).astype(np.uint32)
        return len({row.tobytes() for row in self._projected(codes)}) == len(codes)

    def shown(self, chunk: TokenisedSentences) -> RaggedSentences:
        """See KAnonymous: what is shown of words where nothing is narrowed, as near labelled PHI."""
        near = self.codes(chunk.with_tags(np.ones_like(chunk.tags)))
        return RaggedSentences(self.code_rows(near), casing_classes(chunk.words), chunk.tags, chunk.lengths)

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """See Construction: the words themselves beside the centres of their clusters."""
        return self.decoding().read_words(chunk)

    def decoding(self) -> Decoding:
        """See Construction; always the same one, which remembers what it has looked up."""
        return self._decoding

    @cached_property
    def _decoding(self) -> Decoding:
        bank = self.surrogate_bank
        spans = None if bank is None else drawn_spans(bank, self.scheme, guess_vocabulary(self.vectors.words))
        return Decoding(self.vectors, self.representer, bank, categories_of_dates(self.scheme), spans)

    def redrawing(self) -> Redrawing | None:
        """None: surrogates are drawn where codes are read."""
        return None

    def rows(self, factor: float = 1.0) -> ShareRows:
        """See Construction; there is no noise to raise."""
        return ShareRows(0, 1.0, self.features)

    def code_places(self) -> CodePlaces:
        """See Construction."""
        narrowing = self.vectors.narrowing
        words = np.where(self.vectors.public, np.where(narrowing.common, ANYWHERE, NEAR_PHI), NOWHERE)
        clusters = np.full(len(self.vectors.cluster_centres), GROUP)
        return CodePlaces(np.concatenate([words, clusters]).astype(np.uint8), narrowing.window)

    def codebook(self) -> None:
        """None: there are no rows."""

    @property
    def exact(self) -> bool:
        """See Construction: codes are numbers."""
        return True

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """What its clusters promise, and how far it is narrowed, in words."""
        return KAnonymous.explain(stated) + explain_narrowing(stated)
