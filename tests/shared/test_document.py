"""A document can't be made of spans that contradict each other or its text, and shows no text of its own accord."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import AnnotatedText, Annotation, Document
from shared.errors import AnnotationError

TEXT = "Brunhilda, 41"


def note(*spans: tuple[int, int]) -> Document:
    return Document("note-1", TEXT, tuple(Annotation(start, end, "PATIENT") for start, end in spans))


def test_spans_are_kept_in_the_order_of_the_text() -> None:
    assert note((11, 13), (0, 9)) == note((0, 9), (11, 13))
    assert [span.start for span in note((11, 13), (0, 9)).annotations] == [0, 11]


@pytest.mark.parametrize("span", [(0, 14), (13, 14), (-1, 3), (20, 30)])
def test_a_span_outside_the_text_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(AnnotationError, match="inside the 13 characters"):
        note(span)


@pytest.mark.parametrize("span", [(0, 0), (13, 13), (5, 3)])
def test_a_span_of_nothing_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(AnnotationError):
        note(span)


@pytest.mark.parametrize("spans", [((0, 9), (8, 13)), ((0, 13), (2, 4)), ((8, 13), (0, 9)), ((0, 9), (0, 9))])
def test_spans_that_overlap_are_refused(spans: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(AnnotationError, match="do not overlap"):
        note(*spans)


def test_spans_may_touch_and_reach_both_ends() -> None:
    assert [span.end for span in note((0, 9), (9, 13)).annotations] == [9, 13]


@given(st.lists(st.tuples(st.integers(-2, 15), st.integers(-2, 15)), max_size=4))
def test_exactly_the_spans_that_cut_the_text_into_pieces_are_taken(spans: list[tuple[int, int]]) -> None:
    owners = [sum(start <= place < end for start, end in spans) for place in range(-2, 16)]
    sound = all(0 <= start < end <= len(TEXT) for start, end in spans) and max(owners, default=0) <= 1
    if sound:
        assert note(*spans).text == TEXT
    else:
        with pytest.raises(AnnotationError):
            note(*spans)


def test_what_is_not_trusted_yet_may_overlap() -> None:
    spans = (Annotation(3, 9, "PATIENT"), Annotation(0, 9, "DOCTOR"))
    assert AnnotatedText("note-1", TEXT, spans).annotations == spans


def test_no_repr_and_no_error_shows_text_or_comment() -> None:
    document = Document("note-1", TEXT, (Annotation(0, 9, "PATIENT", "T1", "said Brunhilda"),))
    for shown in (repr(document), repr(document.annotations), repr(AnnotatedText("note-1", TEXT))):
        assert "Brunhilda" not in shown
    with pytest.raises(AnnotationError) as caught:
        note((0, 9), (8, 13))
    assert "Brunhilda" not in str(caught.value)


def test_the_digest_is_of_the_text_alone() -> None:
    expected = hashlib.sha256(TEXT.encode()).hexdigest()
    assert note((0, 9)).digest == note().digest == AnnotatedText("another", TEXT).digest == expected
    assert Document("note-1", TEXT + " ").digest != expected
