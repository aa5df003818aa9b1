"""In which casing classes a text can hold a word, held against writing it in every way and cutting that."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.casing import CASING_CLASSES, casing_class, writable_classes
from shared.text.reached import casing_table, fewest_alike
from shared.text.tokens import is_token, tokenise

WORD = (st.text(min_size=1, max_size=4) | st.text("aß²½1.\xad\u200b\u0301ªǆ中-\ufeff ", min_size=1, max_size=4)).map(
    str.lower
)


def classes(word: str) -> set[str]:
    return {CASING_CLASSES[kind] for kind in np.flatnonzero(casing_table([word])[0])}


@given(WORD)
def test_a_word_is_a_token_where_the_tokeniser_gives_it_as_it_is(word: str) -> None:
    assert is_token(word) is (tokenise(word).words == [word])


@given(st.lists(WORD, max_size=5))
def test_what_no_text_holds_is_in_no_class_and_all_else_in_those_that_it_can_be_written_in(words: list[str]) -> None:
    table = casing_table(words)
    assert table.shape == (len(words), len(CASING_CLASSES))
    for word, row in zip(words, table, strict=True):
        expected = writable_classes(word) if tokenise(word).words == [word] else frozenset()
        assert set(np.flatnonzero(row).tolist()) == expected


@given(st.text("abñ", min_size=1, max_size=5))
def test_classes_are_those_of_all_spellings(word: str) -> None:
    spellings = map("".join, product(*({letter, letter.upper()} for letter in word)))
    assert classes(word) == {CASING_CLASSES[casing_class(spelling)] for spelling in spellings}


@pytest.mark.parametrize("word", ["#!$", "1,5", "e-mail", "w12", "a b", " a", "a ", "--", "a\xadb", "...."])
def test_such_words_stand_in_no_text(word: str) -> None:
    assert classes(word) == set()


@pytest.mark.parametrize("word", ["patient", "a", "12", "...", "-", "mm³", "e\u0301", "\ufeff"])
def test_such_words_do(word: str) -> None:
    assert classes(word)


def test_the_fewest_of_any_group_and_class_are_found() -> None:
    table = casing_table(["anna", "berta", "12", "13", "14", "x", "#!"])
    assert fewest_alike(np.zeros(7, dtype=np.int64), table) == 2
    assert fewest_alike(np.array([0, 0, 1, 1, 1, 0, 2]), table) == 2
    assert fewest_alike(np.array([0, 1, 2, 2, 2, 2, 2]), table) == 1
    assert fewest_alike(np.array([6]), table[6:]) is None
    assert fewest_alike(np.zeros(0, dtype=np.int64), table[:0]) is None
