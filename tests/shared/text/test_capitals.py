"""Capitals for notes in small letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.anonymity.shipped_lists import ordinary_words
from shared.text.capitals import is_small, with_capitals
from shared.text.language import function_words

ORDINARY, SHORT = ordinary_words("English"), function_words("English")


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("seen by dr. oxenthorpe on monday, mother of rose", True),
        ("Seen by Dr. Oxenthorpe on Monday.", False),
        ("SEEN BY DR. OXENTHORPE", False),
        ("", False),
        ("12/3 4.5", False),
        ("a b c", False),
    ],
)
def test_notes_in_small_letters(text: str, small: bool) -> None:
    assert is_small(text) is small


def test_what_may_be_a_name_gets_a_capital() -> None:
    text = "dr. oxenthorpe saw rose, mcbride's CT and the patient's wristband"
    shown = with_capitals(text, ORDINARY, SHORT)
    assert "Oxenthorpe" in shown
    assert "Rose" in shown
    assert "Mcbride" in shown
    assert "CT" in shown
    assert "wristband" in shown
    assert " the patient" in shown


@given(st.text("aeßŉnş ı.İA'\n1") | st.text())
def test_every_character_stands_where_it_stood(text: str) -> None:
    shown = with_capitals(text, lambda _: False, frozenset())
    assert len(shown) == len(text)
    assert all(
        new == old or new.lower() == old.lower() or new == old.upper() for new, old in zip(shown, text, strict=True)
    )
