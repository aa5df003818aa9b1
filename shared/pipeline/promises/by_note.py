"""What a hospital tells of how a pipeline does on its notes: two careful curves, under noise by the note.

Whoever hands in the head to be measured can make one that finds a single word, so exact counts would say how often it stands in the notes.
So each note counts for one, whatever is in it: its entities are laid into bins, by the threshold from which on each is hidden, and the bins of a
note sum to 1. What is told follows from noisy sums alone, and is careful: what would be missed is raised by a standard deviation of the noise.

A vector that is longer than the bound is shortened, and those would be the notes in which a head does badly. So none is: both curves of a note
run one way. An entity counts as hidden from where on it stays hidden, and precision that is lost at a threshold stays lost at lower ones. Then no
bin is below 0 and they sum to 1, no change of precision is above 0 and they sum to no less than -1, and neither part is longer than its sum.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.federated.grid_noise import NoisySum
from shared.models.noise import Draws
from shared.pipeline.operating_points import GRID, HospitalCurve

MEASURED = tuple(GRID.index(threshold) for threshold in (None, 0.3, 0.1, 0.03, 0.01, 0.002))
"""Of GRID: every further one takes more noise."""
NUMBERS = 2 * len(MEASURED)
"""That are told: the share hidden whole, then the precision, at each."""
_BINS = len(MEASURED) + 2
_PRECISION_SHARE = 0.5
# Of a note, its bins and what its precision loses; see above.
_BOUND = math.sqrt(1 + _PRECISION_SHARE**2)
_LEAST_DEVIATIONS = 5
"""Of the noise on their number that the notes must come to: of fewer nothing is said, for their number alone may be noise."""
_IN_UNITS = 10_000
_LEAST_TOLD = 1e-5
"""Less than a unit: whoever has measured tells it where nothing is hidden, so that zeros say that nothing was measured."""


def note_vector(entities: int, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What a note adds: a bin for each threshold that is measured, one for what none hides and one for a note without entities; then what its
    precision loses at each threshold, from 1 on.

    Args:
        entities: labelled in the note.
        counts: of `hiding_counts`, int64 `[3, grid]`.
    """
    hidden, right, shown = (row[list(MEASURED)].astype(np.float64) for row in counts)
    bins = np.zeros(_BINS)
    if entities:
        stays = np.minimum.accumulate(hidden[::-1])[::-1] / entities
        bins[:-1] = np.diff(stays, prepend=0.0, append=1.0)
    else:
        bins[-1] = 1.0
    precision = np.minimum.accumulate(np.where(shown > 0, right / np.maximum(shown, 1), 1.0))
    return np.concatenate([bins, _PRECISION_SHARE * np.diff(precision, prepend=1.0)])


class NoisyCurves:
    """Sums over notes, told once.

    Args:
        multiplier: of the noise, over what one note can change; 0 for none.
    """

    def __init__(self, multiplier: float) -> None:
        self._multiplier = multiplier
        self._sum = NoisySum(_BINS + len(MEASURED), _BOUND)

    def add(self, entities: int, counts: NDArray[np.int64]) -> None:
        """Add a note; see `note_vector`."""
        self._sum.add(note_vector(entities, counts))

    def told(self, source: Draws) -> NDArray[np.float32]:
        """The share of a note's entities that is hidden whole, and the precision, at each of MEASURED: float32 `[NUMBERS]`, in [0, 1]; nothing
        but 0 where the notes are too few for their noise.

        Args:
            source: of the noise, private where the numbers leave.
        """
        noisy = self._sum.noisy(self._multiplier, source)
        bins, changes = noisy[: _BINS - 1], noisy[_BINS:]
        missed, notes = np.cumsum(bins[::-1])[::-1][1:], max(float(bins.sum()), 1.0)
        all_notes = max(float(noisy[:_BINS].sum()), 1.0)
        deviation = self._multiplier * _BOUND
        hidden = 1 - (np.maximum(missed, 0) + deviation * np.sqrt(np.arange(len(MEASURED), 0, -1))) / notes
        hidden = np.maximum(hidden, _LEAST_TOLD)
        precision = 1 + np.cumsum(changes) / (_PRECISION_SHARE * all_notes)
        curves = np.concatenate([np.maximum.accumulate(hidden), np.minimum.accumulate(precision)])
        if notes < _LEAST_DEVIATIONS * deviation * math.sqrt(len(bins)):
            curves[:] = 0
        told: NDArray[np.float32] = np.clip(curves, 0, 1).astype(np.float32)
        return told


def says_nothing(told: NDArray[np.float32]) -> bool:
    """Whether a hospital has told that its notes are too few for their noise, and not that they would be seen in clear."""
    return not bool(told[: len(MEASURED)].any())


def read_curve(told: NDArray[np.float32]) -> HospitalCurve:
    """The curve over all of GRID that follows: between two thresholds what is hidden is that of the one before, and the precision that of the one
    behind, so both are careful.

    Raises:
        ConfigurationError: another number of numbers, or one out of range.
    """
    if told.shape != (NUMBERS,) or not bool(((told >= 0) & (told <= 1)).all()):
        raise ConfigurationError(f"expected {NUMBERS} shares between 0 and 1, got others; leave the hospital out")
    grid, measured = np.arange(len(GRID)), np.array(MEASURED)
    before = np.searchsorted(measured, grid, side="right") - 1
    behind = np.minimum(np.searchsorted(measured, grid, side="left"), len(MEASURED) - 1)
    hidden, precision = np.rint(told.reshape(2, -1) * _IN_UNITS).astype(np.int64)
    return HospitalCurve(_IN_UNITS, hidden[before], precision[behind], np.full(len(GRID), _IN_UNITS, np.int64))
