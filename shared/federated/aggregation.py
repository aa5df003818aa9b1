"""How the updates of several sites become one, coordinate by coordinate or site by site; pure functions of arrays.

Updates are differences from the weights that a round began with, float32 `[sites, numbers]`. Sums are taken in float64 and in
pieces, so that the order of the sites decides nothing that matters and no second copy of all updates is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.federated.weights import Vector

Updates = NDArray[np.float32]
"""One row a site."""
Combine = Callable[[Updates, NDArray[np.float64], int], Vector]
"""From updates, the weight of each site, and how many sites may lie, to one update."""

# Coordinates that are looked at together.
_PIECE = 1 << 16
MOST_TIMES_MEDIAN = 3.0
"""A site counts for at most so many median sites: its number of sentences is what it says itself."""


def cap_weights(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each site in a mean: by its sentences, no site more than three times the median one; of an even number the lower of
    the middle two, since half of the sites may boast together, and one of two.

    Raises:
        ConfigurationError: a count that is not positive.
    """
    if not len(counts) or not bool((counts > 0).all()):
        raise ConfigurationError("expected the sentences of at least one site, all above 0, got others")
    capped = np.minimum(counts, MOST_TIMES_MEDIAN * lower_median(counts))
    weights: NDArray[np.float64] = capped / capped.sum()
    return weights


def lower_median(values: NDArray[np.float64]) -> float:
    """The median; of an even number of values the lower of the middle two, which half of the sites together can't raise."""
    return float(np.sort(values)[(len(values) - 1) // 2])


def weighted_mean(updates: Updates, weights: NDArray[np.float64], liars: int = 0) -> Vector:
    """The mean by weights (FedAvg: McMahan et al. 2017, algorithm 1). One site that lies can bend it at will."""
    result = np.empty(updates.shape[1], dtype=np.float32)
    for part in _pieces(updates.shape[1]):
        result[part] = weights @ updates[:, part].astype(np.float64)
    return result


def coordinate_median(updates: Updates, weights: NDArray[np.float64], liars: int = 0) -> Vector:
    """The median of each coordinate (Yin et al. 2018, definition 1); every site has one voice."""
    result = np.empty(updates.shape[1], dtype=np.float32)
    for part in _pieces(updates.shape[1]):
        result[part] = np.median(updates[:, part], axis=0)
    return result


def trimmed_mean(updates: Updates, weights: NDArray[np.float64], liars: int = 1) -> Vector:
    """The mean of each coordinate without its `liars` largest and smallest values (Yin et al. 2018, definition 2).

    Where so many can't be left out, as many as leave one value are.
    """
    cut = min(liars, (len(updates) - 1) // 2)
    result = np.empty(updates.shape[1], dtype=np.float32)
    for part in _pieces(updates.shape[1]):
        ordered = np.sort(updates[:, part], axis=0)
        result[part] = ordered[cut : len(ordered) - cut].mean(axis=0, dtype=np.float64)
    return result


def krum(updates: Updates, weights: NDArray[np.float64], liars: int = 1) -> Vector:
    """The mean of the `sites - liars` updates that lie closest to their neighbours (multi-Krum: Blanchard et al. 2017).

    The score of an update is the sum of its squared distances to the `sites - liars - 2` nearest others. The paper's guarantee
    takes at least `2 * liars + 3` sites; `Strategy.least_results` asks for them.
    """
    sites = len(updates)
    if sites < 3:
        return coordinate_median(updates, weights)
    liars = min(liars, max((sites - 3) // 2, 0))
    distances = squared_distances(updates)
    np.fill_diagonal(distances, np.inf)
    near = np.sort(distances, axis=1)[:, : max(sites - liars - 2, 1)]
    chosen = np.argsort(near.sum(1), kind="stable")[: sites - liars]
    shares = weights[chosen] / weights[chosen].sum()
    return weighted_mean(updates[np.sort(chosen)], shares[np.argsort(chosen)])


def squared_distances(updates: Updates) -> NDArray[np.float64]:
    """Between all pairs, float64 `[sites, sites]`."""
    total = np.zeros((len(updates), len(updates)))
    for part in _pieces(updates.shape[1]):
        piece = updates[:, part].astype(np.float64)
        for row in range(len(piece)):
            total[row] += ((piece - piece[row]) ** 2).sum(1)
    return total


def _pieces(numbers: int) -> Iterator[slice]:
    for first in range(0, numbers, _PIECE):
        yield slice(first, min(first + _PIECE, numbers))
