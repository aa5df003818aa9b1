r"""Gaussian noise on a grid: sums of clipped vectors, so that the lowest bits of what leaves tell nothing.

Noise in floating point added to a float leaves the float's low bits readable (Mironov 2012). So everything here is whole numbers of a step
that is far finer than the noise: vectors are clipped, rounded to the grid, and summed exactly; the noise is rounded to the grid before it
is added, which is the Gaussian mechanism on a vector of the grid, rounded (post-processing). Clipping leaves room for the rounding, so
that no rounded vector is longer than the bound:

    |rounded| <= |clipped| + step * sqrt(numbers) / 2 <= bound

Threat: whoever sees the sum, every number of it, and knows all vectors but one. Assumption: a source that nobody else can draw from.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.models.noise import Draws

# Steps of the bound: with a noise of half the bound and up to 100 million numbers, rounding costs less than half a percent of the bound.
_STEPS = 1 << 21


class NoisySum:
    """A sum of vectors, each clipped to a bound, to which noise is added once.

    Args:
        numbers: of a vector.
        bound: L2 norm that no vector exceeds.

    Raises:
        ConfigurationError: no bound, or so many numbers that rounding would take it up.
    """

    def __init__(self, numbers: int, bound: float) -> None:
        self._step = bound / _STEPS
        self._most = bound - self._step * math.sqrt(numbers) / 2
        if not (math.isfinite(bound) and self._most > 0.9 * bound):
            raise ConfigurationError("noisy sum: expected a bound above 0 and fewer numbers, got others")
        self.bound = bound
        self._sum = np.zeros(numbers, np.int64)

    def add(self, vector: NDArray[np.floating]) -> None:
        """Add a vector, shortened where it is longer than the bound; one that is not finite counts as zero."""
        self._sum += self.on_grid(vector)

    def on_grid(self, vector: NDArray[np.floating]) -> NDArray[np.int64]:
        """A vector as whole steps, no longer than the bound."""
        exact = vector.astype(np.float64)
        norm = float(np.linalg.norm(exact))
        if not math.isfinite(norm):
            # What it would have been nobody knows, and an error would tell that it was there.
            return np.zeros(len(exact), np.int64)
        return np.rint(exact * (min(1.0, self._most / max(norm, 1e-300)) / self._step)).astype(np.int64)

    @property
    def step(self) -> float:
        """Of the grid."""
        return self._step

    def noisy(self, multiplier: float, source: Draws) -> NDArray[np.float64]:
        """The sum with Gaussian noise of standard deviation `multiplier * bound` on every number; once.

        Args:
            multiplier: noise multiplier: standard deviation over bound.
            source: private where the sum leaves.
        """
        noise = np.rint(_normal(len(self._sum), source) * (multiplier * self.bound / self._step)).astype(np.int64)
        summed: NDArray[np.float64] = (self._sum + noise).astype(np.float64)
        return summed * self._step


def _normal(numbers: int, source: Draws) -> NDArray[np.float64]:
    """Normal numbers of double precision (Box and Muller 1958), each of two draws of 53 bits.

    `standard_normal` is of single precision: times a multiplier of 8 it reaches one number of the grid in four beyond a standard
    deviation, so that a sum at which all noise would be such numbers is the true one, and one beside it is not.
    """
    half = -(-numbers // 2)
    # In (0, 1]: of 0 there is no logarithm.
    radius = np.sqrt(-2 * np.log1p(-source.random((half,))))
    angle = 2 * math.pi * source.random((half,))
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:numbers]
