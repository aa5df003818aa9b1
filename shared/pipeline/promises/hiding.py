"""What a pipeline hides of labelled sentences at each threshold of the grid, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.labels import UNKNOWN_TAG, tag_spans
from shared.pipeline.operating_points import GRID, OperatingPoint
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.reading import raise_tags, read_sentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.writing import write_sentences

STEPS = ("capitals", "eponyms", "impersonal", "patterns", "whole")
"""Of what follows the tagger, where sentences come in no order: a name that comes twice is no further mention."""


@dataclass(frozen=True)
class Gold:
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
    def of(cls, sentences: TokenisedSentences) -> Gold:
        """Of the tags of sentences."""
        telling = np.array([any(map(str.isalnum, word)) for word in sentences.words], dtype=np.bool_)
        known = sentences.tags != UNKNOWN_TAG
        tags = np.where(known, sentences.tags, 0).astype(np.uint8)
        entities = [np.flatnonzero(telling[first:end]) + first for first, end, _ in tag_spans(tags)]
        return cls([one for one in entities if len(one)], tags > 0, telling & known)


def hiding_counts(pipeline: Pipeline, name: str, sentences: TokenisedSentences, gold: Gold) -> NDArray[np.int64]:
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
