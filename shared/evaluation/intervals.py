"""How sure a measured number is.

Clopper and Pearson's interval is exact for independent trials, such as documents. Spans, tokens and characters of one
document stand or fall together, so theirs is too narrow; the bootstrap over documents is the honest one for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.errors import EvaluationError

_BLOCK = 4_000_000  # document weights held at a time in the bootstrap


def clopper_pearson(hits: float, total: float, *, level: float = 0.95) -> tuple[float, float]:
    """Exact two-sided interval of a binomial proportion (Clopper and Pearson 1934).

    Args:
        hits: successes. total: trials; of trials that depend on one another, as many as they are worth, no whole numbers.
        level: coverage, at least this much.

    Returns:
        (low, high); (0.0, 1.0) where there was no trial.

    Raises:
        EvaluationError: not 0 <= hits <= total, or level not inside (0, 1).
    """
    if not 0 <= hits <= total or not 0 < level < 1:
        raise EvaluationError(f"expected 0 <= hits <= total and a level in (0, 1), got {hits} of {total} at {level}")
    # Imported where it is needed: whoever only reads notes would wait for it.
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(hits, total - hits + 1, tail)) if hits else 0.0
    high = 1 - float(betaincinv(total - hits, hits + 1, tail)) if hits < total else 1.0
    return low, high


def bootstrap_f1(
    by_document: NDArray[np.int64], rng: np.random.Generator, *, resamples: int = 2000, level: float = 0.95
) -> tuple[float, float]:
    """Percentile interval of micro F1 when documents are drawn again with replacement (Efron 1979).

    Args:
        by_document: int64 `[documents, 3]`, tp, fp, fn (`Scores.by_document`).
        rng: seeded by the caller.
        resamples: how many corpora to draw. level: coverage.

    Raises:
        EvaluationError: no documents, no resamples, or level not inside (0, 1).
    """
    documents = len(by_document)
    if not documents or resamples < 1 or not 0 < level < 1:
        raise EvaluationError(
            f"expected documents, resamples and a level inside (0, 1), got {documents}, {resamples} and {level}"
        )
    chances = np.full(documents, 1 / documents)
    values: list[NDArray[np.float64]] = []
    step = max(1, _BLOCK // documents)
    for start in range(0, resamples, step):
        weights = rng.multinomial(documents, chances, size=min(step, resamples - start))
        tp, fp, fn = (weights @ by_document).T
        values.append(2 * tp / np.maximum(2 * tp + fp + fn, 1))
    low, high = np.quantile(np.concatenate(values), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
