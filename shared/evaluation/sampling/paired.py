"""How far one finder lies above another in a figure of counts, when notes are drawn again: both draw the same ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.errors import EvaluationError
from shared.evaluation.sampling.difference import LEAST_DIFFERING
from shared.evaluation.sampling.recall_interval import LEVEL

Counts = NDArray[np.int64]
Figure = Callable[[Counts], NDArray[np.float64]]
"""Of sums of counts `[..., columns]` the figure of each, `[...]`."""
_RESAMPLES = 2000
_SEED = 0


@dataclass(frozen=True)
class Compared:
    """A figure of two finders on the same notes.

    Args:
        first, second: the figure of each. first_interval, second_interval: its 95% interval.
        low, high: of the first less the second.
        differing: notes in which their counts are not the same.
    """

    first: float
    first_interval: tuple[float, float]
    second: float
    second_interval: tuple[float, float]
    low: float
    high: float
    differing: int

    @property
    def value(self) -> float:
        """How far the first lies above the second."""
        return self.first - self.second

    @property
    def is_shown(self) -> bool:
        """Whether the notes show that the two differ."""
        return self.differing >= LEAST_DIFFERING and not self.low <= 0 <= self.high

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "before": {"value": self.second, "interval": list(self.second_interval)},
            "after": {"value": self.first, "interval": list(self.first_interval)},
            "difference": {"value": self.value, "interval": [self.low, self.high]},
            "notes_that_differ": self.differing,
            "shown": self.is_shown,
        }


def f1_of(sums: Counts) -> NDArray[np.float64]:
    """F1 of true, false and missed, `[..., 3]`."""
    true, false, missed = np.moveaxis(sums, -1, 0)
    return np.asarray(2 * true / np.maximum(2 * true + false + missed, 1), dtype=np.float64)


def share_of(sums: Counts) -> NDArray[np.float64]:
    """The part that counts, of hits and all, `[..., 2]`."""
    hits, every = np.moveaxis(sums, -1, 0)
    return np.asarray(hits / np.maximum(every, 1), dtype=np.float64)


def compare_paired(first: Counts, second: Counts, figure: Figure) -> Compared:
    """Two finders compared, with percentile intervals over notes that are drawn again with replacement (Efron 1979).

    Args:
        first: counts of each note, or of each group of notes that belong together, int64 `[notes, columns]`. second: of the other finder.
        figure: of their sums.

    Raises:
        EvaluationError: no notes, or not the same ones.
    """
    if first.shape != second.shape or not len(first):
        raise EvaluationError(
            "expected counts of the same notes, at least one, got others; compare what belongs together"
        )
    notes = len(first)
    weights = np.random.default_rng(_SEED).multinomial(notes, np.full(notes, 1 / notes), size=_RESAMPLES)
    drawn, other = figure(weights @ first), figure(weights @ second)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    (own, its), (low, high) = (np.quantile(one, tails) for one in (drawn, other)), np.quantile(drawn - other, tails)
    return Compared(
        float(figure(first.sum(axis=0))),
        (float(own[0]), float(own[1])),
        float(figure(second.sum(axis=0))),
        (float(its[0]), float(its[1])),
        float(low),
        float(high),
        int((first != second).any(axis=1).sum()),
    )
