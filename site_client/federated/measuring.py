"""How a pipeline does on this hospital's own notes, with a head that has not learned from them: a few careful numbers, under the policy's noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shared.constructions.construction import Construction
from shared.errors import CorpusError
from shared.federated.local import StoppedError
from shared.federated.weights import Vector, set_weights
from shared.models.noise import Draws
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.promises.by_note import NoisyCurves
from shared.pipeline.promises.hiding import STEPS, Gold, hiding_counts
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import TaggerConfig
from shared.text.language import guess_vocabulary
from site_client.federated.notes import LabelledNotes


def measure_head(
    construction: Construction,
    shape: TaggerConfig,
    weights: Vector,
    notes: LabelledNotes,
    multiplier: float,
    source: Draws,
    stopped: Callable[[], bool],
) -> Vector:
    """What is told of these weights; see `shared.pipeline.promises.by_note`.

    Args:
        construction: of the release in use.
        shape: of the tagger.
        weights: of the tagger.
        notes: with their words.
        multiplier: of the noise; 0 for none.
        source: of the noise, private.
        stopped: asked ahead of every note, of which those of one patient count together where patients are known.

    Raises:
        StoppedError: it was stopped.
        CorpusError: the notes are here as a share shows them, and it shows no words.
    """
    if not notes.words:
        raise CorpusError(
            "expected notes with words to measure on, got none: a share of this construction has no words; nothing is told of them"
        )
    head = build_tagger(shape)
    set_weights(head, weights)
    settings = LastWordSettings(guess_vocabulary(construction.vectors.words), STEPS)
    pipeline, curves = Pipeline(construction, head.eval(), settings), NoisyCurves(multiplier)
    for number in range(len(notes.samples)):
        entities, counts = 0, []
        for one in notes.of_sample(number):
            if stopped():
                raise StoppedError("the measuring was stopped; nothing of it leaves")
            gold = Gold.of(notes.words[one])
            entities += len(gold.entities)
            counts.append(hiding_counts(pipeline, str(one), notes.words[one], gold))
        curves.add(entities, np.sum(counts, axis=0))
    return curves.told(source)
