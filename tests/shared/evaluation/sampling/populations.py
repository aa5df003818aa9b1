"""Populations of notes whose true recall is known, and whose misses gather in notes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def notes(
    generator: np.random.Generator, count: int, recall: float, together: float, sizes: tuple[int, int] = (2, 30)
) -> tuple[Counts, Counts]:
    """Hits and entities of notes: a recall of its own for each, beta with the mean and the correlation that are asked for.

    Args:
        generator: seeded by the caller.
        count: how many notes.
        recall: the true one.
        together: correlation of two entities of a note; 0 for none.
        sizes: fewest and most entities of a note.
    """
    totals = generator.integers(sizes[0], sizes[1], size=count, endpoint=True)
    if not together:
        return generator.binomial(totals, recall), totals
    weight = 1 / together - 1
    own = generator.beta(recall * weight, (1 - recall) * weight, size=count)
    return generator.binomial(totals, own), totals
