"""Whatever anybody holds for PHI is among the annotations that fragments keep away from; and which notes are English."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.pipeline.mentions import nobody_knows
from shared.pipeline.reading import Reading
from shared.text.tokens import Tokens
from site_client.fragments.careful import LEAST, Careful, CarefulFinder
from site_client.fragments.parser import is_foreign, require_english, require_english_pipeline

SCHEME = load_scheme("i2b2_2014")


class Pipeline:
    """Says PHI of one word, and holds another for PHI with a probability; remembers what labels it was shown."""

    def __init__(self, says: str, suspects: str, probability: float) -> None:
        self.says, self.suspects, self.probability = says, suspects, probability
        self.encoder = SimpleNamespace(scheme=SCHEME)
        self.head = SimpleNamespace(eval=lambda: None)
        self.shown: list[Document] = []

    def seen(self, text: str) -> str:
        return text

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for one in documents:
            self.shown.append(one)
            place = one.text.find(self.says)
            spans = (Annotation(place, place + len(self.says), "PATIENT"),) if place >= 0 else ()
            yield replace(one, annotations=spans)

    def read(self, group: list[tuple[Document, Tokens]]) -> Iterator[Reading]:
        for document, tokens in group:
            self.shown.append(document)
            certain = [self.probability if word == self.suspects else 0.0 for word in tokens.words]
            yield Reading(
                np.zeros(len(certain), np.uint8), np.array(certain, np.float32), np.zeros(len(certain), np.int64)
            )


def careful(document: Document, pipeline: Any = None) -> Careful:
    (one,) = CarefulFinder(SCHEME, pipeline, nobody_knows).find([document])
    return one


def found(text: str, pipeline: Any = None, *labels: str) -> set[str]:
    spans = tuple(Annotation(text.index(label), text.index(label) + len(label), "OURS") for label in labels)
    note = careful(Document("a", text, spans), pipeline).note
    return {note.covered_text(span) for span in note.annotations}


def test_labels_are_kept_and_found_again() -> None:
    assert found("Quillfeather came.\nMs Quillfeather left.", None, "Quillfeather") == {"Quillfeather"}
    one = careful(Document("a", "Quillfeather came.\nMs Quillfeather left.", (Annotation(0, 12, "OURS"),)))
    assert len(one.note.annotations) == 2


def test_patterns_are_found_without_a_pipeline() -> None:
    assert "02/12/2020" in found("Seen on 02/12/2020 for cough.")


def test_what_the_pipeline_says_is_found_wherever_it_is_said_again() -> None:
    text = "Oxenthorpe came.\nOxenthorpe left."
    one = careful(Document("a", text), Pipeline("Oxenthorpe", "", 0))
    assert [(span.start, span.end) for span in one.note.annotations] == [(0, 10), (17, 27)]


@pytest.mark.parametrize(("probability", "expected"), [(LEAST, {"sheep"}), (LEAST / 2, set()), (0.4, {"sheep"})])
def test_what_it_holds_possible_is_found(probability: float, expected: set[str]) -> None:
    assert found("He keeps sheep now", Pipeline("zzz", "sheep", probability)) == expected


def test_labels_are_no_hint_for_the_pipeline() -> None:
    pipeline = Pipeline("Oxenthorpe", "came", 0.5)
    assert found("Oxenthorpe came here.", pipeline, "here") == {"Oxenthorpe", "came", "here"}
    assert not any(one.annotations for one in pipeline.shown)


def test_every_note_comes_back_in_its_order() -> None:
    notes = [Document(str(number), "Chest pain.") for number in range(150)]
    assert [one.note for one in CarefulFinder(SCHEME, None, nobody_knows).find(notes)] == notes


def test_what_is_sure_is_told_as_it_was_found() -> None:
    """A label stays one by itself, though what the pipeline holds possible goes on behind it."""
    text = "Seen by Oxenthorpe at Market Street today, on 02/12/2020"
    street = Annotation(text.index("Market"), text.index(" today"), "OURS")
    one = careful(Document("a", text, (street,)), Pipeline("Oxenthorpe", "today", 0.4))
    assert {text[span.start : span.end] for span in one.sure} == {"Oxenthorpe", "Market Street", "02/12/2020"}
    assert "Oxenthorpe" not in repr(one)


ENGLISH = "The patient was seen for pain in the chest and has had a cough since the day before. "
SPANISH = "La paciente acude por dolor en el pecho y tos desde el día anterior, sin fiebre. "


def test_english_notes_pass_and_others_do_not() -> None:
    notes = [Document(str(number), ENGLISH * 3) for number in range(300)]
    assert list(require_english(notes)) == notes
    assert list(require_english([])) == []
    for text in (SPANISH * 3, "x y z " * 40):
        with pytest.raises(ConfigurationError, match="English"):
            require_english([Document("a", text)])


def test_a_note_in_another_language_among_them_is_told() -> None:
    assert is_foreign(Document("a", SPANISH * 3))
    assert not is_foreign(Document("a", ENGLISH * 3))
    assert not is_foreign(Document("a", "WBC 12, CRP 4"))


def test_a_pipeline_of_another_language_is_refused() -> None:
    require_english_pipeline("English", [])
    require_english_pipeline(None, ["chest", "pain"])
    with pytest.raises(ConfigurationError, match="Spanish"):
        require_english_pipeline("Spanish", [])
