"""Which results of a round may take part: of the right length, finite, and not far longer than those of the others.

A site that sends a long update decides a mean alone. So the norm of an update is held against the median of all of the round, and
what is longer by a factor is refused, whoever sent it. With two results nobody can tell which of them is wrong: then only the
absolute bound counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shared.federated.weights import Vector

_ENOUGH_FOR_A_MEDIAN = 3


class Refusal(StrEnum):
    """Why a result takes no part."""

    SHAPE = "of another length"
    NOT_FINITE = "not finite"
    OUTLYING = "longer than those of the others"
    TOO_LONG = "longer than any may be"


@dataclass(frozen=True)
class Limits:
    """What an update may be.

    Args:
        times_median: its norm at most so many times the median norm of the round.
        most_norm: and at most this.
    """

    times_median: float = 4.0
    most_norm: float = 1e3


@dataclass(frozen=True)
class Screened:
    """What is left of a round.

    Args:
        norms: of the updates that take part, by site.
        refused: the others, and why.
    """

    norms: Mapping[str, float]
    refused: Mapping[str, Refusal]


def screen(start: Vector, results: Mapping[str, Vector], limits: Limits) -> Screened:
    """Look at all results of a round.

    Args:
        start: weights that the round began with.
        results: weights that sites ended with.
        limits: of their updates.
    """
    norms: dict[str, float] = {}
    refused: dict[str, Refusal] = {}
    for site, weights in results.items():
        if weights.shape != start.shape or weights.dtype != np.float32:
            refused[site] = Refusal.SHAPE
        elif not bool(np.isfinite(weights).all()):
            refused[site] = Refusal.NOT_FINITE
        else:
            # In float64: what is just finite has a square that is not.
            norms[site] = float(np.linalg.norm(weights.astype(np.float64) - start))
    # What is too long for anything has no say in what is usual.
    for site in [site for site, norm in norms.items() if not norm <= limits.most_norm]:
        refused[site] = Refusal.TOO_LONG
        del norms[site]
    if len(norms) >= _ENOUGH_FOR_A_MEDIAN:
        usual = float(np.median(list(norms.values())))
        for site in [site for site, norm in norms.items() if norm > limits.times_median * usual]:
            refused[site] = Refusal.OUTLYING
            del norms[site]
    return Screened(norms, refused)
