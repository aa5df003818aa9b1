"""Words in clusters of like ones, cut in two again and again as long as both halves keep what is promised of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ITERATIONS = 12


def group_words(vectors: NDArray[np.float32], table: NDArray[np.bool_], k: int) -> list[NDArray[np.int64]]:
    """Rows of like words in groups of at least k, for words that hide nothing.

    Args:
        vectors: float32 `[words, dim]`.
        table: casing classes of the words that count, as `casing_table` gives them; none of a word that does not. In each class in which
            any of a group counts, at least k do, or all that there are.
        k: at most the number of words; 0 for no words.
    """
    return bisected(vectors, np.zeros(len(vectors), dtype=np.int64), table, k, 1.0) if len(vectors) else []


def bisected(
    features: NDArray[np.float32], counts: NDArray[np.int64], table: NDArray[np.bool_], k: int, max_share: float
) -> list[NDArray[np.int64]]:
    """Rows in clusters that keep all promises, by 2-means, again and again, until no cut of one leaves two that keep them.

    Each cut is the one closest to the border between the means. Where `max_share` promises nothing and all words are of the same
    casing classes, clusters have fewer than 2k rows.

    Args:
        features: of the words, float32 `[words, dim]`.
        counts: how often public text uses each, int64 `[words]`.
        table: casing classes of each, as `casing_table` gives them.
        k: least number of rows, and of words in each casing class in which any of a cluster is, where there are as many.
        max_share: the most that a word holds of its cluster's counts.
    """
    clusters: list[NDArray[np.int64]] = []
    waiting = [np.arange(len(features))]
    least = np.minimum(table.sum(axis=0), k)
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * k:
            clusters.append(rows)
            continue
        score = _keep_together(split_score(features[rows]), table[rows], least)
        order = np.argsort(score, kind="stable")
        used = counts[rows[order]]
        # Both halves of a cut have k rows at least: cuts from k to len - k.
        sizes = slice(k - 1, len(rows) - k)
        shares = np.maximum(_largest_shares(used)[sizes], _largest_shares(used[::-1])[sizes][::-1])
        kept = (shares <= max_share) & _enough_on_both_sides(table[rows[order]], least)[sizes]
        cuts = np.flatnonzero(kept) + k
        if not len(cuts):
            clusters.append(rows)
            continue
        cut = int(cuts[np.abs(cuts - (score <= 0).sum()).argmin()])
        waiting += [rows[order[:cut]], rows[order[cut:]]]
    return clusters


def _keep_together(
    score: NDArray[np.float32], table: NDArray[np.bool_], least: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The score of each row; that of their mean for words of a casing class of which two halves would have too few."""
    # Else a handful of numbers that lies far and wide would leave no cut at all.
    for kind in np.flatnonzero(table.any(axis=0) & (table.sum(axis=0) < 2 * least)):
        score[table[:, kind]] = score[table[:, kind]].mean()
    return score


def _enough_on_both_sides(table: NDArray[np.bool_], least: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of cuts behind each row, which leave of no casing class too few on a side that has any of it."""
    before = np.cumsum(table, axis=0)
    behind = before[-1] - before
    kept: NDArray[np.bool_] = (((before == 0) | (before >= least)) & ((behind == 0) | (behind >= least))).all(axis=1)
    return kept


def _largest_shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the commonest of the first 1, 2, ... words holds of their frequency; where that is 0, all hold as much."""
    totals = np.cumsum(counts)
    uniform = 1 / np.arange(1, len(counts) + 1)
    return np.where(totals > 0, np.maximum.accumulate(counts) / np.maximum(totals, 1), uniform)


def largest_share(counts: NDArray[np.int64]) -> float:
    """What the commonest of all words holds of their frequency; where that is 0, all hold as much."""
    return float(_largest_shares(counts)[-1])


def split_score(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """Distance of each row from the border between two means, negative on one side of it."""
    centred = features - features.mean(axis=0)
    direction = np.ones(features.shape[1], dtype=np.float32)
    for _ in range(_ITERATIONS):
        direction = centred.T @ (centred @ direction)
        direction /= max(float(np.linalg.norm(direction)), 1e-30)
    score: NDArray[np.float32] = centred @ direction
    for _ in range(_ITERATIONS):
        upper = score > 0
        if upper.all() or not upper.any():
            break
        one, other = centred[upper].mean(axis=0), centred[~upper].mean(axis=0)
        score = centred @ (one - other) - (one @ one - other @ other) / 2
    return score
