from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.text.spelling import ALPHABET, LONGEST, SIGNS, distinct_spellings, spellings

WORDS = st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=20)


def test_no_sign_stands_in_the_alphabet_twice_and_every_number_fits_in_a_byte() -> None:
    assert len(set(ALPHABET)) == len(ALPHABET)
    assert SIGNS == len(ALPHABET) + 2 <= 256


def test_numbers_of_signs_stay_what_heads_have_learned() -> None:
    # A head knows them from its training; a change of the alphabet but at its end would make it read another word.
    found = spellings(["aZ9ñ", "界"])
    assert found[0, :5].tolist() == [12, 63, 11, 130, 0]
    assert found[1, :2].tolist() == [1, 0]


@given(WORDS)
def test_every_sign_has_its_place_up_to_the_longest_and_nothing_behind(words: list[str]) -> None:
    for word, row in zip(words, spellings(words).tolist(), strict=True):
        expected = [ALPHABET.index(sign) + 2 if sign in ALPHABET else 1 for sign in word][:LONGEST]
        assert row == expected + [0] * (LONGEST - len(expected))


@given(WORDS)
def test_distinct_spellings_give_every_row_back(words: list[str]) -> None:
    spelled = np.concatenate([spellings(words), np.zeros((2, LONGEST), dtype=np.uint8)])
    distinct, places = distinct_spellings(spelled)
    np.testing.assert_array_equal(distinct[places], spelled)
    assert len(np.unique(distinct, axis=0)) == len(distinct) == len(np.unique(spelled, axis=0))
