"""The casing classes in which a word can be written, against all spellings of it; a word in the casing of another."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text import casing
from shared.text.casing import CASING_CLASSES, cased_like, casing_class, casing_classes, writable_classes


def spellings(word: str) -> list[str]:
    """Every letter as it is or as a capital of one character."""
    both = [{letter, letter.upper()} if len(letter.upper()) == 1 else {letter} for letter in word]
    return ["".join(letters) for letters in product(*both)]


@given(st.text("abñ1२-ªß漢", min_size=1, max_size=7))
def test_classes_are_those_of_all_spellings(word: str) -> None:
    assert writable_classes(word) == {casing_class(spelling) for spelling in spellings(word)}


@pytest.mark.parametrize(
    ("word", "classes"),
    [
        ("garcía", {"all lower", "all upper", "initial upper", "other"}),
        ("x", {"all lower", "all upper"}),
        ("2019", {"numeric"}),
        ("12h", {"mainly numeric"}),
        ("t4", {"all lower", "all upper"}),
        ("tnm4", {"all lower", "all upper", "initial upper", "contains digit"}),
        ("/", {"other"}),
    ],
)
def test_letters_are_free_and_digits_are_not(word: str, classes: set[str]) -> None:
    assert {CASING_CLASSES[one] for one in writable_classes(word)} == classes


@pytest.mark.parametrize(
    ("word", "model", "expected"),
    [
        ("maria", "Juan", "Maria"),
        ("maria", "JUAN", "MARIA"),
        ("María", "juan", "maría"),
        ("de", "A", "DE"),
        ("12", "Juan", "12"),
        ("maria", "3", "maria"),
    ],
)
def test_a_word_takes_the_casing_of_another_where_it_can(word: str, model: str, expected: str) -> None:
    assert cased_like(word, model) == expected


def test_endless_huge_words_do_not_fill_the_memory() -> None:
    huge = [f"{number}" + "x" * 20_000 for number in range(3)]
    assert casing_classes([*huge, "Anna"]).tolist() == [*map(casing_class, huge), casing_class("Anna")]
    assert "Anna" in casing._MEMORY
    assert not casing._MEMORY.keys() & set(huge)
