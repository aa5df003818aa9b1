"""How far one lies above another: on the same documents, so what both share is no part of the interval."""

from __future__ import annotations

import numpy as np
import pytest

from bench.generalise.figures import gain, interval, share


def test_what_is_the_same_is_no_gain() -> None:
    counts = np.array([[1, 2], [0, 3], [5, 5], [2, 9]])
    assert gain([counts], [counts], share) == (0.0, (0.0, 0.0))


def test_the_interval_is_that_of_the_difference() -> None:
    chance = np.random.default_rng(1)
    hits = chance.integers(0, 10, 200)
    one, other = np.stack([hits + 1, np.full(200, 11)], axis=1), np.stack([hits, np.full(200, 11)], axis=1)
    value, (low, high) = gain([one, one], [other, other], share)
    # Documents differ much, the difference does not: one hit more in each.
    assert value == pytest.approx(1 / 11)
    assert low == pytest.approx(value, abs=1e-4) == high


def test_seeds_that_read_the_same_documents_make_no_interval_narrower() -> None:
    chance = np.random.default_rng(1)
    counts = np.stack([chance.integers(0, 10, 50), np.full(50, 10)], axis=1)
    once, thrice = interval([counts], share), interval([counts] * 3, share)
    assert thrice == once
    assert gain([counts] * 3, [counts * [0, 1]] * 3, share)[1] == once
    # Other documents do.
    low, high = interval([counts, counts[:49], counts[:48]], share)
    assert high - low < 0.7 * (once[1] - once[0])


def test_runs_of_other_sizes_count_alike() -> None:
    short, long = np.array([[1, 1]]), np.array([[0, 1]] * 9)
    assert gain([short, long], [short * [0, 1], long], share)[0] == pytest.approx(0.5)
