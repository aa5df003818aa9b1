"""`surrogates`, the default, and `k-anonymous`: shares of codes.

What is shown of a word is as in `surrogates_centres` and `k_anonymous_centres`, of which these are the successors, and less: what is
far from PHI is narrowed. What a head gets of it is more: see `shared.constructions.procedures.coded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.anonymity.public_words import PublicRule
from shared.constructions.procedures.coded import Coded
from shared.constructions.procedures.k_anonymous import project
from shared.constructions.procedures.narrowed import explain_narrowing, narrow_words
from shared.constructions.procedures.surrogates import Surrogates, draw_bank
from shared.constructions.training import Procedure, Trained, TrainingMaterial, TrainingOptions
from shared.embeddings.members import MemberVectors
from shared.progress import Progress


@dataclass(frozen=True)
class CodedSurrogates(Coded, Surrogates):
    """Public PHI in the place of a hospital's own, and codes for all that is shown."""

    vectors: MemberVectors

    made_by = ("surrogates",)
    formerly = ()

    @staticmethod
    def explain(stated: Mapping[str, float]) -> list[str]:
        """What both say."""
        return Surrogates.explain(stated) + explain_narrowing(stated)


def _train_k_anonymous(material: TrainingMaterial, options: TrainingOptions, progress: Progress) -> Trained:
    vectors = narrow_words(material, options, K_ANONYMOUS.rule)
    return Trained(Coded(vectors, project(vectors, options), material.scheme))


def _train_surrogates(material: TrainingMaterial, options: TrainingOptions, progress: Progress) -> Trained:
    vectors = narrow_words(material, options, SURROGATES.rule)
    bank = draw_bank(material, options, vectors)
    return Trained(CodedSurrogates(vectors, project(vectors, options), material.scheme, bank))


K_ANONYMOUS = Procedure("k-anonymous", Coded, _train_k_anonymous, clusters=True, narrows=True)
# Surrogates take the place of labelled PHI ahead of the vocabulary, so a word is not asked how often it is PHI.
SURROGATES = Procedure(
    "surrogates", CodedSurrogates, _train_surrogates, clusters=True, narrows=True, rule=PublicRule(), augments=("phi",)
)
