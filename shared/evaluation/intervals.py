"""How sure a measured number is.

Clopper and Pearson's interval is exact for independent trials, such as documents. Spans, tokens and characters of one
document stand or fall together, so theirs is too narrow; the bootstrap over documents is the honest one for them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shared.errors import EvaluationError

_BLOCK = 4_000_000  # document weights held at a time in the bootstrap


def clopper_pearson(hits: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Exact two-sided interval of a binomial proportion (Clopper and Pearson 1934).

    Args:
        hits: successes. total: trials. level: coverage, at least this much.

    Returns:
        (low, high); (0.0, 1.0) where there was no trial.

    Raises:
        EvaluationError: not 0 <= hits <= total, or level not inside (0, 1).
    """
    if not 0 <= hits <= total or not 0 < level < 1:
        raise EvaluationError(f"expected 0 <= hits <= total and a level in (0, 1), got {hits} of {total} at {level}")
    tail = (1 - level) / 2
    low = _beta_quantile(tail, hits, total - hits + 1) if hits else 0.0
    high = 1 - _beta_quantile(tail, total - hits, hits + 1) if hits < total else 1.0
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


def _beta_quantile(chance: float, a: float, b: float) -> float:
    """x with I_x(a, b) = chance: Newton's method inside a shrinking bracket."""
    low, high = 0.0, 1.0
    x = a / (a + b)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    for _ in range(200):
        excess = _beta_cdf(x, a, b) - chance
        if excess > 0:
            high = x
        else:
            low = x
        density = math.exp(scale + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))
        step = x - excess / density if density else -1.0
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= 1e-15 + 1e-13 * x:
            return following
        x = following
    return x


def _beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b), by its continued fraction (NIST DLMF 8.17.22)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_cdf(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    # Lentz's method; tiny stands in for a zero denominator.
    tiny = 1e-300
    c, d, fraction = 1.0, 0.0, 1.0
    for m in range(10_000):
        for term in _fraction_terms(m, x, a, b):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front / fraction


def _fraction_terms(m: int, x: float, a: float, b: float) -> tuple[float, float]:
    """d_{2m+1} and d_{2m+2} of DLMF 8.17.23."""
    odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    n = m + 1
    even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n))
    return odd, even
