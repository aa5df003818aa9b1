"""What every mode keeps to: it leaves nothing of a span where it must not, and everything else as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from shared.corpus import read_corpus, write_document
from shared.corpus.formats.registry import FORMAT_NAMES
from shared.document import Annotation, Document
from shared.errors import AnnotationError
from site_client.deid.mode import Mode
from site_client.deid.registry import DEFAULT, MODES, describe_modes
from tests.site_client.deid.notes import LENGTH, annotated, covered, ours

DOCS = Path(__file__).resolve().parents[3] / "docs"

every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


@every_mode
@given(document=annotated())
def test_no_character_of_a_span_is_left_where_it_must_not(mode: Mode, document: Document) -> None:
    turned = mode.turn(document)
    left = covered(document) & set(turned.text)
    assert left == (set() if mode.hides else covered(document))


@every_mode
@given(document=annotated())
def test_all_else_stays_in_its_order_line_ends_too(mode: Mode, document: Document) -> None:
    turned = mode.turn(document)
    assert turned.identifier == document.identifier
    hidden = covered(document) if mode.hides else set()
    assert ours(turned.text) == [character for character in ours(document.text) if character not in hidden]


@every_mode
@given(document=annotated())
def test_offsets_fit_the_text_that_is_written(mode: Mode, document: Document) -> None:
    turned = mode.turn(document)
    for span in turned.annotations:
        assert 0 <= span.start < span.end <= len(turned.text)
    if not mode.hides:
        pieces = [[one.covered_text(span) for span in one.annotations] for one in (turned, document)]
        assert pieces[0] == pieces[1]


@every_mode
@given(document=annotated())
def test_turning_again_changes_nothing(mode: Mode, document: Document) -> None:
    once = mode.turn(document)
    assert mode.turn(once) == once


@every_mode
@pytest.mark.parametrize("text", ["", "\r\n", "nothing found"])
def test_a_note_without_phi_stays_as_it_is(mode: Mode, text: str) -> None:
    assert mode.turn(Document("n", text)) == Document("n", text)


@every_mode
def test_a_note_that_is_all_phi_and_spans_side_by_side(mode: Mode) -> None:
    text = "".join(chr(0xE000 + place) for place in range(LENGTH))
    whole = Document("n", text, (Annotation(0, 20, "A"), Annotation(20, LENGTH, "B")))
    assert mode.turn(whole).identifier == "n"
    if mode.hides:
        assert not set(mode.turn(whole).text) & set(text)


@every_mode
@pytest.mark.parametrize("text", ["Ana\r\nBerlin\rsaid\n\n", "", "\ufeffAna Berlin", "e\u0301 Ana \U0001f600 Berlin"])
def test_its_format_takes_what_it_gives_byte_for_byte(mode: Mode, text: str, tmp_path: Path) -> None:
    spans = tuple(
        Annotation(text.index(word), text.index(word) + len(word), "A") for word in ("Ana", "Berlin") if word in text
    )
    turned = mode.turn(Document("n", text, spans))
    assert mode.format in FORMAT_NAMES
    write_document(turned, tmp_path, mode.format)
    (back,) = read_corpus(tmp_path, format=mode.format)
    assert back.text == turned.text
    assert [(one.start, one.end, one.category) for one in back.annotations] == [
        (one.start, one.end, one.category) for one in turned.annotations
    ]


def test_spans_that_overlap_reach_no_mode() -> None:
    with pytest.raises(AnnotationError, match="overlap"):
        Document("n", "AnaBerlin", (Annotation(0, 5, "A"), Annotation(4, 9, "A")))


def test_redaction_shows_the_category_of_every_span() -> None:
    document = Document("n", "Ana, Berlin", (Annotation(0, 3, "PATIENT"), Annotation(5, 11, "CITY")))
    assert MODES["redact"].turn(document).text == "[PATIENT], [CITY]"


def test_what_is_done_unless_asked_for_hides() -> None:
    assert DEFAULT.hides


@every_mode
def test_the_help_and_the_documents_name_it(mode: Mode) -> None:
    guide = (DOCS / "hospital.md").read_text(encoding="utf-8")
    assert MODES[mode.name] is mode
    assert f"{mode.name}: {mode.writes}" in describe_modes()
    assert f"`{mode.name}`" in guide
    assert mode.writes in guide
