"""Which results of a round may take part: of the right length, finite, and not far longer than those of the others.

A site that sends a long update decides a mean alone. So each update is held against the median of all of the round, and what is longer
by a factor is refused, whoever sent it. With two results nobody can tell which of them is wrong: then only the absolute bound counts.

An honest update grows with the steps that it took, like their square root (docs/federated.md has the figures): so lengths are compared
over that root. How many steps it took is the site's own word. So its sentences count for at most a few median sites: what a boast of
them allows is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
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
    OUTLYING = "longer than those of the others"
    TOO_LONG = "longer than any may be"


@dataclass(frozen=True)
class Limits:
    """What an update may be.

    Args:
        times_median: its norm, over the root of its steps, at most so many times the median of the round.
        times_sentences: the sentences by which its steps are counted at most so many times the median of the round.
        most_norm: its norm at most this.
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
        norms: of the updates that take part, by site.
        refused: the others, and why.
    """

    norms: Mapping[str, float]
    refused: Mapping[str, Refusal]


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
    if len(norms) >= _ENOUGH_FOR_A_MEDIAN:
        for site in _outlying(norms, {site: results[site] for site in norms}, recipe, limits):
            refused[site] = Refusal.OUTLYING
            del norms[site]
    return Screened(norms, refused)


def _outlying(
    norms: Mapping[str, float], results: Mapping[str, Sent], recipe: LocalRecipe, limits: Limits
) -> list[str]:
    most = limits.times_sentences * lower_median(np.array([sent.sentences for sent in results.values()], np.float64))

    def steps(sent: Sent) -> int:
        counted = math.ceil(min(sent.sentences, most))
        return STEPS_IN_A_PASS * recipe.epochs if sent.noisy else recipe.steps(counted)

    lengths = {site: norms[site] / math.sqrt(steps(sent)) for site, sent in results.items()}
    usual = lower_median(np.array(list(lengths.values())))
    return [site for site, length in lengths.items() if length > limits.times_median * usual]
