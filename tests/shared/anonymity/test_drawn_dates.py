"""Drawn dates are days that a calendar has."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.anonymity.drawn_dates import draw_dates

DATE, OTHER = 3, 1
BEGIN, GO_ON = 2 * DATE + 1, 2 * DATE + 2


def drawn(words: list[str], tags: list[int], seed: int = 0, *, day_first: bool = False) -> list[str]:
    changed = list(words)
    draw_dates(changed, np.array(tags, np.uint8), {DATE}, day_first=day_first, generator=np.random.default_rng(seed))
    return changed


@given(st.integers(0, 1000), st.booleans())
def test_numbers_are_those_of_a_day(seed: int, day_first: bool) -> None:
    words = drawn(["46", "/", "39", "/", "8613"], [BEGIN] + [GO_ON] * 4, seed, day_first=day_first)
    day, month = (int(words[0]), int(words[2])) if day_first else (int(words[2]), int(words[0]))
    assert 1925 <= datetime.date(int(words[4]), month, day).year <= 2029
    assert [len(word) for word in words] == [2, 1, 2, 1, 4]


@pytest.mark.parametrize("seed", range(20))
def test_beside_the_name_of_a_month_stands_a_day(seed: int) -> None:
    month, day, year = drawn(["June", "77", "0000"], [BEGIN, GO_ON, GO_ON], seed)
    assert month == "June"
    assert 1 <= int(day) <= 28
    assert 1925 <= int(year) <= 2029


def test_both_halves_of_a_month_are_drawn() -> None:
    days = {int(drawn(["46", "/", "39"], [BEGIN, GO_ON, GO_ON], seed)[2]) for seed in range(100)}
    assert min(days) <= 12 < max(days)


@given(st.lists(st.sampled_from(["46", "x", "123", "8613", "/", "٣"]), min_size=1, max_size=6), st.integers(0, 99))
def test_nothing_else_changes(words: list[str], seed: int) -> None:
    outside = drawn(words, [0] * len(words), seed)
    other = drawn(words, [2 * OTHER + 1] * len(words), seed)
    inside = drawn(words, [BEGIN] * len(words), seed)
    assert outside == other == words
    assert all(
        new == old or (new.isascii() and old.isdecimal() and len(new) == len(old) in (1, 2, 4))
        for new, old in zip(inside, words, strict=True)
    )
