"""How much a pipeline hides at a hospital that nobody has seen, and what that costs, for a hospital to choose: see docs/adr/0036.

A tagger says of every token how probable it is PHI. At an *operating point* a token is hidden from some probability on, also where the
best tags say O. What each point is worth was measured at hospitals of the pool that the tagger had not seen, each left out in turn; the
median over them is what an unseen hospital is promised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_text
from foundation.reading import read_text
from shared.errors import ConfigurationError, ModelError

FILE = "operating_points.json"
TARGETS = (0.9, 0.92, 0.95, 0.98, 0.99)
"""Shares of PHI entities hidden whole that a hospital may ask for."""
DEFAULT = 0.92
"""What a pipeline hides unless somebody asks for something else: on training notes hospitals that were promised so much got .95."""
GRID = (None, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)
"""From which probability on a token is hidden; None for the best tags alone."""
LEAST_HOSPITALS = 3
"""Of fewer hospitals left out a median promises nothing."""
_MAX_BYTES = 1 << 16


@dataclass(frozen=True)
class OperatingPoint:
    """One choice of a threshold.

    Args:
        target: share of PHI entities hidden whole that it is for.
        threshold: a token is hidden from this probability on; None for the best tags alone.
        hidden: share of entities hidden whole, every letter and digit of them, median over the hospitals that were left out.
        precision: share of the hidden words that are PHI, the median too.
        least: `hidden` of the hospital where it is least.
    """

    target: float
    threshold: float | None
    hidden: float
    precision: float
    least: float


@dataclass(frozen=True)
class OperatingPoints:
    """All points of a release.

    Args:
        hospitals: how many were left out, each in turn.
        points: by rising target; what no threshold reaches has none.

    Raises:
        ModelError: they are no operating points.
    """

    hospitals: int
    points: tuple[OperatingPoint, ...]

    def __post_init__(self) -> None:
        numbers = [value for one in self.points for value in (one.target, one.hidden, one.precision, one.least)]
        thresholds = [one.threshold for one in self.points if one.threshold is not None]
        ordered = [one.target for one in self.points]
        if (
            self.hospitals < 1
            or not self.points
            or not all(0 <= value <= 1 for value in numbers)
            or not all(0 < value < 1 for value in thresholds)
            or ordered != sorted(set(ordered))
        ):
            raise ModelError(f"{FILE}: expected targets and thresholds between 0 and 1; pull the release again")

    @property
    def default(self) -> OperatingPoint:
        """What is used where nobody asks for anything: that of DEFAULT, or the next there is."""
        return next((one for one in self.points if one.target >= DEFAULT), self.points[-1])

    def reaching(self, asked: float) -> OperatingPoint:
        """The cheapest point that is for at least what is asked.

        Raises:
            ConfigurationError: none promises so much.
        """
        for one in self.points:
            if one.target >= asked:
                return one
        raise ConfigurationError(
            f"expected a recall of at most {self.points[-1].target:g}, the highest that this release promises, got {asked:g}; ask for "
            "less, and have more notes read by a person"
        )

    def save(self, folder: Path) -> None:
        """Write operating_points.json."""
        stated = {"version": 1, "hospitals": self.hospitals, "points": [asdict(one) for one in self.points]}
        write_text(folder / FILE, json.dumps(stated, indent=1) + "\n", private=False)


def load_points(folder: Path) -> OperatingPoints | None:
    """What the release in a folder states; None where it states nothing.

    Raises:
        ModelError: the file is not what `save` writes.
    """
    if not (folder / FILE).exists():
        return None
    try:
        stated = json.loads(read_text(folder / FILE, _MAX_BYTES))
        points = tuple(map(_point, stated["points"]))
        version, hospitals = stated["version"], stated["hospitals"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{FILE}: expected operating points; pull the release again") from error
    if version != 1 or not isinstance(hospitals, int):
        raise ModelError(f"{FILE}: expected operating points of version 1, got others; update deid-commons")
    return OperatingPoints(hospitals, points)


def _point(stated: Mapping[str, object]) -> OperatingPoint:
    threshold = stated["threshold"]
    numbers = (_number(stated[name]) for name in ("target", "hidden", "precision", "least"))
    target, hidden, precision, least = numbers
    return OperatingPoint(target, None if threshold is None else _number(threshold), hidden, precision, least)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, got {type(value).__name__}")
    return float(value)


@dataclass(frozen=True)
class HospitalCurve:
    """What a hospital that was left out has hidden at each of GRID.

    Args:
        entities: of its PHI.
        hidden: how many of them whole, int64 `[grid]`.
        right: hidden words that are PHI, int64 `[grid]`.
        shown: hidden words, int64 `[grid]`.
    """

    entities: int
    hidden: NDArray[np.int64]
    right: NDArray[np.int64]
    shown: NDArray[np.int64]


def choose_points(curves: Mapping[str, HospitalCurve] | Sequence[HospitalCurve]) -> OperatingPoints | None:
    """For each of TARGETS the cheapest threshold of GRID whose median over hospitals reaches it.

    Args:
        curves: of each hospital that was left out; one without PHI says nothing.

    Returns:
        None where fewer than LEAST_HOSPITALS say something, or not even the first target is reached by any threshold.
    """
    every = [one for one in (curves.values() if isinstance(curves, Mapping) else curves) if one.entities]
    if len(every) < LEAST_HOSPITALS:
        return None
    hidden = np.stack([one.hidden / one.entities for one in every])
    precision = np.median(np.stack([one.right / np.maximum(one.shown, 1) for one in every]), axis=0)
    median, least = np.median(hidden, axis=0), hidden.min(axis=0)
    points = []
    for target in TARGETS:
        reached = np.flatnonzero(median >= target)
        if len(reached):
            place = int(reached[0])
            points.append(
                OperatingPoint(
                    target,
                    GRID[place],
                    round(float(median[place]), 4),
                    round(float(precision[place]), 4),
                    round(float(least[place]), 4),
                )
            )
    return OperatingPoints(len(every), tuple(points)) if points else None
