"""Sites that hold invented numbers in the place of sentences: for what time and memory are measured of, which ask for no words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shared.sentences.ragged import RaggedSentences
from shared.taggers.registry import default_config
from shared.taggers.tagger import TaggerConfig
from shared.text.casing import CASING_CLASSES
from site_client.federated.notes import LabelledNotes

_DIM, _TAGS = 100, 47
_SENTENCES, _TOKENS = 4, 12


def invented_notes(count: int, seed: int) -> LabelledNotes:
    """So many notes of four short sentences, a third of their tokens PHI; each tag has a vector of its own, and noise."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(_TAGS, _DIM))
    notes = []
    for _ in range(count):
        tokens = _SENTENCES * _TOKENS
        # Odd tags begin an entity, so any row of them is one that an encoder makes.
        tags = np.where(generator.random(tokens) < 1 / 3, 2 * generator.integers(0, _TAGS // 2, tokens) + 1, 0)
        values = (centres[tags] + 0.3 * generator.normal(size=(tokens, _DIM))).astype(np.float32)
        casing = generator.integers(0, len(CASING_CLASSES), tokens).astype(np.uint8)
        lengths = np.full(_SENTENCES, _TOKENS, dtype=np.int64)
        notes.append(RaggedSentences(values, casing, tags.astype(np.uint8), lengths))
    return LabelledNotes(tuple(notes))


def invented_sites(sites: int, notes: int) -> Mapping[str, LabelledNotes]:
    """Sites by name."""
    return {f"site-{number:03}": invented_notes(notes, number + 1) for number in range(sites)}


def invented_shape(hidden: int | None = None) -> TaggerConfig:
    """Of a head for them; the default one, or smaller."""
    return default_config(_DIM, _TAGS, **({} if hidden is None else {"hidden": hidden}))
