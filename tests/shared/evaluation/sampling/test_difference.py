from __future__ import annotations

import numpy as np
import pytest

from shared.evaluation.sampling.difference import compare_recall


def test_it_is_the_difference_of_the_two_recalls() -> None:
    first, second, totals = np.array([3, 4, 0, 2]), np.array([1, 4, 0, 3]), np.array([4, 4, 0, 4])
    found = compare_recall(first, second, totals)
    assert found.value == pytest.approx(9 / 12 - 8 / 12)
    assert found.differing == 2
    assert not found.is_shown


def test_equal_finders_are_shown_apart_as_often_as_it_says() -> None:
    generator = np.random.default_rng(6)
    shown = 0
    for _ in range(600):
        totals = generator.integers(1, 20, size=60)
        chance = generator.beta(8, 1, size=60)
        shown += compare_recall(generator.binomial(totals, chance), generator.binomial(totals, chance), totals).is_shown
    assert 0 < shown / 600 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


def test_a_true_difference_is_shown_and_lies_in_the_interval() -> None:
    generator = np.random.default_rng(7)
    shown = held = 0
    for _ in range(300):
        totals = generator.integers(1, 20, size=120)
        chance = generator.beta(8, 1, size=120)
        second = generator.binomial(totals, chance)
        # The first hides half of what the second leaves.
        first = second + generator.binomial(totals - second, 0.5)
        found = compare_recall(first, second, totals)
        shown += found.is_shown
        held += found.low <= 0.5 * (1 - 8 / 9) <= found.high
    assert shown > 290
    assert held / 300 > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_five_notes_that_differ_show_nothing() -> None:
    totals, second = np.full(50, 4), np.full(50, 3)
    first = second.copy()
    first[:5] += 1
    assert not compare_recall(first, second, totals).is_shown
    first[:8] = 4
    assert compare_recall(first, second, totals).is_shown


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_notes_show_nothing(count: int) -> None:
    totals = np.full(count, 9)
    found = compare_recall(totals, totals - totals, totals)
    assert (found.low, found.high) == (-1.0, 1.0)
    assert not found.is_shown
