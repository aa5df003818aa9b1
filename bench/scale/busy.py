"""Whether the machine had anything else to do, and the middle of a few turns."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence


def state_of_machine() -> str:
    """Load and cores, for the note of what was taken by the clock."""
    load, cores = os.getloadavg()[1], len(os.sched_getaffinity(0))
    word = "BUSY, so this is no figure of the programs" if load > cores + 1 else "idle but for this"
    return f"{cores} cores at a load of {load:.1f}: {word}"


def median_of(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Median and range, to three digits."""

    def rounded(value: float) -> float:
        return float(f"{value:.3g}")

    return rounded(statistics.median(values)), (rounded(min(values)), rounded(max(values)))
