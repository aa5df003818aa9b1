"""Which results of a round may take part, and how far: of the right length, finite, and clipped to what those of the others make usual.

A site that sends a long update decides a mean alone. So each update is held against the median of all of the round, and what is longer
by a factor is shortened to that, whoever sent it. It is not refused: an honest site far larger than the median goes as far, and one that
lies of its size could else take it out. With two results nobody can tell which of them is wrong: then only the absolute bound counts.

An honest update grows with the steps that it took, like their square root (docs/federated.md has the figures): so lengths are compared
over that root. How many steps it took is the site's own word. So its sentences count for at most a few median sites: what a boast of
them allows is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from shared.federated.aggregation import lower_median
from shared.federated.local import LocalRecipe
from shared.federated.private import STEPS_IN_A_PASS
from shared.federated.weights import Vector

_ENOUGH_FOR_A_MEDIAN = 3


class Refusal(StrEnum):
    """Why a result takes no part."""

    SHAPE = "of another length"
    NOT_FINITE = "not finite"
    TOO_LONG = "longer than any may be"


@dataclass(frozen=True)
class Limits:
    """What an update may be.

    Args:
        times_median: its norm, over the root of its steps, counts for at most so many times the median of the round.
        times_sentences: the sentences by which its steps are counted at most so many times the median of the round.
        most_norm: its norm at most this; what is longer is no update of anybody.
    """

    times_median: float = 4.0
    times_sentences: float = 6.0
    most_norm: float = 1e3


@dataclass(frozen=True)
class Sent:
    """What a site sent.

    Args:
        weights: that it ended with.
        sentences: that it says it learned from.
        noisy: whether it says that it added noise.
    """

    weights: Vector
    sentences: int
    noisy: bool = False


@dataclass(frozen=True)
class Screened:
    """What is left of a round.

    Args:
        norms: of the updates that take part, as they came, by site.
        refused: the others, and why.
        clipped: the norm that is left of those that went too far.
    """

    norms: Mapping[str, float]
    refused: Mapping[str, Refusal]
    clipped: Mapping[str, float] = field(default_factory=dict)

    def factor(self, site: str) -> float:
        """What an update is multiplied by before it counts: 1 but for one that went too far."""
        return self.clipped[site] / self.norms[site] if site in self.clipped else 1.0


def screen(start: Vector, results: Mapping[str, Sent], recipe: LocalRecipe, limits: Limits) -> Screened:
    """Look at all results of a round.

    Args:
        start: weights that the round began with.
        results: of the sites.
        recipe: that sites were asked to follow.
        limits: of their updates.
    """
    norms: dict[str, float] = {}
    refused: dict[str, Refusal] = {}
    for site, sent in results.items():
        if sent.weights.shape != start.shape or sent.weights.dtype != np.float32:
            refused[site] = Refusal.SHAPE
        elif not bool(np.isfinite(sent.weights).all()):
            refused[site] = Refusal.NOT_FINITE
        else:
            # In float64: what is just finite has a square that is not.
            norms[site] = float(np.linalg.norm(sent.weights.astype(np.float64) - start))
    # What is too long for anything has no say in what is usual.
    for site in [site for site, norm in norms.items() if not norm <= limits.most_norm]:
        refused[site] = Refusal.TOO_LONG
        del norms[site]
    enough = len(norms) >= _ENOUGH_FOR_A_MEDIAN
    return Screened(norms, refused, _clipped(norms, results, recipe, limits) if enough else {})


def _clipped(
    norms: Mapping[str, float], results: Mapping[str, Sent], recipe: LocalRecipe, limits: Limits
) -> dict[str, float]:
    most = limits.times_sentences * lower_median(np.array([results[site].sentences for site in norms], np.float64))

    def steps(sent: Sent) -> int:
        counted = math.ceil(min(sent.sentences, most))
        return STEPS_IN_A_PASS * recipe.epochs if sent.noisy else recipe.steps(counted)

    roots = {site: math.sqrt(steps(results[site])) for site in norms}
    usual = lower_median(np.array([norms[site] / roots[site] for site in norms]))
    may = {site: limits.times_median * usual * roots[site] for site in norms}
    return {site: may[site] for site in norms if norms[site] > may[site]}
