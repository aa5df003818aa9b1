"""How sure a recall is that was measured on some labelled notes.

Entities of one note stand or fall together: a name that is missed once is missed again. So the notes are the sample, and their entities
are clusters in it. Where misses are rare, a resampling of notes sees too little of them: without a miss it says [1, 1]. This says it with
the exact binomial interval of as many independent entities as the notes are worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from shared.errors import EvaluationError
from shared.evaluation.intervals import clopper_pearson

LEVEL = 0.95
TOGETHER = 0.25
"""Correlation of the entities of a note that is taken for granted until the notes say otherwise."""
_TOLD_BY = 5  # so many notes with a miss weigh as much as what is taken for granted


@dataclass(frozen=True)
class Estimate:
    """A share of entities, and where it may lie in all notes of the kind.

    Args:
        hits: entities hidden whole. total: all of them.
        notes: with any entity; groups of notes where some belong together.
        worth: how many times more entities a sample of notes takes than one of single entities, at least 1.
        low: lower end of the 95% interval. high: its upper end.
    """

    hits: int
    total: int
    notes: int
    worth: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share as measured; 0 of nothing."""
        return self.hits / self.total if self.total else 0.0

    @property
    def within(self) -> float:
        """How far the true share may be from the measured one, in [0, 1]."""
        return max(self.value - self.low, self.high - self.value)

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "hidden_whole": self.hits,
            "entities": self.total,
            "value": self.value if self.total else None,
            "interval": [self.low, self.high],
            "notes_with_entities": self.notes,
            "design_effect": self.worth,
        }


def estimate_recall(hits: NDArray[np.int64], totals: NDArray[np.int64]) -> Estimate:
    """The recall of some notes with its 95% interval.

    Clopper and Pearson's interval of n* entities (Korn and Graubard 1998, Survey Methodology 24, 193-201): n* is the number of entities over
    the design effect of `design_effect`, made less by (t_{N-1} / t_{n-1})^2, as N notes tell their own variance badly. With one
    entity a note and no correlation it is the ordinary interval.

    Args:
        hits: of each note, int64 `[notes]`.
        totals: entities of each note, not less than its hits, int64 `[notes]`; notes without any say nothing.

    Raises:
        EvaluationError: more hits than entities.
    """
    if (hits < 0).any() or (hits > totals).any():
        raise EvaluationError(
            "expected at most as many entities hidden as there are, got more; this is a fault in the program"
        )
    hits, totals = hits[totals > 0], totals[totals > 0]
    found, every, notes = int(hits.sum()), int(totals.sum()), len(totals)
    worth = design_effect(hits, totals)
    low, high = interval_of(found / every if every else 0.0, every, notes, worth)
    return Estimate(found, every, notes, worth, low, high)


def interval_of(value: float, entities: float, notes: float, worth: float) -> tuple[float, float]:
    """The interval of a share that so many notes with so many entities show; (0, 1) for fewer than two notes."""
    if notes < 2:
        return 0.0, 1.0
    tail = (1 + LEVEL) / 2
    few = float(stdtrit(max(entities - 1, 1), tail) / stdtrit(notes - 1, tail))
    effective = entities / worth * min(few, 1.0) ** 2
    return clopper_pearson(value * effective, effective, level=LEVEL)


def design_effect(hits: NDArray[np.int64], totals: NDArray[np.int64]) -> float:
    """How many times larger the variance of the share is than if all entities were drawn one by one (Kish 1965, 5.4), at least 1.

    Of N notes with m_i entities, x_i of them hidden, r = sum x / sum m: the variance of the ratio is N / (N-1) sum (x_i - r m_i)^2 / M^2
    (Cochran 1977, 6.4), that of M single entities r (1-r) / M. Few misses tell nothing of how they gather, so with K notes that
    differ from the rest (the fewer of those with a miss and those with a hit) the quotient q of both counts K / (K+5), and
    1 + (sum m^2 / M - 1) `TOGETHER` for the rest.

    Args:
        hits: of each note, int64 `[notes]`.
        totals: entities of each note, all more than 0, int64 `[notes]`.
    """
    every, notes = int(totals.sum()), len(totals)
    if not notes:
        return 1.0
    taken = 1 + (float((totals.astype(np.float64) ** 2).sum()) / every - 1) * TOGETHER
    telling = min(int((hits < totals).sum()), int((hits > 0).sum()))
    share = int(hits.sum()) / every
    if notes < 2 or not 0 < share < 1:
        return max(1.0, taken)
    residual = hits - share * totals
    seen = notes / (notes - 1) * float((residual**2).sum()) / every / (share * (1 - share))
    return max(1.0, (telling * seen + _TOLD_BY * taken) / (telling + _TOLD_BY))
