"""`k-anonymous-invariance`: the representer of `invariance` over the vocabulary of `k-anonymous`, with both guarantees.

Words of one cluster give the same but for the noise, which is to blur the borders between clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from shared.constructions.accounting import Accounting, anonymity_accounting
from shared.constructions.procedures.invariance import RECIPES
from shared.constructions.procedures.k_anonymous import Clustered, cluster_words
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.constructions.training import Procedure, Trained, TrainingMaterial, TrainingOptions
from shared.embeddings.generalised import GeneralisedVectors, fold_casing
from shared.embeddings.neighbours import Neighbours
from shared.models.representer import Representer
from shared.progress import Progress


@dataclass(frozen=True)
class KAnonymousRecurrent(Clustered, NoisyRecurrent):
    """A k-anonymous vocabulary behind noise."""

    vectors: GeneralisedVectors
    representer: Representer

    vocabulary = GeneralisedVectors
    made_by: ClassVar[tuple[str, ...]] = ("k-anonymous-invariance",)

    def account(self, sentence_tokens: int, note_tokens: int) -> Accounting:
        """See Construction."""
        return anonymity_accounting(self.anonymity, NoisyRecurrent.account(self, sentence_tokens, note_tokens))

    def promises(self) -> dict[str, float]:
        """Those of both."""
        return Clustered.promises(self) | NoisyRecurrent.promises(self)

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """Those of both, in words."""
        return Clustered.explain(stated) + NoisyRecurrent.explain(stated)


def _train(material: TrainingMaterial, options: TrainingOptions, progress: Progress) -> Trained:
    clear = fold_casing(material.vectors, material.names)
    vectors = cluster_words(clear, material, options, K_ANONYMOUS_INVARIANCE.rule)
    # Twins are near before words are clustered: all words of a cluster are as near, and shown alike anyway.
    representer, record = RECIPES.train_representer(vectors, Neighbours(clear), material, options, progress)
    made = KAnonymousRecurrent(vectors, representer, material.scheme)
    return Trained(made, record)


K_ANONYMOUS_INVARIANCE = Procedure(
    "k-anonymous-invariance", KAnonymousRecurrent, _train, clusters=True, blurs=True, augments=("phi", "context")
)
