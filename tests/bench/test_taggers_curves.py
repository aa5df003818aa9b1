"""Taggers at one precision: made-up curves whose points are known, and a pipeline that is read at every threshold."""

from __future__ import annotations

import numpy as np
import pytest

from bench.taggers.curves import THRESHOLDS, Curve, hidden_at_the_precision_of

PLACES = len(THRESHOLDS)
NOTES = 4


def a_curve(false: list[int], hidden: list[int]) -> Curve:
    """Of four notes alike; every tagger finds 90 tokens in each, and 10 entities are there."""
    last = PLACES - len(false)
    tokens = [[[90, one, 0]] * NOTES for one in [*false, *false[-1:] * last]]
    shares = [[[one, 10]] * NOTES for one in [*hidden, *hidden[-1:] * last]]
    return Curve.of({"tokens": tokens, "hidden": shares})


def test_a_tagger_that_is_only_less_careful_gains_nothing() -> None:
    careful, careless = a_curve([0, 10, 30], [5, 8, 9]), a_curve([10, 30], [8, 9])
    hidden, more, interval = hidden_at_the_precision_of([careless], [careful])
    assert hidden == pytest.approx(0.8)
    assert more == pytest.approx(0)
    assert interval == (0, 0)


def test_a_tagger_that_hides_more_at_the_same_precision_gains_the_difference() -> None:
    ours, theirs = a_curve([0, 10], [5, 7]), a_curve([10], [9])
    assert hidden_at_the_precision_of([theirs, theirs], [ours, ours])[1] == pytest.approx(0.2)


def test_between_two_thresholds_what_is_hidden_lies_on_a_line() -> None:
    curve = a_curve([10, 30], [6, 8])
    middle = (0.9 + 0.75) / 2
    assert curve.hidden_at(middle) == pytest.approx(0.7)
    assert curve.hidden_at(0.99) == pytest.approx(0.6)
    assert curve.hidden_at(0.1) == pytest.approx(0.8)


def test_precision_that_is_lost_stays_lost() -> None:
    curve = a_curve([30, 10], [6, 7])
    assert curve.precision() == pytest.approx(np.full(PLACES, 0.75))
    # Both points are as precise: what the lower threshold hides is had without further loss.
    assert curve.hidden_at(0.75) == pytest.approx(0.7)
