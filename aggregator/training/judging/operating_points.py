"""What a release promises to a hospital that nobody has seen: each hospital of the pool left out in turn, and read by a head that never saw it.

Its share stands for its notes: words are drawn where it has codes, and written as a text, so that what follows the tagger has its say.
Words far from PHI are other words of their group there, and nothing is found a second time in a note, for a share has no notes: both make
the promise a careful one. The heads that leave one out are trained for a quarter of the passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aggregator.training.defences.defence import Defence, PoolMaterial
from aggregator.training.pool import as_codes, read_blocks
from shared.constructions.construction import Construction
from shared.constructions.decoding import Decoding
from shared.constructions.drawn_words import DrawnWords
from shared.labels import UNKNOWN_TAG
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.operating_points import (
    GRID,
    LEAST_HOSPITALS,
    HospitalCurve,
    OperatingPoints,
    choose_points,
)
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.promises.hiding import STEPS, Gold, hiding_counts
from shared.progress import Begin
from shared.sentences.tokenised import TokenisedSentences

PASSES = 0.25
"""Of those of the head."""
_MOST_TOKENS = 30_000
"""Of a hospital that are read: its sentences come in no order."""
_IN_A_TEXT = 64


def left_out(site: str) -> str:
    """Name of the phase in which a hospital is left out."""
    return f"operating points, {site} left out"


def shortened(material: PoolMaterial) -> PoolMaterial:
    """The same for a quarter of the passes."""
    config = material.config
    return replace(
        material,
        config=replace(
            config, epochs=max(1, round(PASSES * config.epochs)), least_steps=round(PASSES * config.least_steps)
        ),
    )


def can_be_measured(material: PoolMaterial) -> bool:
    """Whether there are hospitals enough, and shares that can be read as words."""
    return isinstance(material.decoder, Decoding | DrawnWords) and len(material.payloads) >= LEAST_HOSPITALS


def why_none(*, asked: bool, tried: bool, together: bool) -> str:
    """Why a head has no operating points, for people.

    Args:
        asked: whether they were asked for.
        tried: whether hospitals were left out of a pool for them.
        together: whether hospitals trained together and measured themselves.
    """
    if not asked:
        return "they were not asked for"
    if tried:
        return "fewer than three of those that were left out have PHI, or no threshold hid as much of it as the least that can be asked for"
    return f"they take three hospitals {'of notes enough that measure them' if together else 'whose shares hold codes'}"


def measure_points(
    material: PoolMaterial,
    defence: Defence,
    construction: Construction,
    settings: LastWordSettings | None,
    begin: Begin,
) -> OperatingPoints | None:
    """Leave each hospital out in turn, the provider's own notes like one.

    Args:
        material: of the head; see `can_be_measured`.
        defence: of the head.
        construction: that made the shares.
        settings: what follows the tagger; None for nothing.
        begin: is told of every head that is trained, by `left_out`.

    Returns:
        None where nothing can be promised; see `choose_points`.
    """
    assert isinstance(material.decoder, Decoding | DrawnWords)
    kept = in_no_order(settings)
    curves = []
    for number, (site, paths) in enumerate(sorted(material.payloads.items())):
        asked = shortened(material.without(site)).in_phase(begin(left_out(site)), f"points-{number}")
        pipeline = Pipeline(construction, defence.train(asked).head, kept)
        curves.append(curve_of_shares(pipeline, material.decoder, paths))
    return choose_points(curves)


def in_no_order(settings: LastWordSettings | None) -> LastWordSettings | None:
    """What follows the tagger, without what asks for sentences that stand together."""
    return None if settings is None else replace(settings, steps=tuple(one for one in settings.steps if one in STEPS))


def curve_of_shares(pipeline: Pipeline, decoder: Decoding | DrawnWords, paths: Sequence[Path]) -> HospitalCurve:
    """What a pipeline hides of a hospital's shares, read as words."""
    return _curve(pipeline, _texts(decoder, paths))


def _texts(decoder: Decoding | DrawnWords, paths: Sequence[Path]) -> Iterator[TokenisedSentences]:
    """Sentences of a hospital as words, some at a time."""
    generator, tokens = np.random.default_rng(0), 0
    for path in paths:
        for block in read_blocks(path):
            # Labels that nobody is sure of are no PHI to what draws words.
            unknown = block.tags == UNKNOWN_TAG
            coded = as_codes(replace(block, tags=np.where(unknown, np.uint8(0), block.tags)))
            words = decoder.draw_words(coded, generator).with_tags(block.tags)
            for first in range(0, block.sentences, _IN_A_TEXT):
                piece = words.select(np.arange(first, min(first + _IN_A_TEXT, block.sentences)))
                yield piece
                tokens += piece.tokens
                if tokens >= _MOST_TOKENS:
                    return


def _curve(pipeline: Pipeline, texts: Iterator[TokenisedSentences]) -> HospitalCurve:
    entities = 0
    sums = np.zeros((3, len(GRID)), dtype=np.int64)
    for number, sentences in enumerate(texts):
        gold = Gold.of(sentences)
        entities += len(gold.entities)
        sums += hiding_counts(pipeline, str(number), sentences, gold)
    return HospitalCurve(entities, *sums)
