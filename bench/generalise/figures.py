"""Figures of counts, document by document: [true, false, missed] of tokens or entities, [hidden, all] of entities."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_RESAMPLES = 1000


def f1(counts: Any) -> float:
    """F1 of [true, false, missed]."""
    true, false, missed = np.sum(counts, axis=0)
    return float(2 * true / max(2 * true + false + missed, 1))


def precision(counts: Any) -> float:
    """Precision of [true, false, missed]."""
    true, false, _ = np.sum(counts, axis=0)
    return float(true / max(true + false, 1))


def recall(counts: Any) -> float:
    """Recall of [true, false, missed]."""
    true, _, missed = np.sum(counts, axis=0)
    return float(true / max(true + missed, 1))


def share(counts: Any) -> float:
    """The part that is hidden, of [hidden, all]."""
    hits, total = np.sum(counts, axis=0)
    return float(hits / max(total, 1))


def interval(counts: Sequence[Any], figure: Callable[[Any], float]) -> tuple[float, float]:
    """95% interval of the mean over runs, documents of each drawn again."""
    chance = np.random.default_rng(0)
    means = [
        statistics.fmean(figure(one[chance.integers(len(one), size=len(one))]) for one in counts)
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    return round(float(low), 4), round(float(high), 4)


def gain(
    counts: Sequence[Any], others: Sequence[Any], figure: Callable[[Any], float]
) -> tuple[float, tuple[float, float]]:
    """Mean over runs of a figure less that of others on the same documents, and its 95% interval: both draw the same documents again."""
    chance = np.random.default_rng(0)

    def mean(draw: Callable[[int], Any]) -> float:
        drawn = ((draw(len(one)), one, other) for one, other in zip(counts, others, strict=True))
        return statistics.fmean(figure(one[which]) - figure(other[which]) for which, one, other in drawn)

    means = [mean(lambda size: chance.integers(size, size=size)) for _ in range(_RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975])
    return mean(np.arange), (round(float(low), 4), round(float(high), 4))
