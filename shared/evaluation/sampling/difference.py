"""Whether one finder hides more than another, both held against the same notes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from shared.evaluation.sampling.recall_interval import LEVEL

LEAST_DIFFERING = 6
"""With fewer notes in which two finders differ no sign test says anything at 5%: two sides of five alike have 1 in 16."""


@dataclass(frozen=True)
class Difference:
    """What one finder hides more than another.

    Args:
        value: share of all entities that the first hides and the second does not, less the contrary; in [-1, 1].
        low: lower end of the 95% interval. high: its upper end.
        differing: notes in which they do not hide as many.
    """

    value: float
    low: float
    high: float
    differing: int

    @property
    def is_shown(self) -> bool:
        """Whether the notes show that one of the two hides more."""
        return self.differing >= LEAST_DIFFERING and not self.low <= 0 <= self.high

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "value": self.value,
            "interval": [self.low, self.high],
            "notes_that_differ": self.differing,
            "shown": self.is_shown,
        }


def compare_recall(first: NDArray[np.int64], second: NDArray[np.int64], totals: NDArray[np.int64]) -> Difference:
    """The difference of two recalls on the same notes, with its 95% interval.

    d = sum (x_i - y_i) / sum m_i is a ratio of the notes as a recall is, of variance N / (N-1) sum (x_i - y_i - d m_i)^2 / M^2 (Cochran 1977,
    6.4); the interval takes t of N-1 degrees of freedom. What both hide or neither adds nothing to it, so that it is narrower than two
    intervals beside one another.

    Args:
        first: hits of each note, int64 `[notes]`. second: of the other finder.
        totals: entities of each note, int64 `[notes]`.
    """
    some = totals > 0
    apart, sizes = (first - second)[some], totals[some]
    notes, every = len(sizes), int(sizes.sum())
    differing = int((apart != 0).sum())
    if notes < 2:
        return Difference(int(apart.sum()) / every if every else 0.0, -1.0, 1.0, differing)
    value = int(apart.sum()) / every
    error = math.sqrt(notes / (notes - 1) * float(((apart - value * sizes) ** 2).sum())) / every
    reach = float(stdtrit(notes - 1, (1 + LEVEL) / 2)) * error
    return Difference(value, max(value - reach, -1.0), min(value + reach, 1.0), differing)
