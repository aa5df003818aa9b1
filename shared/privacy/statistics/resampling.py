"""Intervals of figures that no exact distribution is known for: the percentile bootstrap (Efron 1979)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000


def mean_interval(
    values: NDArray[np.float64], generator: np.random.Generator, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """95% interval of the mean of independent values; (0, 1) where there is none."""
    if not len(values):
        return 0.0, 1.0
    weights = generator.multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples)
    low, high = np.quantile(weights @ values / len(values), [0.025, 0.975])
    return float(low), float(high)


class WeightedAUC:
    """Area under the ROC curve, for many weightings of the same scores; ties count half.

    Args:
        scores: float `[n]`, higher where positive is likelier.
        positive: bool `[n]`.
    """

    def __init__(self, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> None:
        self._levels, self._level = np.unique(scores, return_inverse=True)
        self._positive = positive

    def __call__(self, weights: NDArray[np.float64] | None = None) -> float:
        """The area under weights `[n]`; 0.5 where one of the two classes weighs nothing."""
        weighted = np.ones(len(self._level)) if weights is None else weights
        size = len(self._levels)
        hits = np.bincount(self._level, weighted * self._positive, minlength=size)
        misses = np.bincount(self._level, weighted * ~self._positive, minlength=size)
        area = hits.sum() * misses.sum()
        if not area:
            return 0.5
        below = np.cumsum(misses) - misses
        return float(hits @ (below + misses / 2) / area)


def auc_interval(
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[float, tuple[float, float]]:
    """AUC of independent trials, and its 95% interval."""
    area = WeightedAUC(scores, positive)
    count = len(scores)
    chances = np.full(count, 1 / count)
    drawn = [area(generator.multinomial(count, chances).astype(np.float64)) for _ in range(resamples)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return area(), (float(low), float(high))


def resample_pairs(
    one: NDArray[np.int64], other: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Weights of pairs when whole notes are drawn again, `[pairs]`.

    Args:
        one, other: the notes of each pair, from 0 on, int64 `[pairs]`.
        generator: seeded by the caller.
    """
    count = int(max(one.max(), other.max())) + 1
    drawn = generator.multinomial(count, np.full(count, 1 / count)).astype(np.float64)
    # The last factor makes the expected weight of a pair of two notes 1 as well.
    weights: NDArray[np.float64] = np.where(
        one == other, drawn[one], drawn[one] * drawn[other] * count / max(count - 1, 1)
    )
    return weights
