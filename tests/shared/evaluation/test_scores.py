"""The measures made of counts, against their definitions in whole fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.evaluation import Scores

COUNTS = st.integers(0, 40)


@given(COUNTS, COUNTS, COUNTS)
def test_f1_counts_every_hit_twice_and_every_miss_once(tp: int, fp: int, fn: int) -> None:
    """The other definition of F1 (van Rijsbergen 1979, chapter 7): one fraction of counts and no mean of two measures."""
    whole = 2 * tp + fp + fn
    expected = Fraction(2 * tp, whole) if whole else 0
    assert Scores(tp, fp, fn).f1 == pytest.approx(float(expected), abs=1e-12)
    assert Scores(tp, fn, fp).f1 == Scores(tp, fp, fn).f1
