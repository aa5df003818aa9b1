"""Who has what where it is asked what a share is worth: a provider, and hospitals that share with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aggregator.training.representer import PublicMaterial, RepresenterOptions
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.registry import find_procedure
from shared.constructions.training import TrainingMaterial
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.progress import silent
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.training.tagging import TaggingConfig

STEPS = 2500
_BATCH = 32


@dataclass(frozen=True, repr=False)
class Sides:
    """A provider and hospitals that share.

    Args:
        provider: labelled public notes of the provider.
        hospitals: notes of each.
        vectors: public.
        texts: public, without labels; read more than once.
        names: lists of names.
        scheme: name of the label scheme.
    """

    provider: Sequence[Document]
    hospitals: Mapping[str, Sequence[Document]]
    vectors: WordVectors
    texts: Sequence[str]
    names: tuple[tuple[str, ...], ...]
    scheme: str

    @cached_property
    def construction(self) -> CodedSurrogates:
        """The default one of this provider."""
        return self.build(RepresenterOptions())

    def build(self, options: RepresenterOptions) -> CodedSurrogates:
        """One of this provider, of codes and surrogates."""
        scheme = load_scheme(self.scheme)
        tokenised = list(tokenise_documents(self.provider))
        chunks = list(tokenised_chunks(tokenised, scheme))
        notes = np.repeat(np.arange(len(tokenised)), [len(tokens.sentence_starts) for _, tokens in tokenised])
        material = TrainingMaterial(chunks, self.vectors, scheme, iter(self.texts), self.names, notes=notes)
        made = find_procedure(options.procedure).train(material, options, silent).construction
        assert isinstance(made, CodedSurrogates)
        return made

    @property
    def pooled(self) -> list[Document]:
        """Notes of all hospitals."""
        return [note for notes in self.hospitals.values() for note in notes]

    def material(self) -> PublicMaterial:
        """What the provider has."""
        return PublicMaterial(list(self.provider), self.vectors, iter(self.texts), self.names)


def recipe(sentences: int, seed: int, steps: int = STEPS) -> TaggingConfig:
    """As many epochs as make the steps."""
    return TaggingConfig(epochs=max(1, round(steps * _BATCH / sentences)), batch=_BATCH, seed=seed)
