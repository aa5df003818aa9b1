"""The rows that there are: found bit for bit, whatever stands beside them; the oracle is a set of bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import CodebookError, SchemaError
from protocols.payload import codebook as module
from protocols.payload.codebook import ABSENT, Codebook, read_codebook, write_codebook
from protocols.payload.sentence_block import CheckedValues, ValueRules, check_block
from tests.protocols.payload.blocks import DIM, TAGS, VALUE_BOUND, make_block, replaced

ROWS = np.random.default_rng(0).standard_normal((300, DIM)).astype("<f2")
BOOK = Codebook(ROWS)
RULES = ValueRules(TAGS, VALUE_BOUND, BOOK)


def one_bit_off(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float16]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float16]]:
    """The same but for the last bit of one number in each row."""
    bits = rows.view("<u2").copy()
    bits[:, 1] ^= 1
    return bits.view("<f2")


@given(st.data())
def test_a_row_is_found_where_it_is_one_and_nowhere_else(data: st.DataObject) -> None:
    number = st.integers(0, 3).map(lambda value: np.float16(value / 4))
    row = st.lists(number, min_size=2, max_size=2)
    book = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype="<f2")
    asked = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype="<f2")
    places = Codebook(book).places(asked)
    known = {one.tobytes() for one in book}
    assert [place != ABSENT for place in places] == [one.tobytes() in known for one in asked]
    found = Codebook(book).rows[places[places != ABSENT]]
    np.testing.assert_array_equal(found, asked[places != ABSENT])


def test_a_row_that_comes_twice_counts_once() -> None:
    assert len(Codebook(np.concatenate([ROWS, ROWS]))) == len(BOOK) == 300


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((1, DIM), "<f2"),
        -np.zeros((1, DIM), "<f2"),
        np.full((1, DIM), 1 / np.sqrt(DIM), "<f2"),
        one_bit_off(ROWS),
        ROWS[:, ::-1],
        -ROWS,
    ],
    ids=["zero", "minus zero", "a unit vector", "one bit off", "turned round", "negative"],
)
def test_what_is_no_row_is_not_found(rows: np.ndarray[tuple[int, int], np.dtype[np.float16]]) -> None:
    assert (BOOK.places(np.ascontiguousarray(rows)) == ABSENT).all()


def test_zero_and_minus_zero_are_two_rows() -> None:
    book = Codebook(np.array([[0.0, 1.0]], "<f2"))
    assert book.places(np.array([[0.0, 1.0], [-0.0, 1.0]], "<f2")).tolist() == [0, ABSENT]


def test_more_rows_than_are_searched_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 7)
    order = np.random.default_rng(1).integers(300, size=100)
    np.testing.assert_array_equal(BOOK.rows[BOOK.places(ROWS[order])], ROWS[order])


def test_rows_of_another_width_are_none() -> None:
    assert (BOOK.places(ROWS[:, 1:]) == ABSENT).all()


def test_a_hash_that_two_rows_share_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the first factors all rows have the hash 0; no row may hide behind another."""
    drawn = np.random.default_rng
    zero = type("Zero", (), {"integers": lambda self, most, size, dtype: np.zeros(size, dtype)})
    monkeypatch.setattr(np.random, "default_rng", lambda seed: zero() if seed == 0 else drawn(seed))
    assert sorted(Codebook(ROWS).places(ROWS)) == list(range(300))


class TestRounded:
    """Of a representer of version 0.1 every processor computes its own last digits."""

    BOOK = Codebook(ROWS, exact=False)

    def test_a_rounding_away_is_found(self) -> None:
        np.testing.assert_array_equal(self.BOOK.places(one_bit_off(ROWS)), self.BOOK.places(ROWS))

    @pytest.mark.parametrize("change", [1.02, -1.0, 0.0])
    def test_anything_further_is_not(self, change: float) -> None:
        far = (ROWS[:40].astype(np.float32) * change).astype("<f2")
        assert (self.BOOK.places(far) == ABSENT).all()


class TestFile:
    def test_what_was_written_is_read(self, tmp_path: Path) -> None:
        write_codebook(tmp_path / "rows", BOOK.rows)
        np.testing.assert_array_equal(read_codebook(tmp_path / "rows", DIM, exact=True).places(ROWS), BOOK.places(ROWS))

    @pytest.mark.parametrize("data", [b"", bytes(2 * DIM + 1)])
    def test_half_rows_are_refused(self, data: bytes, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(data)
        with pytest.raises(SchemaError):
            read_codebook(tmp_path / "rows", DIM, exact=True)

    @pytest.mark.parametrize("rows", [ROWS.astype(np.float32), ROWS[0], ROWS[:0]])
    def test_what_is_no_list_of_rows_is_refused(self, rows: np.ndarray[tuple[int, ...], np.dtype[np.float16]]) -> None:
        with pytest.raises(SchemaError):
            Codebook(rows)


class TestBlocks:
    BLOCK = replaced(make_block([3, 1, 5]), values=ROWS[:9])

    def test_a_block_of_known_rows_passes_and_its_commonest_row_is_counted(self) -> None:
        checked = CheckedValues(RULES, "share")
        checked.add(self.BLOCK)
        checked.add(replaced(make_block([4]), values=ROWS[[7, 7, 7, 8]]))
        assert checked.commonest_row == 4
        assert sum(checked.tag_counts) == 13

    def test_one_row_that_no_word_has_is_enough(self) -> None:
        values = ROWS[:9].copy()
        values[8] = one_bit_off(values[8:])[0]
        for check in (lambda block: check_block(block, RULES), CheckedValues(RULES, "share").add):
            with pytest.raises(CodebookError, match="1 of 9"):
                check(replaced(self.BLOCK, values=values))

    def test_rules_that_differ_in_the_codebook_alone_are_the_same_to_a_manifest(self) -> None:
        assert ValueRules(TAGS, VALUE_BOUND) == RULES != ValueRules(TAGS + 1, VALUE_BOUND, BOOK)

    def test_without_a_codebook_no_row_is_counted(self) -> None:
        checked = CheckedValues(ValueRules(TAGS, VALUE_BOUND), "share")
        checked.add(make_block([3]))
        assert checked.commonest_row == 0
