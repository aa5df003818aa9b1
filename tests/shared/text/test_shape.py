"""What a word looks like, as marks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text import shape
from shared.text.shape import RANKS, SHAPES, rank_marks, word_shapes

WORDS = st.text(min_size=1, max_size=12)


@given(st.lists(WORDS, max_size=6))
def test_every_word_has_marks_of_its_own_whatever_stands_beside_it(words: list[str]) -> None:
    shapes = word_shapes(words)
    assert shapes.shape == (len(words), SHAPES)
    assert set(np.unique(shapes).tolist()) <= {0.0, 1.0}
    for word, row in zip(words, shapes, strict=True):
        np.testing.assert_array_equal(word_shapes([word])[0], row)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("29", "31"),  # both are days: see below
        ("1987", "4821"),
        ("7", "70"),
        ("583", "58312"),
        ("rjm", "rim"),
        ("McAdam", "Mcadam"),
        ("07", "70"),
        ("Ng", "Nguyen"),
        ("Núñez", "Nunez"),
        ("115", "215"),
    ],
)
def test_formats_are_told_apart(one: str, other: str) -> None:
    alike = np.array_equal(*word_shapes([one, other]))
    assert alike == ((one, other) == ("29", "31"))


def test_digits_of_one_kind_look_alike() -> None:
    """The digits of a long number are not told, only how many there are."""
    numbers = [f"{lead}{'48213977'[:length]}" for length in (5, 6) for lead in "19"]
    shapes = word_shapes(numbers)
    np.testing.assert_array_equal(shapes[0], shapes[1])
    np.testing.assert_array_equal(shapes[2], shapes[3])


def test_signs_that_only_look_like_digits_are_no_number() -> None:
    assert word_shapes(["²", "٣"]).shape == (2, SHAPES)


def test_how_common_a_word_is_grows_with_its_rank() -> None:
    marks = rank_marks(np.array([-1, 0, 999, 100_000]))
    assert marks.shape == (4, RANKS)
    assert marks.sum(1).tolist() == [0, 5, 4, 1]


def test_endless_huge_words_do_not_fill_the_memory() -> None:
    huge = [f"{number}" + "x" * 20_000 for number in range(3)]
    word_shapes([*huge, "Anna"])
    assert "Anna" in shape._MEMORY
    assert not shape._MEMORY.keys() & set(huge)
