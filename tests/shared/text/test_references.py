"""Character references are read as what they stand for, and what is found covers each of them whole."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.references.decoding import decode
from shared.text.tokens import tokenise

PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "&",
                "amp;",
                "#",
                "233;",
                "x27",
                ";",
                "é",
                "a",
                "B",
                " ",
                "1",
                "\n",
                "eacute",
                "lt;",
                "&amp;",
                "&nbsp;",
                "&eacute;",
            ),
            *(
                "&#39;",
                "&#39",
                "&#xE9;",
                "&#1;",
                "&#0;",
                "&fjlig;",
                "&nGt;",
                "&notit;",
                "&none;",
                "&#99999999;",
                "&#xD800;",
            ),
        ]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Garc&iacute;a", "García"),
        ("O&#39;Brien, O&#x27;Brien, O&#039Brien", "O'Brien, O'Brien, O'Brien"),
        ("(617)&nbsp;555&#45;1234", "(617)\xa0555-1234"),
        ("R&amp;D, R&D, AT&T, &, &;, &#;, &#x;, &none;", "R&D, R&D, AT&T, &, &;, &#;, &#x;, &none;"),
        # Escaped twice, and three times.
        ("Garc&amp;iacute;a, O&amp;#39;Brien, O&#38;amp;#39;Brien", "García, O'Brien, O'Brien"),
        ("Garc&iacutea", "García"),
        ("Gar&#1;cia", "Gar\u2060cia"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
    ],
)
def test_what_a_reference_stands_for(text: str, read: str) -> None:
    assert decode(text).text == read


@given(PIECES.filter(lambda text: "amp;" not in text and "&#1;" not in text))
def test_it_is_what_the_standard_says(text: str) -> None:
    assert decode(text).text == html.unescape(text)


@given(PIECES, st.data())
def test_stretches_cover_references_whole_both_ways(text: str, data: st.DataObject) -> None:
    note = decode(text)
    if not note.text:
        return
    start = data.draw(st.integers(0, len(note.text) - 1))
    end = data.draw(st.integers(start + 1, len(note.text)))
    first, last = note.to_written(start, end)
    assert not note.is_within(first)
    assert not note.is_within(last)
    assert decode(text[first:last]).text == note.text[slice(*note.to_read(first, last))]
    assert note.to_read(first, last)[0] <= start
    assert note.to_read(first, last)[1] >= end
    assert note.to_written(*note.to_read(first, last)) == (first, last)


@given(st.text(st.characters(exclude_characters="&")))
def test_text_without_references_stays_as_it_is(text: str) -> None:
    note = decode(text)
    assert note.text is text
    assert note.is_written_so


def test_words_are_read_and_lie_where_they_are_written() -> None:
    text = "Mr. Jos&eacute; O&#39;Brien&nbsp;555"
    tokens = tokenise(text)
    assert tokens.words == ["Mr", ".", "José", "O", "'", "Brien", "555"]
    assert [text[start:end] for start, end in tokens.spans.tolist()][2:] == [
        "Jos&eacute;",
        "O",
        "&#39;",
        "Brien",
        "555",
    ]


def test_its_repr_tells_nothing_of_the_text() -> None:
    assert "Garc" not in repr(decode("Garc&iacute;a"))
