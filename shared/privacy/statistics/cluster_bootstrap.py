"""The interval of a mean over words, where the words of a sentence stand or fall together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# From fewer clusters a bootstrap tells nothing.
LEAST_CLUSTERS = 10
_BLOCK = 4_000_000


def cluster_interval(
    values: NDArray[np.float64],
    cluster: NDArray[np.int64],
    generator: np.random.Generator,
    resamples: int,
    level: float = 0.95,
) -> tuple[float, float]:
    """Percentile interval of a mean when whole clusters are drawn again with replacement (Efron 1979).

    Args:
        values: in [-1, 1], `[n]`.
        cluster: of each value, any integers, `[n]`.
        generator: seeded by the caller.
        resamples: how many.
        level: coverage.

    Returns:
        (low, high); (-1, 1) where there are fewer than LEAST_CLUSTERS clusters.
    """
    names, index = np.unique(cluster, return_inverse=True)
    if len(names) < LEAST_CLUSTERS:
        return -1.0, 1.0
    sums = np.bincount(index, weights=values)
    counts = np.bincount(index).astype(np.float64)
    chances = np.full(len(sums), 1 / len(sums))
    means: list[NDArray[np.float64]] = []
    step = max(1, _BLOCK // len(sums))
    for begin in range(0, resamples, step):
        weights = generator.multinomial(len(sums), chances, size=min(step, resamples - begin))
        means.append((weights @ sums) / (weights @ counts))
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
