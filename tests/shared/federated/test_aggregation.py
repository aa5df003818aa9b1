"""What one update comes of several: against the definitions done by hand, and against sites that lie."""

from __future__ import annotations

import statistics
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.federated import aggregation
from shared.federated.aggregation import cap_weights, coordinate_median, krum, trimmed_mean, weighted_mean
from shared.federated.strategies import STRATEGIES, find_strategy

NUMBERS = 7
ROBUST = (coordinate_median, trimmed_mean, krum)


def updates(sites: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((sites, NUMBERS)).astype(np.float32)


def even(sites: int) -> NDArray[np.float64]:
    return np.full(sites, 1 / sites)


@pytest.mark.parametrize(
    ("counts", "most"),
    [([1000, 1e10], 0.75), ([1000, 900, 1e10, 1e10], 0.38), ([1000, 900, 800, 1e10], 0.5), ([10, 10], 0.5), ([7], 1.0)],
)
def test_a_site_that_boasts_counts_for_three_median_ones_whatever_their_number(
    counts: list[float], most: float
) -> None:
    """Of an even number the lower median: the mean of the middle ones grows with what is boasted."""
    weights = cap_weights(np.array(counts))
    assert weights.sum() == pytest.approx(1)
    assert weights.max() == pytest.approx(most, abs=0.02)


@given(st.integers(1, 9), st.integers(0, 50))
def test_mean_median_and_trimmed_mean_are_what_the_papers_define(sites: int, seed: int) -> None:
    rows = updates(sites, seed)
    weights = cap_weights(np.arange(1.0, sites + 1))
    columns = rows.T.tolist()
    mean = [sum(w * x for w, x in zip(weights, column, strict=True)) for column in columns]
    np.testing.assert_allclose(weighted_mean(rows, weights), mean, rtol=1e-5, atol=1e-6)
    medians = [statistics.median(column) for column in columns]
    np.testing.assert_allclose(coordinate_median(rows, weights), medians, rtol=1e-6)
    cut = min(2, (sites - 1) // 2)
    trimmed = [statistics.mean(sorted(column)[cut : sites - cut]) for column in columns]
    np.testing.assert_allclose(trimmed_mean(rows, weights, 2), trimmed, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_the_order_of_the_sites_decides_nothing(name: str) -> None:
    rows, weights = updates(5), cap_weights(np.array([5.0, 4, 3, 2, 6]))
    results = [
        STRATEGIES[name].combine(rows[list(order)], weights[list(order)], 1)
        for order in list(permutations(range(5)))[::17]
    ]
    for result in results:
        np.testing.assert_allclose(result, results[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("combine", ROBUST)
def test_one_site_that_lies_cannot_carry_the_result_away(combine: aggregation.Combine) -> None:
    rows = updates(7)
    rows[3] = 1e6
    assert np.abs(combine(rows, even(7), 1)).max() < 5
    # The mean shows that the lie is one.
    assert np.abs(weighted_mean(rows, even(7))).max() > 1e5


def test_krum_leaves_out_the_one_that_lies_far_off() -> None:
    rows = updates(6)
    rows[2] += 50
    honest = [0, 1, 3, 4, 5]
    np.testing.assert_allclose(krum(rows, even(6), 1), rows[honest].mean(0), rtol=1e-4, atol=1e-5)


def test_krum_weighs_the_chosen_by_their_own_weights() -> None:
    rows = updates(6)
    rows[0] += 50
    weights = np.array([1.0, 2, 3, 4, 5, 6]) / 21
    expected = (weights[1:, None] * rows[1:]).sum(0) / weights[1:].sum()
    np.testing.assert_allclose(krum(rows, weights, 1), expected, rtol=1e-4, atol=1e-5)


def test_pieces_of_coordinates_give_what_all_at_once_give(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = updates(5)
    whole = [combine(rows, even(5), 1) for combine in ROBUST]
    monkeypatch.setattr(aggregation, "_PIECE", 2)
    for combine, expected in zip(ROBUST, whole, strict=True):
        np.testing.assert_array_equal(combine(rows, even(5), 1), expected)


def test_a_site_that_claims_many_sentences_counts_for_three_median_ones() -> None:
    weights = cap_weights(np.array([100.0, 100, 100, 1e12]))
    np.testing.assert_allclose(weights, [1 / 6, 1 / 6, 1 / 6, 1 / 2])
    with pytest.raises(ConfigurationError, match="above 0"):
        cap_weights(np.array([10.0, 0.0]))


def test_strategies_ask_for_the_sites_that_their_papers_do() -> None:
    assert [find_strategy(name).least_results(2) for name in ("fedavg", "median", "trimmed-mean", "krum")] == [
        1,
        5,
        5,
        7,
    ]
    with pytest.raises(ConfigurationError, match="strategy"):
        find_strategy("best")
