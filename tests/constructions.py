"""Constructions that are put together by hand, so that nothing has to be trained; and one that no procedure makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from foundation.feature_columns import FeatureColumn
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.accounting import Accounting
from shared.constructions.construction import Construction, Protection, Trials, WordChanges
from shared.constructions.procedures.coded import Coded
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.procedures.k_anonymous import KAnonymous
from shared.constructions.procedures.noisy_surrogates import NoisySurrogates
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.constructions.procedures.surrogates import Surrogates
from shared.embeddings.generalised import GeneralisedVectors, fold_casing, generalise
from shared.embeddings.members import MemberVectors, keep_members
from shared.embeddings.vectors import WordVectors
from shared.labels import LabelScheme
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.models.token_local import TokenLocal, TokenLocalConfig
from shared.sentences.codes import CodedSentences
from shared.sentences.encoding import represent_noise_free
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences


@dataclass(frozen=True)
class Transparent(Construction):
    """Word vectors as they are: nothing protects them, and whoever attacks them must find them out."""

    representer: TokenLocal

    protection = Protection.LIKENESS
    vocabulary = WordVectors
    network = TokenLocal

    def share_sentences(
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedSentences:
        return SharedSentences.of(self.noise_free(chunk), noise)

    def share_public_sentences(self, sentences: RaggedSentences, noise: PrivateSource) -> SharedSentences:
        return SharedSentences.of(represent_noise_free(sentences, self.representer), noise)

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        return self.noise_free(chunk)

    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        return Accounting("none", (), "No noise, so no epsilon, and no other guarantee.")

    def divergences(self, chunk: TokenisedSentences, changes: WordChanges, trials: Trials) -> NDArray[np.float64]:
        true = self.noise_free(
            TokenisedSentences.single_words([chunk.words[token] for token in changes.tokens.tolist()])
        )
        other = self.noise_free(TokenisedSentences.single_words(list(changes.words))).values[changes.places]
        return np.where((true.values == other).all(1), 0.0, np.inf)[None]

    def promises(self) -> dict[str, float]:
        return {"surrogates": 0.0}

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        return []


@dataclass(frozen=True)
class WithLengths(CodedSurrogates):
    """Tells how long words are, in a feature column; no procedure makes it."""

    @property
    def features(self) -> tuple[FeatureColumn, ...]:
        return (FeatureColumn("length_class", 4), FeatureColumn("vowel", 2))

    def feature_classes(self, words: Sequence[str]) -> NDArray[np.uint8]:
        told = [(min(len(word) // 3, 3), int(word[0].lower() in "aeiou")) for word in words]
        return np.array(told, dtype=np.uint8).reshape(len(words), 2)


@dataclass(frozen=True)
class LeakingLengths(WithLengths):
    """The same of the words in the notes, be they PHI."""

    def rehearse_codes(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> CodedSentences:
        return replace(super().rehearse_codes(chunk, noise), features=self.feature_classes(chunk.words))


def unchanged(dim: int) -> TokenLocal:
    """A representer that shows word vectors as they are."""
    return TokenLocal(TokenLocalConfig(dim, dim)).eval()


def transparent(vectors: WordVectors, scheme: LabelScheme) -> Transparent:
    return Transparent(vectors, unchanged(vectors.dim), scheme)


def clusters(vectors: WordVectors, k: int = 2, public: NDArray[np.bool_] | None = None) -> GeneralisedVectors:
    """A k-anonymous vocabulary; by default without public words."""
    folded = fold_casing(vectors)
    return generalise(folded, np.zeros(len(folded), dtype=np.bool_) if public is None else public, k)


def members(shown: GeneralisedVectors, common: int = 200, window: int = 3) -> MemberVectors:
    """The vocabulary of a construction of codes, whose hidden words all look like their centres."""
    if isinstance(shown, MemberVectors):
        return shown
    frequencies = np.arange(len(shown), 0, -1)
    return keep_members(shown, shown, frequencies, -frequencies.astype(np.float64), common, window, 2)


def k_anonymous(vectors: GeneralisedVectors, scheme: LabelScheme) -> Coded:
    return Coded(members(vectors), unchanged(vectors.dim), scheme)


def surrogates(vectors: GeneralisedVectors, scheme: LabelScheme, bank: SurrogateBank) -> CodedSurrogates:
    return CodedSurrogates(members(vectors), unchanged(vectors.dim), scheme, bank)


def k_anonymous_centres(vectors: GeneralisedVectors, scheme: LabelScheme) -> KAnonymous:
    """As version 0.1 made it: shares of vectors."""
    return KAnonymous(vectors, unchanged(vectors.dim), scheme)


def surrogates_centres(vectors: GeneralisedVectors, scheme: LabelScheme, bank: SurrogateBank) -> Surrogates:
    """As version 0.1 made it: shares of vectors."""
    return Surrogates(vectors, unchanged(vectors.dim), scheme, bank)


def noisy_surrogates(
    vectors: GeneralisedVectors, scheme: LabelScheme, bank: SurrogateBank, config: RepresenterConfig
) -> NoisySurrogates:
    """Surrogates and narrowed words behind a network that nobody has trained."""
    torch.manual_seed(0)
    return NoisySurrogates(members(vectors), Representer(config).eval().requires_grad_(False), scheme, bank)


def noisy(vectors: WordVectors, scheme: LabelScheme, config: RepresenterConfig) -> NoisyRecurrent:
    """Noise behind a network that nobody has trained."""
    torch.manual_seed(0)
    return NoisyRecurrent(vectors, Representer(config).eval().requires_grad_(False), scheme)
