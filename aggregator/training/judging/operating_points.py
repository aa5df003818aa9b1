"""What a release promises to a hospital that nobody has seen: each hospital of the pool left out in turn, and read by a head that never saw it.

Its share stands for its notes: words are drawn where it has codes, and written as a text, so that what follows the tagger has its say.
Words far from PHI are other words of their group there, and nothing is found a second time in a note, for a share has no notes: both make
the promise a careful one. The heads that leave one out are trained for a quarter of the passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aggregator.training.defences.defence import Defence, PoolMaterial
from aggregator.training.pool import as_codes, read_blocks
from shared.constructions.construction import Construction
from shared.constructions.decoding import Decoding
from shared.document import Annotation, Document
from shared.labels import UNKNOWN_TAG, tag_spans
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.operating_points import (
    GRID,
    LEAST_HOSPITALS,
    HospitalCurve,
    OperatingPoint,
    OperatingPoints,
    choose_points,
)
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.reading import raise_tags, read_sentences
from shared.progress import Begin
from shared.sentences.tokenised import TokenisedSentences
from shared.text.writing import write_sentences

PASSES = 0.25
"""Of those of the head."""
_MOST_TOKENS = 30_000
"""Of a hospital that are read: its sentences come in no order."""
_IN_A_TEXT = 64
# A share's sentences are of many notes: a name that comes twice is no further mention.
_STEPS = ("capitals", "eponyms", "impersonal", "patterns", "whole")


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
    return isinstance(material.decoder, Decoding) and len(material.payloads) >= LEAST_HOSPITALS


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
    assert isinstance(material.decoder, Decoding)
    kept = None if settings is None else replace(settings, steps=tuple(one for one in settings.steps if one in _STEPS))
    curves = []
    for number, (site, paths) in enumerate(sorted(material.payloads.items())):
        asked = shortened(material.without(site)).in_phase(begin(left_out(site)), f"points-{number}")
        pipeline = Pipeline(construction, defence.train(asked).head, kept)
        curves.append(_curve(pipeline, _texts(material.decoder, paths)))
    return choose_points(curves)


def _texts(decoder: Decoding, paths: Sequence[Path]) -> Iterator[TokenisedSentences]:
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
        gold = _Gold.of(sentences)
        entities += len(gold.entities)
        sums += _counts(pipeline, str(number), sentences, gold)
    return HospitalCurve(entities, *sums)


@dataclass(frozen=True)
class _Gold:
    """What is labelled in some sentences.

    Args:
        entities: tokens of each that are letters or digits.
        phi: which tokens are labelled, bool `[tokens]`.
        counted: which are letters or digits, and of which somebody knows, bool `[tokens]`.
    """

    entities: list[NDArray[np.int64]]
    phi: NDArray[np.bool_]
    counted: NDArray[np.bool_]

    @classmethod
    def of(cls, sentences: TokenisedSentences) -> _Gold:
        telling = np.array([any(map(str.isalnum, word)) for word in sentences.words], dtype=np.bool_)
        known = sentences.tags != UNKNOWN_TAG
        tags = np.where(known, sentences.tags, 0).astype(np.uint8)
        entities = [np.flatnonzero(telling[first:end]) + first for first, end, _ in tag_spans(tags)]
        return cls([one for one in entities if len(one)], tags > 0, telling & known)


def _counts(pipeline: Pipeline, name: str, sentences: TokenisedSentences, gold: _Gold) -> NDArray[np.int64]:
    """Entities hidden whole, hidden words that are PHI and all hidden words, at each of GRID: int64 `[3, grid]`."""
    text, tokens = write_sentences(sentences.words, sentences.lengths)
    seen = pipeline.seen(text)
    words = [seen[start:end] for start, end in tokens.spans.tolist()]
    unlabelled = TokenisedSentences(words, np.zeros_like(sentences.tags), sentences.lengths)
    reading = read_sentences(pipeline.head, pipeline.head.inputs(unlabelled, pipeline.encoder.noise_free))
    columns, last = [], None
    for threshold in GRID:
        point = None if threshold is None else OperatingPoint(0, threshold, 0, 0, 0)
        tags = reading.tags if threshold is None else raise_tags(reading, tokens.sentence_starts, threshold)
        if last is None or not np.array_equal(tags, last):
            found = replace(pipeline, point=point).spans(Document(name, text), tokens, reading)
            whole, touched = _covered(found.annotations, tokens.spans, len(text))
            last, hidden = tags, sum(bool(whole[one].all()) for one in gold.entities)
            shown = touched & gold.counted
        columns.append((hidden, int((shown & gold.phi).sum()), int(shown.sum())))
    return np.array(columns, dtype=np.int64).T


def _covered(
    spans: Sequence[Annotation], tokens: NDArray[np.int32], length: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which tokens are covered by spans as a whole, and which are touched by one, bool `[tokens]`."""
    mask = np.zeros(length + 1, dtype=np.int64)
    for span in spans:
        mask[span.start] += 1
        mask[span.end] -= 1
    covered = np.concatenate([[0], np.cumsum(np.cumsum(mask[:-1]) > 0)])
    signs = covered[tokens[:, 1]] - covered[tokens[:, 0]]
    return signs == tokens[:, 1] - tokens[:, 0], signs > 0
