"""Offsets in the countings of other tools: what their own encodings say of each place, and nothing for half a character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.corpus.parsing.alignment import crlf_as_one, utf16_units

# Few characters, so that many texts have two of them side by side.
TEXTS = st.text(st.sampled_from("a ñ\n\r\u20ac\U0001f600\U00010348"), max_size=12)


@given(TEXTS)
def test_units_that_are_counted_are_those_of_the_encoding(text: str) -> None:
    """An offset inside of a pair of units selects no character, and none is made up for it."""
    places = {len(text[:index].encode("utf-16-le")) // 2: index for index in range(len(text) + 1)}
    convert = utf16_units(text)
    if convert is None:
        assert list(places) == list(places.values())
    else:
        units = range(len(text.encode("utf-16-le")) // 2 + 1)
        assert [convert(unit) for unit in units] == [places.get(unit) for unit in units]


@given(TEXTS)
def test_line_ends_that_count_as_one_character_are_those_of_a_text_without_returns(text: str) -> None:
    places = {
        len(text[:index].replace("\r\n", "\n")): index
        for index in range(len(text) + 1)
        if text[index - 1 : index + 1] != "\r\n"
    }
    convert = crlf_as_one(text)
    if convert is None:
        assert list(places) == list(places.values())
    else:
        assert {place: convert(place) for place in places} == places
