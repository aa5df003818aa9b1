"""Accuracies of an attacker over any number of pairs, summed up as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# Width of a bin: percentiles are stated to within it, and never below their true value.
_BIN = 2.0**-15


@dataclass(frozen=True)
class Spread:
    """Accuracies of many pairs, each from 0.5 (nothing can be told) to 1.

    Args:
        tokens: PHI tokens.
        pairs: of a PHI token and a neighbour.
        mean: over the pairs.
        interval: 95%, of the mean, from the spread between tokens.
        p95: 95th percentile.
        p99: 99th percentile.
        maximum: over the pairs.
    """

    tokens: int
    pairs: int
    mean: float
    interval: tuple[float, float]
    p95: float
    p99: float
    maximum: float


@dataclass
class AccuracyCounts:
    """Accuracies of pairs, counted in bins, so that memory does not grow with the share."""

    bins: NDArray[np.int64] = field(default_factory=lambda: np.zeros(int(0.5 / _BIN) + 1, dtype=np.int64))
    total: float = 0.0
    maximum: float = 0.0
    tokens: int = 0
    means: float = 0.0
    squares: float = 0.0

    def add(self, tokens: NDArray[np.int64], accuracy: NDArray[np.float64]) -> None:
        """Counts in the accuracies `[pairs]` of PHI tokens `[pairs]`, which come token by token."""
        if not len(tokens):
            return
        firsts = np.flatnonzero(np.diff(tokens, prepend=-1))
        means = np.add.reduceat(accuracy, firsts) / np.diff(firsts, append=len(tokens))
        # Rounded up: a percentile is never stated below its true value.
        place = np.ceil((accuracy - 0.5) / _BIN - 1e-9).astype(np.int64).clip(0, len(self.bins) - 1)
        self.bins += np.bincount(place, minlength=len(self.bins))
        self.total += float(accuracy.sum())
        self.maximum = max(self.maximum, float(accuracy.max()))
        self.tokens += len(means)
        self.means += float(means.sum())
        self.squares += float((means**2).sum())

    def spread(self) -> Spread:
        """The figures so far."""
        pairs = int(self.bins.sum())
        if not pairs:
            return Spread(0, 0, 0.5, (0.5, 0.5), 0.5, 0.5, 0.5)
        centre, mean = self.means / self.tokens, self.total / pairs
        error = 1.96 * math.sqrt(max(self.squares / self.tokens - centre**2, 0.0) / self.tokens)
        interval = (max(mean - error, 0.5), min(mean + error, 1.0))
        p95, p99 = (min(self._quantile(share, pairs), self.maximum) for share in (0.95, 0.99))
        return Spread(self.tokens, pairs, mean, interval, p95, p99, self.maximum)

    def _quantile(self, share: float, pairs: int) -> float:
        place = int(np.searchsorted(np.cumsum(self.bins), math.ceil(share * pairs)))
        return 0.5 + place * _BIN
