"""The hospitals of `en_sites`, A as the provider: their notes under the default construction, and how a head does on test notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bench import corpora
from bench.outcomes import RUNS
from bench.privacy.worth.pool import pooled_codes
from bench.privacy.worth.sites import sides_of
from foundation.folders import new_folder
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.evaluation import binary_token_scores, match_corpora, strict_entity
from shared.evaluation.hospital import evaluate_hospital
from shared.federated.weights import Vector, set_weights
from shared.pipeline.pipeline import Pipeline
from shared.taggers.registry import build_tagger, default_config
from shared.taggers.tagger import Tagger, TaggerConfig
from site_client.federated.as_shared import CodedNotes
from site_client.federated.notes import LabelledNotes, read_notes

DATA = "en_sites"
PROVIDER, UNSEEN = "a", "e"


@cache
def construction() -> CodedSurrogates:
    """The default one, made of public text and the notes of site A; made once."""
    folder = RUNS / "federated-codes"
    if not folder.exists():
        made = sides_of(PROVIDER).construction
        with new_folder(folder) as staged:
            made.save(staged)
    found = load_construction(folder)
    assert isinstance(found, CodedSurrogates)
    return found


@cache
def documents(site: str, count: int) -> tuple[Document, ...]:
    """The first labelled training notes of a hospital."""
    return tuple(corpora.en_site(site, "train")[:count])


@cache
def notes(site: str, count: int) -> LabelledNotes:
    """The same as a head gets them in-house."""
    return read_notes(documents(site, count), construction())


@cache
def notes_as_shared(site: str, count: int) -> CodedNotes:
    """The same as a share shows them; of the provider, whose notes are public, as its pool holds them."""
    made, own = construction(), site == PROVIDER
    codes = [pooled_codes(made, [one] if own else [], [] if own else [one]) for one in documents(site, count)]
    return CodedNotes((), as_shared=True, codes=codes, decoding=made.decoding()).drawn()


def shape(hidden: int | None = None) -> TaggerConfig:
    """Of the head, as `train-head` has it where shares show no columns besides; or smaller."""
    made = construction()
    settings = {} if hidden is None else {"hidden": hidden}
    return default_config(notes(PROVIDER, 1).dim, len(made.scheme.tags), **settings)


def head_of(config: TaggerConfig, weights: Vector) -> Tagger:
    """A head of these weights."""
    made = build_tagger(config)
    set_weights(made, weights)
    return made.eval()


@dataclass(frozen=True)
class Found:
    """Counts, document by document.

    Args:
        tokens, entities: true, false and missed.
        hidden: entities hidden whole, and all of them.
    """

    tokens: Any
    entities: Any
    hidden: Any

    @property
    def token_f1(self) -> float:
        """Token-binary F1."""
        return _f1(self.tokens)

    @property
    def strict_f1(self) -> float:
        """Strict entity F1."""
        return _f1(self.entities)

    @property
    def whole(self) -> float:
        """Share of entities of which nothing stays in clear."""
        hits, total = np.sum(self.hidden, axis=0)
        return float(hits / max(total, 1))

    def and_of(self, other: Found) -> Found:
        """Both together."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("tokens", "entities", "hidden"))
        return Found(*(np.concatenate(pair) for pair in pairs))


def score(head: Tagger, gold: Sequence[Document]) -> Found:
    """What a head finds in labelled notes, nothing behind it."""
    found = Pipeline(construction(), head).annotate([Document(one.identifier, one.text) for one in gold])
    pairs = match_corpora(list(gold), list(found))
    hidden = [evaluate_hospital([pair]).recall.spans for pair in pairs]
    return Found(
        np.array(binary_token_scores(pairs).by_document),
        np.array(strict_entity(pairs).by_document),
        np.array([[one.hits, one.total] for one in hidden]),
    )


def _f1(counts: Any) -> float:
    true, false, missed = np.sum(counts, axis=0)
    return float(2 * true / max(2 * true + false + missed, 1))
