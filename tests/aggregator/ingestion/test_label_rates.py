"""Which shares stand out by their labels: those gone wrong, and not those of ordinary hospitals or of few tokens."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.ingestion.label_rates import Reference, _stands_out, describe_outliers

NAMES = ("NAME", "DATE", "CITY")
# "O", then "B-" and "I-" of each.
USUAL = (85_000, 3_000, 3_000, 5_000, 1_000, 2_800, 200)


def reference(counts: tuple[int, ...] = USUAL, factor: float = 4.0) -> Reference:
    return Reference("its earlier shares", counts, factor)


@pytest.mark.parametrize(
    ("counts", "names"),
    [
        (USUAL, ()),
        (tuple(count // 10 for count in USUAL), ()),
        # Hospitals differ: three times the dates, no city at all in a small share.
        ((73_000, 3_000, 3_000, 15_000, 3_000, 2_800, 200), ()),
        ((850, 30, 30, 80, 10, 0, 0), ()),
        # Nothing labelled any more; everything; two categories exchanged; one that was rare until now.
        ((100_000, 0, 0, 0, 0, 0, 0), ("PHI of any kind", "NAME", "DATE", "CITY")),
        ((0, 0, 0, 100_000, 0, 0, 0), ("no PHI", "PHI of any kind", "NAME", "DATE", "CITY")),
        ((85_000, 200, 100, 5_000, 1_000, 6_000, 2_700), ("NAME",)),
        ((60_000, 3_000, 3_000, 5_000, 1_000, 20_000, 8_000), ("CITY",)),
    ],
)
def test_what_stands_out_is_named(counts: tuple[int, ...], names: tuple[str, ...]) -> None:
    reason = describe_outliers(counts, reference(), NAMES)
    if not names:
        assert reason is None
    else:
        assert reason is not None
        assert "its earlier shares" in reason
        for name in names:
            assert f"{name} on " in reason
        assert reason.count(" on ") == len(names)


@pytest.mark.parametrize(("here", "there"), [((), USUAL), ((0,) * 7, USUAL), (USUAL, (0,) * 7)])
def test_there_must_be_something_to_compare(here: tuple[int, ...], there: tuple[int, ...]) -> None:
    assert describe_outliers(here, reference(there), NAMES) is None


@given(
    rates=st.tuples(st.floats(0.001, 0.5), st.floats(1.0, 3.0), st.booleans()),
    tokens=st.tuples(st.integers(1, 1_000_000), st.integers(1, 1_000_000)),
)
@settings(max_examples=80, deadline=None)
def test_counts_at_their_rates_within_the_factor_never_stand_out(
    rates: tuple[float, float, bool], tokens: tuple[int, int]
) -> None:
    rate, ratio, more = rates
    here, there = rate * (ratio if more else 1) / 3, rate * (1 if more else ratio) / 3
    assert not _stands_out(round(here * tokens[0]), tokens[0], round(there * tokens[1]), tokens[1], 4.0)


@given(
    here=st.integers(0, 400),
    there=st.integers(0, 400),
    tokens=st.tuples(st.integers(400, 5000), st.integers(400, 5000)),
)
@settings(max_examples=80, deadline=None)
def test_the_two_sides_are_alike(here: int, there: int, tokens: tuple[int, int]) -> None:
    assert _stands_out(here, tokens[0], there, tokens[1], 4.0) == _stands_out(there, tokens[1], here, tokens[0], 4.0)


@pytest.mark.parametrize(("tokens", "others"), [(100, 100), (100, 200), (60, 900)])
@pytest.mark.parametrize("few", [0, 1, 2, 5])
def test_the_first_number_that_stands_out_is_that_of_the_binomial(few: int, tokens: int, others: int) -> None:
    """Against the sum itself, in whole fractions, where the counts are whole observations: eight tokens are one."""
    share = Fraction(4 * tokens, 4 * tokens + others)

    def unlikely(many: int) -> bool:
        total = many + few
        tail = sum(math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(many, total + 1))
        return tail < Fraction(1, 100_000)

    more = [many for many in range(tokens) if many * others > few * tokens]
    found = [many for many in more if _stands_out(8 * many, 8 * tokens, 8 * few, 8 * others, 4.0)]
    assert found == [many for many in more if unlikely(many)]
    assert found


@pytest.mark.parametrize("notes", [10, 60])
def test_tokens_that_come_in_notes_do_not_stand_out(notes: int) -> None:
    """Two samples of one hospital whose notes differ: the names of a note are many or none."""
    random = np.random.default_rng(0)
    for _ in range(200):
        samples = [random.binomial(1, 0.3, notes) * random.poisson(12, notes) for _ in range(2)]
        here, there = (int(sample.sum()) for sample in samples)
        assert describe_outliers((6000 - here, here, 0), reference((6000 - there, there, 0)), ("NAME",)) is None
