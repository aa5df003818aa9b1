from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import EvaluationError
from shared.evaluation import clopper_pearson
from shared.evaluation.sampling.recall_interval import design_effect, estimate_recall, interval_of
from tests.shared.evaluation.sampling.populations import Counts, notes


def counts(*pairs: tuple[int, int]) -> tuple[Counts, Counts]:
    hits, totals = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return hits, totals


@settings(deadline=None, max_examples=40)
@given(st.lists(st.booleans(), min_size=2, max_size=60))
def test_with_one_entity_a_note_it_is_the_ordinary_interval(found: list[bool]) -> None:
    estimate = estimate_recall(*counts(*((int(one), 1) for one in found)))
    low, high = clopper_pearson(sum(found), len(found))
    # The variance of the sample, with n - 1, makes the design effect n / (n - 1) of the binomial's, and nothing more.
    assert low - 0.02 <= estimate.low <= low + 1e-9
    assert high - 1e-9 <= estimate.high <= high + 0.02


@pytest.mark.parametrize("together", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("recall", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("count", [12, 60, 200])
def test_the_truth_lies_in_the_interval_as_often_as_it_says(count: int, recall: float, together: float) -> None:
    generator = np.random.default_rng(count)
    samples = 400
    held = 0
    for _ in range(samples):
        estimate = estimate_recall(*notes(generator, count, recall, together))
        held += estimate.low <= recall <= estimate.high
    # 95% of 400, less three standard errors.
    assert held / samples > 0.95 - 3 * np.sqrt(0.95 * 0.05 / samples)


def test_entities_taken_for_independent_would_say_too_much() -> None:
    """What the ordinary interval is worth on the same notes: the test above can fail."""
    generator = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        hits, totals = notes(generator, 60, 0.95, 0.25)
        low, high = clopper_pearson(int(hits.sum()), int(totals.sum()))
        held += low <= 0.95 <= high
    assert held / 400 < 0.8


def test_no_miss_is_not_all() -> None:
    estimate = estimate_recall(*counts(*[(10, 10)] * 40))
    assert (estimate.value, estimate.high) == (1.0, 1.0)
    # Between what 400 independent entities and what 40 entities would show.
    assert clopper_pearson(40, 40)[0] < estimate.low < clopper_pearson(400, 400)[0]


def test_one_more_miss_never_raises_the_lower_end() -> None:
    totals = np.full(80, 10)
    lows = []
    for missed in range(40):
        hits = totals.copy()
        hits[:missed] -= 1
        lows.append(estimate_recall(hits, totals).low)
    assert lows == sorted(lows, reverse=True)


def test_a_note_that_is_all_missed_weighs_more_than_as_many_misses_in_as_many_notes() -> None:
    totals = np.full(100, 10)
    gathered, scattered = totals.copy(), totals.copy()
    gathered[:10] = 0
    scattered -= 1
    assert gathered.sum() == scattered.sum()
    assert estimate_recall(gathered, totals).within > 2 * estimate_recall(scattered, totals).within


@pytest.mark.parametrize("pairs", [(), ((0, 0), (0, 0)), ((3, 4),), ((4, 4), (0, 0))])
def test_of_fewer_than_two_notes_with_phi_nothing_is_known(pairs: tuple[tuple[int, int], ...]) -> None:
    estimate = estimate_recall(*counts(*pairs))
    assert (estimate.low, estimate.high) == (0.0, 1.0)


def test_notes_without_phi_say_nothing() -> None:
    some = counts((3, 4), (5, 5), (2, 6), (1, 1))
    more = counts((3, 4), (0, 0), (5, 5), (2, 6), (0, 0), (1, 1))
    assert estimate_recall(*some) == estimate_recall(*more)


def test_more_hits_than_entities_are_refused() -> None:
    with pytest.raises(EvaluationError):
        estimate_recall(*counts((2, 1), (1, 1)))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
def test_the_measured_value_lies_within_and_entities_never_count_double(pairs: list[tuple[int, int]]) -> None:
    hits, totals = counts(*((min(one), max(one)) for one in pairs))
    estimate = estimate_recall(hits, totals)
    assert 0 <= estimate.low <= estimate.value + 1e-12
    assert estimate.value <= estimate.high + 1e-12 <= 1 + 1e-9
    assert estimate.worth >= 1
    if estimate.total:
        low, high = clopper_pearson(estimate.hits, estimate.total)
        assert estimate.low <= low + 1e-9
        assert estimate.high >= high - 1e-9


def test_the_design_effect_is_that_of_resampled_notes() -> None:
    """The variance of the share over notes drawn again, by a plain loop, against that of as many independent entities."""
    generator = np.random.default_rng(9)
    hits, totals = notes(generator, 4000, 0.8, 0.2)
    shares = []
    for _ in range(600):
        drawn = generator.integers(0, len(hits), size=len(hits))
        shares.append(hits[drawn].sum() / totals[drawn].sum())
    share = hits.sum() / totals.sum()
    seen = np.var(shares) / (share * (1 - share) / totals.sum())
    assert design_effect(hits, totals) == pytest.approx(seen, rel=0.15)


def test_more_notes_of_the_kind_tell_more() -> None:
    widths = [np.ptp(interval_of(0.95, 10 * count, count, 2.0)) for count in (2, 5, 20, 100, 1000)]
    assert widths == sorted(widths, reverse=True)
