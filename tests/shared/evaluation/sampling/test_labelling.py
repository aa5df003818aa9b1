"""The number of notes that is asked for, against populations whose recall is known."""

from __future__ import annotations

import numpy as np
import pytest

from shared.evaluation.sampling.labelling import notes_needed
from shared.evaluation.sampling.recall_interval import Estimate, estimate_recall
from tests.shared.evaluation.sampling.populations import notes


def off_by(generator: np.random.Generator, count: int, recall: float, together: float) -> float:
    """How far the recall of so many notes is from the truth in 95 of 100 samples."""
    errors = []
    for _ in range(400):
        hits, totals = notes(generator, count, recall, together)
        errors.append(abs(hits.sum() / totals.sum() - recall))
    return float(np.quantile(errors, 0.95))


@pytest.mark.parametrize(("recall", "together"), [(0.9, 0.0), (0.9, 0.2), (0.97, 0.1), (0.6, 0.3)])
def test_so_many_notes_tell_the_recall_within_a_point(recall: float, together: float) -> None:
    generator = np.random.default_rng(1)
    needed = notes_needed(estimate_recall(*notes(generator, 400, recall, together)))
    assert needed is not None
    # A point, and what 400 samples and a variance from 400 notes leave open.
    assert off_by(generator, needed, recall, together) < 0.0115
    # It is no number that would always do: a quarter of the notes are off by twice as much.
    assert off_by(generator, needed // 4, recall, together) > 0.0155


def test_it_is_the_formula_of_the_docstring_where_notes_are_many() -> None:
    hits, totals = notes(np.random.default_rng(3), 3000, 0.8, 0.3)
    share = hits.sum() / totals.sum()
    spread = np.var(hits - share * totals, ddof=1)
    expected = (1.959964 / 0.01) ** 2 * spread / totals.mean() ** 2
    assert notes_needed(estimate_recall(hits, totals)) == pytest.approx(expected, rel=0.05)


def test_notes_that_were_labelled_to_a_point_are_enough() -> None:
    measured = estimate_recall(*notes(np.random.default_rng(2), 2000, 0.9, 0.1))
    needed = notes_needed(measured, measured.within)
    assert needed is not None
    assert abs(needed - measured.notes) <= 1


def test_without_a_miss_more_notes_are_asked_for_all_the_same() -> None:
    totals = np.full(20, 10)
    needed = notes_needed(estimate_recall(totals, totals))
    assert needed is not None
    # 367 independent entities would do (ln .025 / ln .99), and these are not taken for independent.
    assert needed > 37


@pytest.mark.parametrize("count", [0, 1])
def test_from_nothing_no_number_follows(count: int) -> None:
    totals = np.full(count, 4)
    assert notes_needed(estimate_recall(totals, totals)) is None


def test_what_no_number_reaches_is_none() -> None:
    assert notes_needed(Estimate(1, 2, 2, 1e9, 0, 1), 1e-4) is None
