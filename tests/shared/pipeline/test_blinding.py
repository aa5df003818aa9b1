"""Whoever looks for forgotten PHI for a share reads a constant for every label, and what is found lies where it stands in the note."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.patterns.kinds import Suspicion
from shared.pipeline.forgotten.blinding import STAND_IN, blind
from tests.tiny_notes import note

outside = st.text("ab 1.\n", max_size=12)
inside = st.text("aB1 .\n–́", min_size=1, max_size=9).filter(lambda text: not (text[0].isspace() or text[-1].isspace()))
notes = st.lists(st.tuples(outside, inside, inside), max_size=5)


def labelled(parts: list[tuple[str, str]], last: str) -> Document:
    text, spans = "", []
    for around, phi in parts:
        text += around
        spans.append(Annotation(len(text), len(text) + len(phi), "DATE"))
        text += phi
    return Document("a", text + last, tuple(spans))


@given(notes, outside)
def test_nothing_of_what_is_labelled_is_read(parts: list[tuple[str, str, str]], last: str) -> None:
    one, other = (
        labelled([(around, (phi, changed)[which]) for around, phi, changed in parts], last) for which in (0, 1)
    )
    assert blind(one).document == blind(other).document


@given(notes, outside)
def test_what_is_found_stands_in_the_note_as_it_was_read(parts: list[tuple[str, str, str]], last: str) -> None:
    document = labelled([(around, phi) for around, phi, _ in parts], last)
    blinded = blind(document)
    read = blinded.document
    labels = {place for span in read.annotations for place in range(span.start, span.end)}
    places = [place for place in range(len(read.text)) if place not in labels]
    found = list(blinded.in_note(Suspicion(place, place + 1, "DATE", 1.0, "x") for place in places))
    assert [document.text[one.start] for one in found] == [read.text[place] for place in places]
    covered = {place for span in document.annotations for place in range(span.start, span.end)}
    assert covered.isdisjoint(one.start for one in found)


def test_a_span_takes_in_the_rest_of_its_word_and_the_spelling_of_the_note() -> None:
    assert blind(note("a", "Seen by ", ("Anna", "PATIENT"), "belle.")).document.text == f"Seen by {STAND_IN}."
    small = note("a", "seen again by his doctor ", ("Anna", "PATIENT"), " in the old ward.")
    assert STAND_IN.lower() in blind(small).document.text
    assert "Anna" not in repr(blind(small))
