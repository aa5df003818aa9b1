from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from foundation.errors import DeidError
from shared.document import Annotation, Document
from shared.errors import ModelError
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline, load_pipeline
from site_client.deid.deidentify import repeating
from site_client.review.finding import Finding
from site_client.review.prelabel import PipelineFinder
from site_client.review.project import Project
from site_client.review.spans import Source, Span
from site_client.review.state import Edit
from site_client.workspace import open_workspace
from tests.loop import Loop
from tests.site_client.review.projects import found, notes, person, project
from tests.tiny_notes import tiny_notes

NOTES = list(tiny_notes(6, 77, "unseen"))


@pytest.fixture(scope="module")
def pipeline(built_loop: Loop) -> Pipeline:
    return load_pipeline(open_workspace(built_loop.site("fourth")).pipeline_release().folder)


def test_what_the_pipeline_finds_comes_with_how_sure_it_is(pipeline: Pipeline) -> None:
    finder = PipelineFinder(pipeline.encoder.scheme, pipeline)
    for note in NOTES:
        plain = Document(note.identifier, note.text)
        (annotated,) = pipeline.annotate([plain])
        spans = [span for span in finder.find(plain) if span.source is Source.FOUND]
        by_place = {(span.start, span.end): span.certainty for span in spans}
        for one in annotated.annotations:
            assert by_place[one.start, one.end] == one.confidence
        assert not any(span.accepted for span in spans)


def test_spans_touch_no_label_and_each_other_not_either(pipeline: Pipeline) -> None:
    finder = PipelineFinder(pipeline.encoder.scheme, pipeline)
    for note in NOTES:
        name = note.annotations[0]
        half = note.text.index(" ", name.start, name.end)
        labelled = Document(note.identifier, note.text, (Annotation(name.start, half, "PATIENT"),))
        spans = finder.find(labelled)
        edges = sorted([(span.start, span.end) for span in spans] + [(name.start, half)])
        assert all(one[1] <= other[0] for one, other in pairwise(edges))
        # Of a name that is labelled in half the other half is found.
        assert any(span.start < name.end and half < span.end for span in spans)


def test_what_counts_as_phi_is_what_deid_would_hide(pipeline: Pipeline) -> None:
    """Words alone that the release calls public are not believed a second time, here as there."""
    assert pipeline.encoder.are_public(["rest"])[0]
    finder, repeat = PipelineFinder(pipeline.encoder.scheme, pipeline), repeating(pipeline)
    text = (
        "Dr Rest advised rest.\nThere was mild fever and a dry cough, Rest and swollen ankles and no complaint today.\n"
    )
    note = Document("n", text)
    (annotated,) = pipeline.annotate([note])
    assert [note.covered_text(span) for span in annotated.annotations] == ["Rest"]
    hidden = {(span.start, span.end) for span in repeat(annotated).annotations}
    assert {(span.start, span.end) for span in finder.find(note) if span.is_phi} == hidden


def test_without_a_pipeline_patterns_and_names_are_doubts_alone() -> None:
    finder = PipelineFinder(load_scheme("i2b2_2014"), None)
    spans = finder.find(Document("n", "Mr John Smith was seen on 12/03/2011."))
    assert {span.source for span in spans} == {Source.DOUBT}
    assert (26, 36) in {(span.start, span.end) for span in spans}


class Fixed:
    """Finds the same everywhere."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.seen: list[str] = []
        self._meanwhile = meanwhile

    def find(self, document: Document) -> list[Span]:
        self.seen.append(document.identifier)
        self._meanwhile()
        return [found(9, 14, 0.9)]


def run(made: Project, finder: Callable[[], Fixed], *wanted: int) -> Finding:
    finding = Finding(made, finder)
    for number in wanted:
        finding.want(number)
    finding.start()
    finding.shown()
    while finding.working:
        time.sleep(0.01)
    finding.stop()
    return finding


def test_who_waits_for_a_note_gets_it_first_and_nobody_is_overruled(tmp_path: Path) -> None:
    made, finder = project(tmp_path / "p", notes(5)), Fixed()
    made.edit(2, 0, Edit((), (person(19, 24),)))
    finding = run(made, lambda: finder, 4)
    assert finder.seen == ["n4", "n0", "n1", "n3"]
    assert finding.problem == ""
    assert [state.looked_for for state in made.states()] == [True, True, False, True, True]
    made.close()
    # And again: nothing is looked for twice.
    opened, again = Project(tmp_path / "p"), Fixed()
    run(opened, lambda: again)
    assert again.seen == []
    opened.close()


def test_one_note_that_can_not_be_read_keeps_no_other_from_its_pre_labels(tmp_path: Path) -> None:
    class Picky(Fixed):
        def find(self, document: Document) -> list[Span]:
            if document.identifier == "n1":
                raise RuntimeError(document.text)
            return super().find(document)

    made = project(tmp_path / "p")
    finding = run(made, Picky)
    assert [state.looked_for for state in made.states()] == [True, False, True]
    assert not finding.will_find(1)
    assert finding.problem == "a fault in the program (RuntimeError) (note 2 as they came)"
    made.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [(ModelError("expected weights, got none"), "expected weights"), (RuntimeError("Berta"), "RuntimeError")],
)
def test_what_goes_wrong_is_said_on_the_page_without_text(error: Exception, said: str, tmp_path: Path) -> None:
    made = project(tmp_path / "p")

    def fails() -> None:
        raise error

    for load in (lambda: Fixed(fails), fails):
        finding = run(made, load)  # type: ignore[arg-type]
        assert said in finding.problem
        assert "Berta" not in finding.problem
    assert isinstance(error, DeidError) or "fault" in finding.problem
    made.close()
