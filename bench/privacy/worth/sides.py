"""Three sides of what a share is worth, all with the same inputs, both views of a word, and equally many steps.

The provider alone and raw notes pooled learn on the words themselves. The share goes the whole way: representer, release, `encode`,
ingest, pool, head, release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench.results_loop import private_pipeline
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.registry import find_procedure
from shared.constructions.training import TrainingMaterial
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.raw_model import train_raw_model
from shared.progress import silent
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks, tokenised_corpus
from shared.training.tagging import TaggingConfig

SIDES = ("alone", "raw", "share")
REPLACED = "replaced"
"""A control: a share that hides no more than labelled PHI and words that are not public. What it lacks, no narrowing takes."""
_EVERY_WORD = 10**9
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

    def train(self, side: str, seed: int, steps: int = STEPS) -> Pipeline:
        """A pipeline of one of SIDES, or of REPLACED, its head trained so many steps."""
        if side == "alone":
            return self._raw(self.provider, seed, steps)
        if side == "raw":
            return self._raw([*self.provider, *self.pooled], seed, steps)
        options = RepresenterOptions(common_words=_EVERY_WORD) if side == REPLACED else RepresenterOptions()
        sentences = tokenised_corpus([*self.provider, *self.pooled], load_scheme(self.scheme)).sentences
        shared = {name: list(notes) for name, notes in self.hospitals.items()}
        return private_pipeline(self.material(), shared, self.scheme, options, recipe(sentences, seed, steps))

    def _raw(self, notes: Sequence[Document], seed: int, steps: int) -> Pipeline:
        sentences = tokenised_corpus(notes, load_scheme(self.scheme)).sentences
        return train_raw_model(notes, self.construction, recipe(sentences, seed, steps))

    def material(self) -> PublicMaterial:
        """What the provider has."""
        return PublicMaterial(list(self.provider), self.vectors, iter(self.texts), self.names)


def recipe(sentences: int, seed: int, steps: int = STEPS) -> TaggingConfig:
    """As many epochs as make the steps."""
    return TaggingConfig(epochs=max(1, round(steps * _BATCH / sentences)), batch=_BATCH, seed=seed)
