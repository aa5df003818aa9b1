from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.document import AnnotatedText, Annotation, Document
from shared.evaluation import evaluate_hospital
from shared.evaluation.hospital import Rate
from shared.text.tokens import tokenise
from site_client.evaluating.counting import Labelled, LabelledNote
from tests.shared.evaluation.cases import overlapping_pairs, pairs
from tests.site_client.evaluating.made import measured, missing
from tests.tiny_notes import tiny_notes

TEXT = "Zoe Quiros, 12/03/2014, ward 7, seen."


@settings(deadline=None)
@given(st.one_of(pairs(), overlapping_pairs()))
def test_it_counts_as_the_evaluation_counts(made: list[tuple[AnnotatedText, AnnotatedText]]) -> None:
    gold = [note for note, _ in made]
    found = [Document(one.identifier, one.text, _apart(one.annotations)) for _, one in made]
    ours, theirs = measured(gold, found), evaluate_hospital(zip(gold, found, strict=True))  # type: ignore[arg-type]
    assert Rate(ours.recall.hits, ours.recall.total) == theirs.recall.spans
    assert ours.notes_with_miss == theirs.documents_with_miss
    for name, one in ours.by_type.items():
        assert Rate(one.hits, one.total) == theirs.per_type[name].spans


def _apart(spans: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    """The spans that do not overlap one before, as a pipeline gives them."""
    kept: list[Annotation] = []
    for span in sorted(spans):
        if span.start < span.end and (not kept or span.start >= kept[-1].end):
            kept.append(span)
    return tuple(kept)


def test_hidden_words_that_are_phi_worked_out_by_hand() -> None:
    gold = Document("a", TEXT, (Annotation(0, 10, "NAME"), Annotation(12, 22, "DATE")))
    # "Zoe", "Quiros" and "ward" are hidden; commas are no words.
    found = Document("a", TEXT, (Annotation(0, 11, "NAME"), Annotation(24, 28, "X")))
    assert measured([gold], [found]).precision == Rate(2, 3)


def test_notes_of_a_patient_and_copies_of_a_text_count_as_one() -> None:
    notes = [*tiny_notes(4), *tiny_notes(1, 9, "other")]
    copy = Document("copy", notes[0].text.replace("\n", "\n\n"), ())
    by_text = Labelled.of([*notes, copy], {})
    assert by_text.groups.tolist() == [0, 1, 2, 3, 4, 0]
    whose = {notes[1].identifier: "7", notes[3].identifier: "7"}
    assert Labelled.of(notes, whose).groups.tolist() == [0, 1, 2, 1, 3]
    assert Labelled.of(notes, whose).independent == 4


def test_copies_of_notes_make_nothing_surer() -> None:
    notes, copies, hidden = list(tiny_notes(20, 2)), [], []
    for number in range(5):
        for note, found in zip(notes, missing(notes, 7), strict=True):
            name = f"{number}-{note.identifier}"
            copies.append(replace(note, identifier=name))
            hidden.append(replace(found, identifier=name))
    once, several = measured(notes, missing(notes, 7)).recall, measured(copies, hidden).recall
    assert several.value == once.value
    assert several.notes == once.notes
    # Five times as many notes would make it 0.45 of this.
    assert several.high - several.low > 0.75 * (once.high - once.low)


def test_a_note_without_words_or_labels_is_counted() -> None:
    empty = LabelledNote(Document("e", ""), tokenise(""), {"DATE": 0})
    assert empty.totals(1).tolist() == [0]
    assert empty.words(np.zeros(0, dtype=np.bool_)) == (0, 0)
    nothing = measured([Document("e", ""), Document("f", "well")], [Document("e", ""), Document("f", "well")])
    assert (nothing.recall.total, nothing.recall.low, nothing.recall.high) == (0, 0.0, 1.0)
    assert nothing.notes_with_miss == Rate(0, 2)
