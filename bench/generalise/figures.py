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
