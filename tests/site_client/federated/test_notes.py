"""The notes of a training together: what counts as one, where notes are counted and where patients are."""

from __future__ import annotations

import numpy as np
import pytest

from shared.document import Document
from shared.errors import ConfigurationError
from shared.sentences.ragged import RaggedSentences
from site_client.federated.notes import LabelledNotes, OnceEach, group_by_patient


def rows(count: int) -> RaggedSentences:
    return RaggedSentences(
        np.full((count, 2), count, np.float32),
        np.zeros(count, np.uint8),
        np.zeros(count, np.uint8),
        np.ones(count, np.int64),
    )


WHOSE = {"a": "anna", "b": "bert", "c": "anna"}


def test_all_notes_of_a_patient_are_one_sample_and_one_of_nobody_stands_for_itself() -> None:
    patients = group_by_patient(["a", "x", "b", "c", "y"], WHOSE)
    assert patients == ((0, 3), (1,), (2,), (4,))
    notes = LabelledNotes([rows(count) for count in (1, 2, 3, 4, 5)], patients=patients)
    assert (notes.unit, len(notes.samples)) == ("patient", 4)
    assert [notes.samples[index].sentences for index in range(4)] == [5, 2, 3, 5]
    assert [one.sentences for one in notes.samples] == [5, 2, 3, 5]
    assert notes.sentences == 15


def test_without_a_table_each_note_is_a_sample() -> None:
    notes = LabelledNotes([rows(1), rows(2)])
    assert (notes.unit, notes.samples) == ("note", notes.notes)
    assert notes.of_sample(1) == (1,)


@pytest.mark.parametrize(("whose", "left"), [({}, ["a"]), (WHOSE, ["a", "b"])])
def test_attack_a_copy_in_another_patient_s_notes_does_not_come_and_go_with_the_first(
    whose: dict[str, str], left: list[str]
) -> None:
    """Else to take a patient out would change two samples, and noise covers one."""
    same = [Document(name, "one text", ()) for name in ("a", "b", "c")]
    once = OnceEach(same, lambda text: text.encode(), whose)
    assert [document.identifier for document in once] == left
    assert once.left_out == len(same) - len(left)


def test_a_table_of_other_notes_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="names none of the 2 notes"):
        group_by_patient(["x", "y"], WHOSE)
