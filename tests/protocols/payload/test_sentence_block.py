from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import BoundsError, NonFiniteError, ProtocolError, SchemaError, TagSequenceError
from protocols.payload.sentence_block import SentenceBlock, ValueRules, check_block, largest_norm, rounded_bound
from tests.protocols.payload.blocks import DIM, TAGS, VALUE_BOUND, make_block, replaced

RULES = ValueRules(tags=TAGS, value_bound=VALUE_BOUND)


def test_a_sound_block_passes() -> None:
    block = make_block([3, 1, 5])
    check_block(block, RULES)
    assert (block.sentences, block.tokens, block.dim) == (3, 9, DIM)
    assert block.offsets.tolist() == [0, 3, 4, 9]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (8, DIM - 1)])
def test_values_that_are_not_finite_are_refused(value: float, place: tuple[int, int]) -> None:
    block = make_block([3, 1, 5])
    block.values[place] = value
    with pytest.raises(NonFiniteError):
        check_block(block, RULES)


def test_a_value_that_is_not_finite_is_found_behind_the_first_rows() -> None:
    block = make_block([500] * 40, dim=2)
    block.values[-1, 1] = np.nan
    with pytest.raises(NonFiniteError):
        check_block(block, RULES)


def test_tags_and_casing_that_do_not_exist_are_refused() -> None:
    for name, value in (("tags", TAGS), ("casing", 7), ("casing", 255)):
        block = make_block([3, 1, 5])
        getattr(block, name)[4] = value
        with pytest.raises(BoundsError):
            check_block(block, RULES)


def test_a_norm_beyond_the_bound_is_refused_one_rounded_up_to_it_is_not() -> None:
    values = np.full((1, DIM), VALUE_BOUND / np.sqrt(DIM)).astype("<f2")
    block = replaced(make_block([1]), values=values)
    check_block(block, RULES)
    with pytest.raises(BoundsError):
        check_block(replaced(block, values=(values * np.float16(1.002)).astype("<f2")), RULES)


@given(st.integers(0, 2**32 - 1), st.integers(1, 600), st.floats(1e-6, 1e4))
def test_rounding_to_float16_never_leaves_the_tolerance(seed: int, dim: int, bound: float) -> None:
    vectors = np.random.default_rng(seed).standard_normal((8, dim))
    vectors *= bound / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert largest_norm(vectors.astype("<f2")) <= rounded_bound(bound, dim)


def test_the_tolerance_is_tight() -> None:
    assert rounded_bound(1.0, 50) < 1.0006


@given(st.integers(0, 2**32 - 1))
def test_the_largest_norm_is_that_of_numpy(seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal((30, 11)).astype("<f2")
    expected = np.linalg.norm(values.astype(np.float64), axis=1).max()
    assert largest_norm(values) == pytest.approx(expected, rel=1e-6)


def test_every_float16_has_the_norm_that_numpy_gives_it() -> None:
    every = np.arange(1 << 16, dtype="<u2").view("<f2").reshape(-1, 1)
    for bits in (*range(0, 1 << 16, 31), 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x7C00, 0x7E00, 0xFC00, 0xFFFF):
        value = abs(float(every[bits, 0]))
        expected = float(np.sqrt(np.float32(value) ** 2)) if np.isfinite(value) else np.inf
        assert largest_norm(every[bits : bits + 1]) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.zeros((9, DIM), dtype=np.float32)},
        {"values": np.zeros((9, DIM), dtype=">f2")},
        {"values": np.zeros(9, dtype="<f2")},
        {"values": np.zeros((9, 0), dtype="<f2")},
        {"values": np.zeros((8, DIM), dtype="<f2")},
        {"tags": np.zeros(8, dtype=np.uint8)},
        {"tags": np.zeros(9, dtype=np.int8)},
        {"casing": np.zeros((9, 1), dtype=np.uint8)},
        {"lengths": np.array([3, 1, 5], dtype=np.int64)},
        {"lengths": np.array([3, 1, 4], dtype="<i4")},
        {"lengths": np.array([9, 0], dtype="<i4")},
        {"lengths": np.array([10, -1], dtype="<i4")},
        {"lengths": np.array([2**31 - 1, 2**31 - 1, 11], dtype="<i4")},
        {"lengths": np.array([], dtype="<i4")},
    ],
)
def test_other_types_and_shapes_are_refused(change: dict[str, object]) -> None:
    with pytest.raises((SchemaError, BoundsError)):
        replaced(make_block([3, 1, 5]), **change)


def test_a_repr_shows_sizes_only() -> None:
    assert repr(make_block([3, 1])) == f"SentenceBlock(sentences=2, tokens=4, dim={DIM})"


def test_an_empty_block_is_refused() -> None:
    empty = np.zeros(0, dtype=np.uint8)
    with pytest.raises(ProtocolError):
        SentenceBlock(np.zeros((0, DIM), dtype="<f2"), empty, empty, np.zeros(0, dtype="<i4"))


def is_begun(tags: list[int], lengths: list[int]) -> bool:
    """The definition: in each sentence, a tag that goes on stands behind one of its category."""
    start = 0
    for length in lengths:
        before = 0
        for tag in tags[start : start + length]:
            if tag and tag % 2 == 0 and before not in (tag - 1, tag):
                return False
            before = tag
        start += length
    return True


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_a_tag_that_goes_on_with_what_was_not_begun_is_refused(lengths: list[int], data: st.DataObject) -> None:
    tags = data.draw(st.lists(st.integers(0, TAGS - 1), min_size=sum(lengths), max_size=sum(lengths)))
    block = replaced(make_block(lengths), tags=np.array(tags, dtype=np.uint8))
    if is_begun(tags, lengths):
        check_block(block, RULES)
    else:
        with pytest.raises(TagSequenceError):
            check_block(block, RULES)
