"""Labels of notes with character references: cut as those of the note as it is read, and whole words where one cuts a reference."""

from __future__ import annotations

import pytest

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.sentences.referenced import decoded, find_decoded
from shared.sentences.tokenised import tokenise_documents, tokenised_corpus


def labelled(text: str, *spans: str) -> Document:
    """A note with the stretches that stand in brackets in `spans`, each a text of it."""
    places = [(text.index(one), text.index(one) + len(one)) for one in spans]
    return Document("n", text, tuple(Annotation(start, end, "PATIENT") for start, end in places))


@pytest.mark.parametrize(
    ("text", "spans", "covered"),
    [
        ("Mr. Garc&iacute;a left", ["Garc&iacute;a"], ["Garc&iacute;a"]),
        # A label that ends or begins within a reference.
        ("Mr. Garc&iacute;a left", ["Garc&iac"], ["Garc&iacute;a"]),
        ("Mr. Garc&iacute;a left", ["ute;a"], ["Garc&iacute;a"]),
        ("Mr. Garc&iacute;a left", ["iacute"], ["Garc&iacute;a"]),
        ("Mr. Garc&iacute;a left", ["Garc&iac", "ute;a"], ["Garc&iacute;a"]),
        ("O&#39;Brien", ["O&", "39;Brien"], ["O&#39;Brien"]),
        ("R&amp;D Smith", ["Smith"], ["Smith"]),
        ("Garc&iacute;as", ["Garc&iacute;"], ["Garc&iacute;"]),
    ],
)
def test_labels_cover_references_whole(text: str, spans: list[str], covered: list[str]) -> None:
    note = labelled(text, *spans)
    whole = find_decoded(note, lambda one: one)
    assert [whole.covered_text(span) for span in whole.annotations] == covered
    assert whole.text == text


def test_a_note_without_references_is_read_as_it_is() -> None:
    note = labelled("Mr. García left", "García")
    assert decoded(note)[0] is note


@pytest.mark.parametrize("spans", [["Garc&iacute;a-L&oacute;pez"], ["Garc&iacute;a-L&oa"], []])
def test_what_is_shared_is_that_of_the_note_as_it_is_read(spans: list[str]) -> None:
    scheme = load_scheme("i2b2_2014")
    text = "Mr. Garc&iacute;a-L&oacute;pez has a &quot;na&iuml;ve&quot; T&#45;cell count."
    plain = 'Mr. García-López has a "naïve" T-cell count.'
    own = tokenised_corpus([labelled(text, *spans)], scheme)
    other = tokenised_corpus([labelled(plain, *(["García-López"] if spans else []))], scheme)
    assert own.words == other.words
    assert own.tags.tolist() == other.tags.tolist()
    assert own.lengths.tolist() == other.lengths.tolist()


def test_labels_and_tokens_lie_where_they_are_written() -> None:
    text = "Mr. Garc&iacute;a&#39;s wife"
    [(document, tokens)] = tokenise_documents([labelled(text, "Garc")])
    assert document.text == text
    assert [document.covered_text(span) for span in document.annotations] == ["Garc"]
    assert [text[start:end] for start, end in tokens.spans.tolist()] == [
        "Mr",
        ".",
        "Garc",
        "&iacute;a",
        "&#39;",
        "s",
        "wife",
    ]
