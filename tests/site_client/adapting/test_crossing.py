"""Folds, the choice of a threshold by other notes, own points, and the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from shared.errors import EvaluationError
from shared.evaluation.sampling.paired import Compared, compare_paired, f1_of, share_of
from shared.pipeline.operating_points import GRID
from site_client.adapting.counts import NoteCounts
from site_client.adapting.crossing import deal
from site_client.adapting.gain import Gain, Verdict
from site_client.adapting.points import Curve, choose_place, own_points

NOTES = 20


def counts(hidden: int, shown: int = 20) -> NoteCounts:
    """Every note with 100 entities, so many of them hidden, by 10 of so many words."""
    rows = ([5, 1, 1], [hidden, 100], [10, shown])
    return NoteCounts(*(np.tile(np.array(one, dtype=np.int64), (NOTES, 1)) for one in rows))


def curve(*hidden: int) -> Curve:
    """The share that is hidden in percent, at the first thresholds; the others hide as much as the last."""
    filled = [*hidden, *[hidden[-1]] * (len(GRID) - len(hidden))]
    return Curve(tuple(counts(one) for one in filled))


def test_folds_hold_every_note_once_and_never_part_a_patient() -> None:
    groups = np.array([0, 1, 0, 2, 3, 4, 5, 5, 5, 6, 7], dtype=np.int64)
    folds = deal(groups, 5)
    assert sorted(np.concatenate(folds).tolist()) == list(range(11))
    owners = [set(groups[fold].tolist()) for fold in folds]
    assert sum(map(len, owners)) == len(set.union(*owners))
    assert len(deal(groups[:2], 5)) == 2


@pytest.mark.parametrize(
    ("before", "hidden", "place"),
    [
        (80, (90, 93, 99), 1),  # the usual 92% is reached
        (95, (90, 93, 97), 2),  # the release hides more than that
        (85, (80, 88, 90), 1),  # 92% is out of reach: no less than the release
        (98, (90, 94, 93), 1),  # nothing hides as much: what hides the most
    ],
)
def test_the_cheapest_threshold_that_hides_no_less_than_the_release(
    before: int, hidden: tuple[int, ...], place: int
) -> None:
    assert choose_place(curve(*hidden), counts(before)) == place


@pytest.mark.parametrize("before", [70, 85, 91, 93, 96, 98])
def test_no_point_hides_less_than_the_release(before: int) -> None:
    points = own_points(curve(80, 90, 94, 98), counts(before), np.arange(NOTES))
    assert points is not None
    assert all(one.hidden >= before / 100 for one in points.points)
    assert points.default.hidden >= max(before / 100, 0.92)
    assert all(one.least < one.hidden for one in points.points)


def test_where_nothing_hides_as_much_there_are_no_points() -> None:
    assert own_points(curve(80, 90), counts(95), np.arange(NOTES)) is None


def test_a_paired_difference_is_surer_than_two_figures_beside_one_another() -> None:
    dice = np.random.default_rng(1)
    before = np.stack([dice.integers(0, 20, 40), dice.integers(1, 5, 40), dice.integers(1, 5, 40)], axis=1)
    after = before + np.array([1, 0, -1])
    found = compare_paired(after, before, f1_of)
    sums = after.sum(axis=0)
    assert found.first == pytest.approx(2 * sums[0] / (2 * sums[0] + sums[1] + sums[2]))
    assert found.low <= found.value <= found.high
    assert found.high - found.low < found.first_interval[1] - found.first_interval[0]
    assert found.is_shown
    same = compare_paired(before, before, f1_of)
    assert (same.value, same.low, same.high, same.differing) == (0, 0, 0, 0)
    with pytest.raises(EvaluationError):
        compare_paired(before[:0], before[:0], share_of)


def compared(value: float, *, shown: bool = True) -> Compared:
    low, high = (value, value) if shown else (value - 1, value + 1)
    return Compared(0.5 + value, (0, 1), 0.5, (0, 1), low, high, 10)


@pytest.mark.parametrize(
    ("strict", "hidden", "points", "verdict"),
    [
        (compared(0.1), compared(0.1), True, Verdict.BETTER),
        (compared(0.1, shown=False), compared(0.1), True, Verdict.OPEN),
        (compared(0.1), compared(-0.01, shown=False), True, Verdict.OPEN),
        (compared(0.1), compared(-0.1), True, Verdict.WORSE),
        (compared(-0.1), compared(0.1), True, Verdict.WORSE),
        (compared(0.1), compared(0.1), False, Verdict.WORSE),
    ],
)
def test_hiding_less_is_never_called_better(strict: Compared, hidden: Compared, points: bool, verdict: Verdict) -> None:
    assert Gain(20, 20, False, strict, hidden, compared(0.0), points).verdict is verdict
