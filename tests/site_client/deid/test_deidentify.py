"""Notes on their way through a pipeline and a mode into a new folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from site_client.deid.deidentify import Deidentified, deidentify, merge_annotations, write_deidentified
from site_client.deid.mode import Mode
from site_client.deid.registry import MODES
from tests.site_client.deid.notes import annotated, covered

every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


class Finds:
    """A pipeline that finds what it is told to, two documents at a time."""

    def __init__(self, *spans: tuple[Annotation, ...]) -> None:
        self.spans = spans

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        listed = list(documents)
        for document, spans in zip(listed, self.spans, strict=True):
            yield Document(document.identifier, document.text, spans)


@given(annotated(), annotated())
def test_what_anybody_marked_is_hidden(predicted: Document, known: Document) -> None:
    predicted = Document("n", known.text, predicted.annotations)
    both = merge_annotations(predicted, known)
    assert covered(both) == covered(predicted) | covered(known)
    places = {
        place
        for document in (predicted, known)
        for span in document.annotations
        for place in range(span.start, span.end)
    }
    assert {place for span in both.annotations for place in range(span.start, span.end)} == places


def test_spans_side_by_side_stay_two() -> None:
    one = Document("n", "AnnaBerlin", (Annotation(0, 4, "PATIENT"),))
    other = Document("n", "AnnaBerlin", (Annotation(4, 10, "CITY"),))
    assert MODES["redact"].turn(merge_annotations(one, other)).text == "[PATIENT][CITY]"


def test_the_same_span_twice_is_one() -> None:
    one = Document("n", "Anna", (Annotation(0, 4, "PATIENT"),))
    assert MODES["redact"].turn(merge_annotations(one, one)).text == "[PATIENT]"


@every_mode
@given(pairs=st.lists(st.tuples(annotated(), annotated()), max_size=3))
def test_every_document_goes_through_its_mode(mode: Mode, pairs: list[tuple[Document, Document]]) -> None:
    notes = [Document(f"n{place}", note.text, note.annotations) for place, (note, _) in enumerate(pairs)]
    counts: Counter[str] = Counter()
    done = list(deidentify(Finds(*(found.annotations for _, found in pairs)), notes, mode, counts))
    assert [one.identifier for one in done] == [one.identifier for one in notes]
    written = 0
    for one, note, (_, found) in zip(done, notes, pairs, strict=True):
        predicted = Document(note.identifier, note.text, found.annotations)
        both = merge_annotations(predicted, note) if mode.hides else predicted
        written += len(both.annotations)
        assert one == mode.turn(both)
        if mode.hides:
            assert not covered(note) & set(one.text)
        assert not mode.hides or not covered(predicted) & set(one.text)
    assert sum(counts.values()) == written


@every_mode
def test_files_hold_what_the_mode_gives(mode: Mode, tmp_path: Path) -> None:
    text = "Ana\r\nsaid\rno\n"
    notes = [Document("one", text), Document("empty", "")]
    done = write_deidentified(Finds((Annotation(0, 3, "PATIENT"),), ()), notes, tmp_path / "safe", mode)
    assert done == Deidentified(2, {"PATIENT": 1})
    assert (tmp_path / "safe" / "empty.txt").read_bytes() == b""
    begin = b"[PATIENT]" if mode.name == "redact" else b"Ana"
    if mode.name in ("redact", "tag"):
        assert (tmp_path / "safe" / "one.txt").read_bytes() == begin + b"\r\nsaid\rno\n"


@every_mode
def test_a_folder_with_files_in_it_is_left_alone(mode: Mode, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="new folder"):
        write_deidentified(Finds(()), [Document("note", "theirs")], tmp_path, mode)
    assert (tmp_path / "note.txt").read_text() == "mine"
