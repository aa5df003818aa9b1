"""Speeds as ratios: what is compared runs turn by turn, so that whatever slows the machine slows both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 2000


@dataclass(frozen=True)
class Ratio:
    """The median of ratios taken turn by turn, with its 95% bootstrap interval over the turns."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def seconds_by_turns(actions: Mapping[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """Wall clock of each action in each turn, A B C A B C..., after one turn that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(turns + 1):
        for name, action in actions.items():
            began = time.perf_counter()
            action()
            if turn:
                taken[name].append(time.perf_counter() - began)
    return taken


def ratio(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Ratio of figures that were taken in the same turns."""
    ratios = np.array(above) / np.array(below)
    draws = np.random.default_rng(0).integers(len(ratios), size=(_RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(ratios[draws], axis=1), [2.5, 97.5])
    return Ratio(round(float(np.median(ratios)), 3), round(float(low), 3), round(float(high), 3))
