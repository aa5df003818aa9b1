"""Signs that look alike are read alike, at the places where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.plain_signs import plain_signs


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("MRN:\t12\u00a0345\u202f6\u3000x", "MRN: 12 345 6 x"),
        ("123\u201345\u20116789 \u22122 \uff0d", "123-45-6789 -2 -"),
        ("O\u2019Quill \u201819 \u02bc", "O'Quill '19 '"),
        ("٠١٢ ０９ ४ 𝟗", "012 09 4 9"),
        ("ｊｏ＠ｗａｒｄ．ｏｒｇ", "jo@ward.org"),
        ("one\r\ntwo\rthree\u2028four\ffive", "one \ntwo\nthree\nfour\nfive"),
        ("Múgica ñ — º ² 中", "Múgica ñ — º ² 中"),
    ],
)
def test_signs_that_look_alike_are_read_alike(text: str, plain: str) -> None:
    assert plain_signs(text) == plain


@given(st.text())
def test_every_offset_stays(text: str) -> None:
    plain = plain_signs(text)
    assert len(plain) == len(text)
    assert all(one.isalnum() == other.isalnum() for one, other in zip(text, plain, strict=True))
    assert plain_signs(plain) == plain


@given(st.text(st.characters(max_codepoint=0x7E, exclude_characters="\t\v\f\r")))
def test_plain_text_stays_what_it_is(text: str) -> None:
    assert plain_signs(text) == text
