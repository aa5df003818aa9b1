from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from site_client.deid.deidentify import merged, redacted

LENGTH = 60


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    """A note of private-use characters, all different, so that any that slips through is seen."""
    edges = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=10)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    text = "".join(chr(0xE000 + place) for place in range(LENGTH))
    return Document("n", text, tuple(Annotation(start, end, draw(st.sampled_from("AB"))) for start, end in pairs))


def covered(document: Document) -> set[str]:
    return {character for span in document.annotations for character in document.covered(span)}


@given(annotated())
def test_redaction_takes_every_annotated_character_and_no_other(document: Document) -> None:
    safe = redacted(document)
    assert not safe.annotations
    assert safe.identifier == document.identifier
    left = [character for character in safe.text if ord(character) >= 0xE000]
    assert left == [character for character in document.text if character not in covered(document)]
    assert safe.text.count("[") == len(document.annotations)


@given(annotated(), annotated())
def test_what_anybody_marked_is_hidden(predicted: Document, known: Document) -> None:
    both = merged(predicted, known)
    assert covered(both) == covered(predicted) | covered(known)
    left = set(redacted(both).text)
    assert not left & (covered(predicted) | covered(known))


def test_spans_side_by_side_stay_two() -> None:
    one = Document("n", "AnnaBerlin", (Annotation(0, 4, "PATIENT"),))
    other = Document("n", "AnnaBerlin", (Annotation(4, 10, "CITY"),))
    assert redacted(merged(one, other)).text == "[PATIENT][CITY]"


def test_the_same_span_twice_is_one() -> None:
    one = Document("n", "Anna", (Annotation(0, 4, "PATIENT"),))
    assert redacted(merged(one, one)).text == "[PATIENT]"
