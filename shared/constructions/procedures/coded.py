"""What constructions have in common whose shares hold a code for every token: a public word, or a cluster of words.

A code is a row of the vocabulary, or behind these a cluster. The share tells the code and nothing else, so what it tells of a word is
seen from the release alone, without a network and on every processor. What a head gets is made of codes at the provider, and of
the words themselves in the house: see `shared.constructions.decoding`.

Narrowing: a public word that is not among the commonest shows its own code only near labelled PHI, else that of its cluster of
public words. It depends on the tags alone, which travel anyway.

A subclass that declares feature columns says what class a word has in each. It is asked about the words that stand in the place of
labelled PHI, never about PHI. Beside a cluster a column tells more of a word than the cluster does: what a subclass promises has to count that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.redrawing import Redrawing
from shared.constructions.decoding import Decoding
from shared.constructions.procedures.k_anonymous import KAnonymous
from shared.constructions.promised import Narrowed
from shared.constructions.rows import ANYWHERE, NEAR_PHI, NOWHERE, CodePlaces, ShareRows
from shared.embeddings.generalised import PUBLIC
from shared.embeddings.members import MemberVectors
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.sentences.codes import CodedSentences, SharedCodes
from shared.sentences.layout import SentenceLayout
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes

Codes: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True)
class Coded(KAnonymous):
    """A k-anonymous vocabulary, of which a share holds codes."""

    vectors: MemberVectors

    vocabulary = MemberVectors
    made_by = ("k-anonymous",)
    formerly = ()
    shows_codes = True

    @property
    def dim(self) -> int:
        """Both views of a token: the word, or a member in its place, and the centre of its cluster."""
        return 2 * self.representer.config.dim

    def codes(self, chunk: TokenisedSentences) -> Codes:
        """The code of every token as a share holds it, uint32 `[tokens]`."""
        vectors, words = self.vectors, len(self.vectors)
        ids, cluster = vectors.ids(chunk.words), vectors.cluster(chunk.words)
        known = np.maximum(ids, 0)
        public = cluster == PUBLIC
        general = np.where(public, vectors.clusters[known], cluster)
        shown = public & (vectors.narrowing.common[known] | near_phi(chunk, vectors.narrowing.window))
        return np.where(shown, known, words + general).astype(np.uint32)

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
        return np.zeros((len(words), 0), dtype=np.uint8)

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
        """See Construction: a row for every code, the same for the same code and another for another, float16 `[tokens, dim / 2]`."""
        shown = self.rehearse_codes(chunk, noise)
        codes, line = np.unique(shown.codes, return_inverse=True)
        return RaggedSentences(self._rows_of(codes)[line], shown.casing, shown.tags, shown.lengths)

    def _rows_of(self, codes: Codes) -> NDArray[np.float16]:
        """What is shown of some codes, as vectors."""
        words = len(self.vectors)
        clusters = np.maximum(codes.astype(np.int64) - words, 0)
        own = self.vectors.own_rows(np.minimum(codes, words - 1).astype(np.int64))
        vectors = np.where((codes < words)[:, None], own, self.vectors.cluster_centres[clusters])
        shown = self.representer.end_to_end_noise_free(torch.from_numpy(vectors), torch.ones(0))
        rows: NDArray[np.float16] = shown.half().numpy()
        return rows

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """See Construction: the words themselves beside the centres of their clusters."""
        return self.decoding().read_words(chunk)

    def decoding(self) -> Decoding:
        """See Construction."""
        return Decoding(self.vectors, self.representer, self.surrogate_bank)

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
        clusters = np.full(len(self.vectors.cluster_centres), ANYWHERE)
        return CodePlaces(np.concatenate([words, clusters]).astype(np.uint8), narrowing.window)

    def codebook(self) -> None:
        """None: there are no rows."""

    @property
    def exact(self) -> bool:
        """See Construction: codes are numbers."""
        return True

    @property
    def narrowed(self) -> Narrowed:
        """See Construction."""
        vectors = self.vectors
        return Narrowed(int(vectors.narrowing.common.sum()), vectors.narrowing.window, vectors.smallest_group)

    def promises(self) -> dict[str, float]:
        """What its clusters promise, and how far it is narrowed."""
        narrowing = self.vectors.narrowing
        return super().promises() | {
            "common_words": float(narrowing.common.sum()),
            "exact_window": float(narrowing.window),
        }

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """What its clusters promise, and how far it is narrowed, in words."""
        return KAnonymous.explain(stated) + explain_narrowing(stated)

    def facts(self) -> dict[str, object]:
        """See Construction."""
        narrowing = self.vectors.narrowing
        return super().facts() | {"common_words": int(narrowing.common.sum()), "exact_window": narrowing.window}


def explain_narrowing(stated: Mapping[str, float]) -> list[str]:
    """How far what is shown is narrowed, in words.

    Args:
        stated: measures of a manifest, of any construction.
    """
    if "common_words" not in stated:
        return []
    return [
        f"farther than {stated['exact_window']:.0f} words from labelled PHI the {stated['common_words']:.0f} commonest words can be read; "
        "of any other word only the group that it belongs to"
    ]


def near_phi(sentences: SentenceLayout, window: int) -> NDArray[np.bool_]:
    """Which tokens have a labelled one at most `window` tokens away in their own sentence, bool `[tokens]`."""
    marked = sentences.tags > 0
    own = sentences.sentence_of_token
    near: NDArray[np.bool_] = marked.copy()
    for distance in range(1, window + 1):
        same = own[distance:] == own[:-distance]
        near[distance:] |= marked[:-distance] & same
        near[:-distance] |= marked[distance:] & same
    return near
