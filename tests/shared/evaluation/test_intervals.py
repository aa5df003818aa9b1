"""Intervals against exact binomial sums in rational arithmetic and a plain loop of resampling."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import EvaluationError
from shared.evaluation import bootstrap_f1, clopper_pearson


def at_least(hits: int, total: int, chance: float) -> float:
    """P(X >= hits) of a binomial, by its sum."""
    p = Fraction(chance)
    return float(sum(math.comb(total, k) * p**k * (1 - p) ** (total - k) for k in range(hits, total + 1)))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_ends_leave_half_the_error_on_each_side(total: int, data: st.DataObject, level: float) -> None:
    hits = data.draw(st.integers(0, total))
    low, high = clopper_pearson(hits, total, level=level)
    assert 0 <= low <= hits / total <= high <= 1
    if hits:
        assert at_least(hits, total, low) == pytest.approx((1 - level) / 2, rel=1e-9)
    else:
        assert low == 0
    if hits < total:
        assert 1 - at_least(hits + 1, total, high) == pytest.approx((1 - level) / 2, rel=1e-9)
    else:
        assert high == 1


def test_no_hit_has_its_closed_form() -> None:
    assert clopper_pearson(0, 10) == pytest.approx((0.0, 1 - 0.025 ** (1 / 10)), rel=1e-12)
    assert clopper_pearson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "total"), [(500_000, 1_000_000), (999_000, 1_000_000), (30_000, 40_000)])
def test_large_counts_approach_the_normal_interval(hits: int, total: int) -> None:
    p = hits / total
    half = 1.959964 * math.sqrt(p * (1 - p) / total)
    assert clopper_pearson(hits, total) == pytest.approx((p - half, p + half), abs=0.05 * half)


@pytest.mark.parametrize(("hits", "total", "level"), [(-1, 2, 0.9), (3, 2, 0.9), (1, 2, 1.0), (1, 2, 0.0)])
def test_impossible_counts_are_refused(hits: int, total: int, level: float) -> None:
    with pytest.raises(EvaluationError):
        clopper_pearson(hits, total, level=level)


COUNTS = np.array([[8, 1, 0], [3, 2, 4], [0, 0, 0], [5, 0, 5], [9, 1, 1], [2, 6, 0]], dtype=np.int64)


def test_bootstrap_agrees_with_a_plain_loop() -> None:
    draw = random.Random(5)
    values = []
    for _ in range(20_000):
        tp, fp, fn = (sum(column) for column in zip(*draw.choices(COUNTS.tolist(), k=len(COUNTS)), strict=True))
        values.append(2 * tp / (2 * tp + fp + fn))
    values.sort()
    interval = bootstrap_f1(COUNTS, np.random.default_rng(3), resamples=20_000)
    assert interval == pytest.approx((values[500], values[19_500]), abs=0.01)


def test_bootstrap_is_repeated_by_its_seed_and_flat_where_documents_agree() -> None:
    first, second = (bootstrap_f1(COUNTS, np.random.default_rng(7)) for _ in range(2))
    assert first == second
    alike = np.repeat(COUNTS[:1], 5, axis=0)
    assert bootstrap_f1(alike, np.random.default_rng(0)) == pytest.approx((16 / 17, 16 / 17))
    nothing = np.zeros((3, 3), dtype=np.int64)
    assert bootstrap_f1(nothing, np.random.default_rng(0)) == (0.0, 0.0)


def test_bootstrap_without_documents_is_refused() -> None:
    with pytest.raises(EvaluationError):
        bootstrap_f1(COUNTS[:0], np.random.default_rng(0))
    with pytest.raises(EvaluationError):
        bootstrap_f1(COUNTS, np.random.default_rng(0), resamples=0)
