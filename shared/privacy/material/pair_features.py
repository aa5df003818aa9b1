"""What two sentences of a share have in common.

Rows are compared by cosine: equal rows (a deterministic release) and near ones (a noisy release) alike, each common row
weighted by how few sentences of the share have one like it, so that a rare word in common says much and a stop word nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.sentences.ragged import RaggedSentences
from shared.text.casing import CASING_CLASSES

Floats = NDArray[np.float64]

# Rows are alike from these cosines on: equal, very near, near.
_ALIKE = (0.999, 0.95, 0.8)
_BLOCK_ROWS = 1 << 10


@dataclass(frozen=True)
class PairFeatures:
    """Features of all pairs of n sentences.

    Args:
        everything: float64 `[pairs, features]`.
        labels: float64 `[pairs, fewer features]`, those that need tags and lengths only.
        first, second: the two sentences of each pair, int64 `[pairs]`.
    """

    everything: Floats
    labels: Floats
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def pair_features(shown: RaggedSentences) -> PairFeatures:
    """Features of every pair of the sentences of a share."""
    first, second = np.triu_indices(shown.sentences, 1)
    labels = _label_matrices(shown)
    return PairFeatures(
        np.stack([matrix[first, second] for matrix in (*labels, *_value_matrices(shown))], axis=1),
        np.stack([matrix[first, second] for matrix in labels], axis=1),
        first,
        second,
    )


def _label_matrices(shown: RaggedSentences) -> list[Floats]:
    """From tags and lengths: two lengths, shares of PHI, and how alike the categories are."""
    log_lengths = np.log(shown.lengths.astype(np.float64))
    histogram = _sums(np.eye(256)[shown.tags][:, : int(shown.tags.max(initial=0)) + 1], shown)
    phi = histogram[:, 1:].sum(1) / shown.lengths
    return [
        np.abs(log_lengths[:, None] - log_lengths),
        log_lengths[:, None] + log_lengths,
        np.abs(phi[:, None] - phi),
        phi[:, None] + phi,
        _cosines(histogram[:, 1:]),
        _cosines(histogram),
    ]


def _value_matrices(shown: RaggedSentences) -> list[Floats]:
    """From representation and casing."""
    values = np.asarray(shown.values, dtype=np.float64)
    casing = _sums(np.eye(len(CASING_CLASSES))[shown.casing], shown) / shown.lengths[:, None]
    plain = (shown.tags == 0)[:, None]
    unit = _unit(values)
    means = [_sums(values * kind, shown) / shown.lengths[:, None] for kind in (plain, ~plain)]
    matrices: list[Floats] = [np.abs(casing[:, None] - casing).sum(2), *map(_cosines, means), *map(_distances, means)]
    best = _best(unit, shown)
    rarity = np.log(shown.sentences / np.maximum((best >= _ALIKE[1]).sum(1), 1))[:, None]
    # What is common to all sentences says nothing about two of them.
    moved = values - values.mean(0)
    for kind in (plain, ~plain):
        matrices += [_cosines(_sums(moved * kind, shown)), _cosines(_sums(moved * kind * rarity, shown))]
        matrices += [_sums(best.astype(np.float64) * kind * rarity, shown)]
        matrices[-1] = (matrices[-1] + matrices[-1].T) / (shown.lengths[:, None] + shown.lengths)
    for alike in _ALIKE:
        common = best >= alike
        weight = np.log(shown.sentences / np.maximum(common.sum(1), 1))[:, None] * common
        for kind in (plain, ~plain):
            one_way = _sums(weight * kind, shown)
            matrices += [np.log1p(one_way + one_way.T), np.log1p(_highest(weight * kind, shown))]
    return matrices


def _best(unit: Floats, shown: RaggedSentences) -> NDArray[np.float32]:
    """The highest cosine of each token with any token of each sentence, float32 `[tokens, sentences]`."""
    rows = unit.astype(np.float32)
    best = np.empty((len(rows), shown.sentences), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK_ROWS):
        cosines = rows[start : start + _BLOCK_ROWS] @ rows.T
        best[start : start + _BLOCK_ROWS] = np.maximum.reduceat(cosines, shown.starts, axis=1)
    return best


def _highest(weight: Floats, shown: RaggedSentences) -> Floats:
    """The rarest row that two sentences have in common."""
    one_way = np.maximum.reduceat(weight, shown.starts, axis=0)
    result: Floats = np.maximum(one_way, one_way.T)
    return result


def _sums(values: Floats, shown: RaggedSentences) -> Floats:
    """Sum over the tokens of each sentence."""
    result: Floats = np.add.reduceat(values, shown.starts, axis=0)
    return result


def _unit(rows: Floats) -> Floats:
    result: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return result


def _cosines(rows: Floats) -> Floats:
    unit = _unit(rows)
    # Rounded, so that equal sentences get equal features.
    return np.round(unit @ unit.T, 9)


def _distances(rows: Floats) -> Floats:
    squares = (rows**2).sum(1)
    result: Floats = np.sqrt(np.maximum(np.round(squares[:, None] + squares - 2 * rows @ rows.T, 9), 0))
    return result
