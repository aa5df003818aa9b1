from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.sentences.ragged import RaggedSentences, batch_rows, padded_positions
from tests.shared.training.toy import random_sentences, toy

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=120)


@given(LENGTHS, st.integers(1, 7), st.one_of(st.none(), st.integers(0, 99)))
def test_batches_hold_every_sentence_once_by_falling_length(lengths: list[int], size: int, seed: int | None) -> None:
    generator = None if seed is None else np.random.default_rng(seed)
    cuts = list(batch_rows(np.array(lengths, dtype=np.int64), size, generator))
    assert sorted(np.concatenate(cuts).tolist()) == list(range(len(lengths)))
    for rows in cuts:
        assert 1 <= len(rows) <= size
        assert np.all(np.diff(np.array(lengths)[rows]) <= 0)


@given(LENGTHS, st.integers(1, 7))
def test_a_batch_holds_the_sentences_of_its_rows_and_zeros_behind_them(lengths: list[int], size: int) -> None:
    source = random_sentences(lengths)
    seen = 0
    for batch in source.batches(size, np.random.default_rng(1)):
        assert batch.inputs.shape[1] == int(batch.lengths[0])
        for line, row in enumerate(batch.rows.tolist()):
            start, length = int(source.starts[row]), lengths[row]
            tokens = slice(start, start + length)
            assert int(batch.lengths[line]) == length
            np.testing.assert_array_equal(batch.inputs[line, :length].numpy(), source.values[tokens])
            np.testing.assert_array_equal(batch.tags[line, :length].numpy(), source.tags[tokens])
            np.testing.assert_array_equal(batch.casing[line, :length].numpy(), source.casing[tokens])
            for padded in (batch.inputs, batch.tags, batch.casing):
                assert not padded[line, length:].any()
            seen += length
    assert seen == source.tokens


def test_the_order_is_random_only_with_a_generator() -> None:
    lengths = np.arange(1, 400) % 11 + 1

    def order(seed: int | None) -> list[int]:
        generator = None if seed is None else np.random.default_rng(seed)
        return np.concatenate(list(batch_rows(lengths, 4, generator))).tolist()

    assert order(None) == order(None)
    assert order(3) == order(3)
    assert order(3) != order(4)


@pytest.mark.parametrize("by_ids", [False, True])
@given(LENGTHS, st.data())
def test_select_copies_the_sentences_in_the_order_given(by_ids: bool, lengths: list[int], data: st.DataObject) -> None:
    source = random_sentences(lengths)
    if by_ids:
        ids = np.random.default_rng(2).integers(0, source.tokens, source.tokens).astype(np.int32)
        source = RaggedSentences(source.values, source.casing, source.tags, source.lengths, ids)
    rows = np.array(data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=30)), dtype=np.int64)
    chosen = source.select(rows)
    assert chosen.sentences == len(rows)
    assert chosen.tokens == source.lengths[rows].sum()
    for line, row in enumerate(rows.tolist()):
        one, other = (part.batch(np.array([index]), part.starts) for part, index in ((chosen, line), (source, row)))
        for name in ("inputs", "casing", "tags", "lengths"):
            np.testing.assert_array_equal(getattr(one, name).numpy(), getattr(other, name).numpy())


def test_no_sentences_are_no_batches() -> None:
    nothing = random_sentences([3]).select(np.zeros(0, dtype=np.int64))
    assert (nothing.sentences, nothing.tokens, len(nothing.starts)) == (0, 0, 0)
    assert list(nothing.batches(4)) == []


def test_padded_positions_stay_inside_the_sentence() -> None:
    position, inside = padded_positions(np.array([10, 4]), np.array([3, 1]))
    assert position.tolist() == [[10, 11, 12], [4, 4, 4]]
    assert inside.tolist() == [[True, True, True], [True, False, False]]


def test_word_ids_stand_for_their_vectors() -> None:
    source = toy(5)
    assert source.ids is not None
    plain = RaggedSentences(source.values[source.ids], source.casing, source.tags, source.lengths)
    for one, other in zip(source.batches(3), plain.batches(3), strict=True):
        np.testing.assert_array_equal(one.inputs.numpy(), other.inputs.numpy())


def test_marks_go_with_their_tokens() -> None:
    source = random_sentences([3, 1, 4])
    marked = replace(source, marks=np.arange(16, dtype=np.uint8).reshape(8, 2) + 1)
    picked = marked.select(np.array([2, 0]))
    assert picked.marks is not None
    assert picked.marks[:, 0].tolist() == [9, 11, 13, 15, 1, 3, 5]
    joined = RaggedSentences.concatenate([picked, marked])
    assert joined.marks is not None
    assert joined.marks[:8, 1].tolist() == [10, 12, 14, 16, 2, 4, 6, 2]
    (batch,) = marked.batches(3)
    assert batch.marks is not None
    assert batch.marks[:, :, 0].tolist() == [[9, 11, 13, 15], [1, 3, 5, 0], [7, 0, 0, 0]]
    assert next(source.batches(3)).marks is None
    assert RaggedSentences.concatenate([source]).marks is None
