"""Tests for the few shapes in which batches run."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.models.shapes import cheapest_cuts, rounded_rows, rounded_steps

FALLING = st.lists(st.integers(1, 384), max_size=3000).map(lambda drawn: np.array(sorted(drawn)[::-1], dtype=np.int64))
_CELLS = 1 << 13


@given(st.integers(1, 1 << 20))
def test_a_size_is_rounded_up_by_less_than_a_quarter(size: int) -> None:
    assert size <= rounded_steps(size) <= max(size + 1, size * 5 / 4)
    assert size <= rounded_rows(size) < max(17, 2 * size)


def test_a_rounded_size_stays_as_it_is() -> None:
    steps = {rounded_steps(size) for size in range(1, 513)}
    assert all(rounded_steps(size) == size for size in steps)
    assert sorted(steps)[:13] == [2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40]
    assert len(steps) == 28


@given(FALLING, st.integers(1, _CELLS))
def test_every_sentence_is_in_one_batch_in_order(lengths: np.ndarray, cells: int) -> None:
    ranges = list(cheapest_cuts(lengths, cells))
    assert [row for begin, end in ranges for row in range(begin, end)] == list(range(len(lengths)))


@given(FALLING)
def test_shapes_come_from_a_small_set_and_hold_no_more_cells_than_asked(lengths: np.ndarray) -> None:
    allowed = {(rounded_steps(steps), 1 << power) for steps in range(1, 385) for power in range(4, 14)}
    allowed = {(steps, rows) for steps, rows in allowed if steps * rows <= _CELLS}
    assert len(allowed) < 130
    for begin, end in cheapest_cuts(lengths, _CELLS):
        assert (rounded_steps(int(lengths[begin])), rounded_rows(end - begin)) in allowed


def test_sentences_of_one_length_fill_whole_batches() -> None:
    ranges = list(cheapest_cuts(np.full(4096, 8), _CELLS))
    assert [end - begin for begin, end in ranges] == [1024] * 4
