"""Taggers held against each other at one precision: what each hides whole from which probability on, read off where its token precision is that of the other."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.generalise.figures import counts_of
from bench.outcomes import draw_documents
from shared.document import Document
from shared.evaluation import match_corpora
from shared.pipeline.operating_points import OperatingPoint
from shared.pipeline.pipeline import Pipeline

THRESHOLDS = (None, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001)
"""From which probability on a token is hidden; None for the best tags alone."""
_RESAMPLES = 1000


@dataclass(frozen=True)
class Curve:
    """What a tagger does of every note at each of THRESHOLDS.

    Args:
        tokens: true, false and missed, int64 `[thresholds, notes, 3]`.
        hidden: entities hidden whole and all, int64 `[thresholds, notes, 2]`.
    """

    tokens: NDArray[np.int64]
    hidden: NDArray[np.int64]

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> Curve:
        """From a kept run; see `curve_read`."""
        return cls(np.array(run["tokens"], dtype=np.int64), np.array(run["hidden"], dtype=np.int64))

    def select(self, notes: NDArray[np.int64]) -> Curve:
        """Of some notes, any of them several times."""
        return Curve(self.tokens[:, notes], self.hidden[:, notes])

    def precision(self) -> NDArray[np.float64]:
        """Share of the hidden tokens that are PHI, `[thresholds]`: what is lost at a threshold stays lost at lower ones."""
        true, false, _ = self.tokens.sum(1).T
        return np.minimum.accumulate(true / np.maximum(true + false, 1))

    def shares(self) -> NDArray[np.float64]:
        """Share of the entities hidden whole, `[thresholds]`."""
        hits, total = self.hidden.sum(1).T
        return np.asarray(hits / np.maximum(total, 1))

    def hidden_at(self, precision: float) -> float:
        """Share of the entities hidden whole where the precision is just this, on a line between two thresholds; that of the nearest threshold beyond them."""
        # Of thresholds that are as precise the lowest one hides most.
        rising, places = np.unique(self.precision()[::-1], return_index=True)
        return float(np.interp(precision, rising, self.shares()[::-1][places]))


def curve_read(pipeline: Pipeline, notes: Sequence[Document]) -> dict[str, list[list[list[int]]]]:
    """What a pipeline finds in labelled notes at each of THRESHOLDS, of which it is shown the text alone; the notes are read once."""
    found: list[list[Document]] = [[] for _ in THRESHOLDS]
    for document, tokens, reading in pipeline.readings([Document(note.identifier, note.text) for note in notes]):
        for at, threshold in zip(found, THRESHOLDS, strict=True):
            point = None if threshold is None else OperatingPoint(0, threshold, 0, 0, 0)
            at.append(replace(pipeline, point=point).spans(document, tokens, reading))
    counts = [counts_of(match_corpora(notes, one)) for one in found]
    return {kind: [one[kind] for one in counts] for kind in ("tokens", "hidden")}


def hidden_at_the_precision_of(
    others: Sequence[Curve], ours: Sequence[Curve]
) -> tuple[float, float, tuple[float, float]]:
    """What others hide with their best tags, and how much more that is than ours at that precision, mean over runs; its 95% interval draws the same notes again for both."""
    chance, sizes = np.random.default_rng(0), [one.tokens.shape[1] for one in others]

    def more(drawn: Sequence[NDArray[np.int64]]) -> tuple[float, float]:
        own, gained = [], []
        for notes, other, one in zip(drawn, others, ours, strict=True):
            theirs = other.select(notes)
            own.append(float(theirs.shares()[0]))
            gained.append(own[-1] - one.select(notes).hidden_at(float(theirs.precision()[0])))
        return statistics.fmean(own), statistics.fmean(gained)

    low, high = np.quantile([more(draw_documents(sizes, chance))[1] for _ in range(_RESAMPLES)], [0.025, 0.975])
    return *more([np.arange(size) for size in sizes]), (round(float(low), 4), round(float(high), 4))
