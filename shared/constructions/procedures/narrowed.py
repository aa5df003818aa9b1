"""What constructions have in common that narrow what they show: a code for every token, a public word or a cluster of words.

A code is a row of the vocabulary, or behind these a cluster. A public word that is not among the commonest shows its own code only near
labelled PHI, else that of its cluster of public words; a hidden word shows that of its cluster. It depends on the tags alone, which
travel anyway. Whether a share holds the codes or what a network makes of them is for the construction to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.anonymity.public_words import PublicRule
from shared.constructions.procedures.k_anonymous import Clustered, cluster_counted
from shared.constructions.promised import Narrowed, name_common
from shared.constructions.training import TrainingMaterial, TrainingOptions
from shared.embeddings.generalised import PUBLIC, fold_casing
from shared.embeddings.members import MemberVectors, keep_members
from shared.labels import UNKNOWN_TAG
from shared.sentences.layout import SentenceLayout
from shared.sentences.tokenised import TokenisedSentences

Codes: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True)
class NarrowedVocabulary(Clustered):
    """A k-anonymous vocabulary, of which less is shown far from labelled PHI."""

    vectors: MemberVectors

    vocabulary = MemberVectors

    def codes(self, chunk: TokenisedSentences) -> Codes:
        """What is shown of every token, uint32 `[tokens]`."""
        vectors, words = self.vectors, len(self.vectors)
        # Most words of a text recur: each is looked up once.
        places = {word: place for place, word in enumerate(dict.fromkeys(chunk.words))}
        line = np.fromiter(map(places.__getitem__, chunk.words), np.int64, count=len(chunk.words))
        known, cluster = np.maximum(vectors.ids(list(places)), 0)[line], vectors.cluster(list(places))[line]
        public = cluster == PUBLIC
        general = np.where(public, vectors.clusters[known], cluster)
        shown = public & (vectors.narrowing.common[known] | near_phi(chunk, vectors.narrowing.window))
        return np.where(shown, known, words + general).astype(np.uint32)

    def vectors_of(self, codes: Codes) -> NDArray[np.float32]:
        """The vectors of what some codes stand for: a word, or the centre of a cluster. float32 `[codes, dim]`."""
        words = len(self.vectors)
        clusters = np.maximum(codes.astype(np.int64) - words, 0)
        own = self.vectors.own_rows(np.minimum(codes, words - 1).astype(np.int64))
        return np.where((codes < words)[:, None], own, self.vectors.cluster_centres[clusters])

    @property
    def narrowed(self) -> Narrowed:
        """See Construction."""
        vectors = self.vectors
        common = np.flatnonzero(vectors.narrowing.common)
        named = name_common(vectors.words[row] for row in common.tolist())
        return Narrowed(len(common), vectors.narrowing.window, vectors.smallest_group, named)

    def promises(self) -> dict[str, float]:
        """What its clusters promise, and how far it is narrowed."""
        narrowing = self.vectors.narrowing
        return super().promises() | {
            "common_words": float(narrowing.common.sum()),
            "exact_window": float(narrowing.window),
        }

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
        f"farther than {stated['exact_window']:.0f} words from labelled PHI {stated['common_words']:.0f} of the commonest words can be read; "
        "of any other word only the group that it belongs to"
    ]


def near_phi(sentences: SentenceLayout, window: int) -> NDArray[np.bool_]:
    """Which tokens have a labelled one at most `window` tokens away in their own sentence, bool `[tokens]`.

    One that is hidden although nobody labelled it opens no window: who finds it, the provider's pipeline among them, would decide what can be read.
    """
    marked = (sentences.tags > 0) & (sentences.tags != UNKNOWN_TAG)
    own = sentences.sentence_of_token
    near: NDArray[np.bool_] = marked.copy()
    for distance in range(1, window + 1):
        same = own[distance:] == own[:-distance]
        near[distance:] |= marked[:-distance] & same
        near[:-distance] |= marked[distance:] & same
    return near


def narrow_words(material: TrainingMaterial, options: TrainingOptions, rule: PublicRule) -> MemberVectors:
    """The vocabulary of such a construction; see `keep_members`.

    Raises:
        ConfigurationError: as for `cluster_counted`.
    """
    clear = fold_casing(material.vectors, material.names)
    shown, use = cluster_counted(clear, material, options, rule)
    return keep_members(
        clear,
        shown,
        use.frequencies,
        use.topicality,
        options.common_words,
        options.exact_window,
        options.cluster_size,
        options.group_size,
    )
