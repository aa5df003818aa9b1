"""`k-anonymous-centres`: words outside a public list show the cluster of at least K words that they belong to, and no noise follows.

A network is not needed: the vectors are projected onto their main directions, token by token. Words of one cluster are shown
alike, bit for bit; words of two are told apart for sure. See `shared.embeddings.generalised`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.public_lists import on_public_lists
from shared.anonymity.public_words import PublicRule, WordUse
from shared.constructions.accounting import Accounting, Anonymity, anonymity_accounting
from shared.constructions.construction import Construction, OwnSet, Protection, Trials, WordChanges
from shared.constructions.promised import Clusters, PublicList, count_clusters
from shared.constructions.training import Procedure, Trained, TrainingMaterial, TrainingOptions
from shared.embeddings.distinct import DistinctVectors
from shared.embeddings.generalised import PUBLIC, FoldedVectors, GeneralisedVectors, fold_casing, generalise
from shared.embeddings.vectors import WordVectors
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.models.token_local import TokenLocal, fit_token_local
from shared.progress import Progress
from shared.sentences.encoding import embed_sentences, represent_noise_free
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences


@dataclass(frozen=True)
class Clustered(Construction):
    """What every construction with a k-anonymous vocabulary has in common."""

    vectors: GeneralisedVectors

    vocabulary: ClassVar[type[GeneralisedVectors]] = GeneralisedVectors

    def are_public(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """See Construction."""
        public: NDArray[np.bool_] = self.vectors.cluster(words) == PUBLIC
        return public

    def distinct_vectors(self) -> WordVectors:
        """See Construction."""
        return DistinctVectors(self.vectors)

    def own_set(self) -> OwnSet | None:
        """The words of the same cluster."""
        members: dict[int, list[str]] = {}
        for word, own in zip(self.vectors.words, self.vectors.classes.tolist(), strict=True):
            if own != PUBLIC:
                members.setdefault(own, []).append(word)
        return lambda word: members.get(int(self.vectors.cluster([word])[0]), [])

    @property
    def anonymity(self) -> Anonymity:
        """How far words look alike."""
        return Anonymity(self.vectors.k, self.vectors.k_in_casing, self.vectors.largest_share)

    def count_clusters(self, lists: Sequence[PublicList]) -> Clusters:
        """See Construction."""
        words = self.vectors.words
        return count_clusters(words, self.vectors.rows(words), self.vectors.classes, lists)

    def promises(self) -> dict[str, float]:
        """The size of the smallest cluster."""
        return {"surrogates": 0.0, "cluster_size": float(self.vectors.k)}

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """See Construction."""
        if "cluster_size" not in stated:
            return []
        return [
            f"words that are not common in public text look like at least {stated['cluster_size']:.0f} others, but for their casing, "
            "which travels; common words can be read"
        ]

    def facts(self) -> dict[str, object]:
        """See Construction."""
        return {
            "public_words": self.vectors.public_words,
            "clusters": len(self.vectors.centres),
            "smallest_cluster": self.vectors.k,
            "largest_share": self.vectors.largest_share,
            **super().facts(),
        }


@dataclass(frozen=True)
class KAnonymous(Clustered):
    """A k-anonymous vocabulary, shown token by token."""

    representer: TokenLocal

    protection = Protection.LIKENESS
    made_by: ClassVar[tuple[str, ...]] = ("k-anonymous-centres",)
    formerly: ClassVar[tuple[str, ...]] = ("k-anonymous",)
    network = TokenLocal

    def share_sentences(
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedSentences:
        """See Construction; there is no output noise that factors could raise."""
        return SharedSentences.of(self.shown(self.replaced(chunk, noise)), noise)

    def share_public_sentences(self, sentences: RaggedSentences, noise: PrivateSource) -> SharedSentences:
        """See Construction."""
        return SharedSentences.of(represent_noise_free(sentences, self.representer), noise)

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        """See Construction."""
        return self.shown(self.replaced(chunk, noise))

    def replaced(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> TokenisedSentences:
        """The sentences whose words are shown: here, as they are."""
        return chunk

    def shown(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What is shown of words, wherever they stand, float16 `[tokens, dim]`."""
        return represent_noise_free(embed_sentences(chunk, self.vectors), self.representer)

    def codebook(self) -> NDArray[np.float16] | None:
        """A row for each public word and each cluster: what the vocabulary lacks shows the cluster that it is nearest to."""
        # Laid out as words of a text are, so that the rows are those that a text gets.
        shown = RaggedSentences(
            self.vectors.matrix,
            np.zeros(len(self.vectors), dtype=np.uint8),
            np.zeros(len(self.vectors), dtype=np.uint8),
            np.ones(len(self.vectors), dtype=np.int64),
        )
        rows = represent_noise_free(shown, self.representer).values
        distinct: NDArray[np.float16] = np.unique(rows.view(np.uint16), axis=0).view(np.float16)
        return distinct

    @property
    def exact(self) -> bool:
        """See Construction."""
        return bool(self.representer.config.fraction_bits)

    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        """See Construction."""
        return anonymity_accounting(self.anonymity)

    def divergences(self, chunk: TokenisedSentences, changes: WordChanges, trials: Trials) -> NDArray[np.float64]:
        """0 where both words are shown alike, infinite where not."""
        attacked, line = np.unique(changes.tokens, return_inverse=True)
        shown = self._classes([*changes.words, *(chunk.words[token] for token in attacked.tolist())])
        alike = shown[changes.places] == shown[len(changes.words) + line]
        return np.where(alike, 0.0, np.inf)[None]

    def _classes(self, words: Sequence[str]) -> NDArray[np.int64]:
        """A number for each word, the same for words that are shown in the same way."""
        distinct = {word: place for place, word in enumerate(dict.fromkeys(words))}
        seen: dict[bytes, int] = {}
        rows = self.shown(TokenisedSentences.single_words(list(distinct))).values
        shown = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows])
        return shown[[distinct[word] for word in words]]


def cluster_words(
    vectors: FoldedVectors, material: TrainingMaterial, options: TrainingOptions, rule: PublicRule
) -> GeneralisedVectors:
    """Word vectors in which a word outside the public list shows its cluster only; see `cluster_counted`."""
    return cluster_counted(vectors, material, options, rule)[0]


def cluster_counted(
    vectors: FoldedVectors, material: TrainingMaterial, options: TrainingOptions, rule: PublicRule
) -> tuple[GeneralisedVectors, WordUse]:
    """The same, and how public text uses the words.

    Args:
        vectors: of all words, as they are.
        material: labelled notes, texts and names.
        options: what a cluster must keep, and when a word is public.
        rule: when a word is public, if the options do not say.

    Raises:
        ConfigurationError: as for `generalise`.
    """
    names = frozenset(word for words in material.names for word in words)
    use = WordUse(vectors.words)
    first = 0
    for chunk in material.chunks:
        use.add_labelled(chunk, None if material.notes is None else material.notes[first : first + chunk.sentences])
        first += chunk.sentences
    use.add_texts(material.texts)
    public = use.find_public(options.public or rule, names) & on_public_lists(vectors.words, material.public_lists)
    shown = generalise(vectors, public, options.cluster_size, use.frequencies, options.max_share)
    return shown, use


def project(vectors: WordVectors, options: TrainingOptions) -> TokenLocal:
    """The representer of constructions without a network."""
    return fit_token_local(torch.tensor(vectors.matrix), options.dim or vectors.dim)


def _train(material: TrainingMaterial, options: TrainingOptions, progress: Progress) -> Trained:
    vectors = cluster_words(fold_casing(material.vectors, material.names), material, options, K_ANONYMOUS_CENTRES.rule)
    made = KAnonymous(vectors, project(vectors, options), material.scheme)
    return Trained(made)


K_ANONYMOUS_CENTRES = Procedure("k-anonymous-centres", KAnonymous, _train, clusters=True)
