from __future__ import annotations

import doctest
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shared.document import Annotation, Document
from shared.errors import ConfigurationError, FormatError
from site_client.api import CurrentPipeline, Deidentified, Pipeline, Span
from site_client.deid.choices.config import DeidConfig
from site_client.deid.mode import Mode
from site_client.deid.registry import MODES
from site_client.errors import PolicyError, WorkspaceError
from tests.loop import Loop, done, hospital, values
from tests.tiny_notes import tiny_notes, write_notes

ROOT = Path(__file__).resolve().parents[2]
NOTES = list(tiny_notes(6, 91, "api"))
HIDING = [name for name, mode in MODES.items() if mode.hides]
# What these put in the place of a span may be what stood there, by the draw.
DRAWN = ("surrogate",)


@pytest.fixture(scope="module")
def pipeline(built_loop: Loop) -> Pipeline:
    return Pipeline.load(built_loop.site("fourth"))


def test_it_finds_and_hides_what_the_command_does(pipeline: Pipeline, built_loop: Loop, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes", NOTES)
    for labels in notes.glob("*.ann"):
        labels.unlink()
    done(hospital("deid", notes, "--out", tmp_path / "out", "--workspace", built_loop.site("fourth")))
    for note in NOTES:
        assert pipeline.deidentify(note.text).text == (tmp_path / "out" / f"{note.identifier}.txt").read_text()


@pytest.mark.parametrize(
    "texts", ["Patient Ana Ruiz", b"Patient Ana Ruiz", ["Patient", None], [b"Patient"], [["Patient"]]]
)
def test_one_note_in_the_place_of_many_is_refused(pipeline: Pipeline, texts: Any) -> None:
    for call in (pipeline.deidentify_batch, pipeline.annotate_batch):
        with pytest.raises(ConfigurationError, match="expected") as told:
            list(call(texts))
        assert "Ruiz" not in str(told.value)


def test_spans_lie_where_the_text_is(pipeline: Pipeline) -> None:
    found = list(pipeline.annotate_batch(note.text for note in NOTES))
    assert len(found) == len(NOTES)
    assert found[0] == pipeline.annotate(NOTES[0].text)
    right = sum(
        (span.start, span.end, span.category) in {(one.start, one.end, one.category) for one in note.annotations}
        for note, spans in zip(NOTES, found, strict=True)
        for span in spans
    )
    assert right >= 0.9 * sum(len(note.annotations) for note in NOTES)
    assert all(span.confidence is not None and 0 <= span.confidence <= 1 for spans in found for span in spans)
    assert {span.category for spans in found for span in spans} <= set(pipeline.categories)


@pytest.mark.parametrize("mode", [name for name in HIDING if name not in DRAWN])
def test_every_mode_that_hides_leaves_nothing_of_what_was_found(pipeline: Pipeline, mode: str) -> None:
    for note, one in zip(NOTES, pipeline.deidentify_batch((note.text for note in NOTES), mode), strict=True):
        assert one.mode == mode
        assert one.spans
        for span in one.spans:
            assert note.text[span.start : span.end] not in one.text


@pytest.mark.parametrize("mode", DRAWN)
def test_what_is_drawn_is_seldom_what_stood_there(pipeline: Pipeline, mode: str) -> None:
    left = spans = 0
    for note, one in zip(NOTES, pipeline.deidentify_batch((note.text for note in NOTES), mode), strict=True):
        assert one.spans
        spans += len(one.spans)
        left += sum(note.text[span.start : span.end] in one.text for span in one.spans)
    assert left < spans / 2


def test_a_mode_that_hides_nothing_is_no_way_to_deidentify(pipeline: Pipeline) -> None:
    modes: list[str | Mode] = [*(name for name, mode in MODES.items() if not mode.hides), MODES["tag"]]
    for mode in modes:
        with pytest.raises(ConfigurationError, match="one that hides"):
            pipeline.deidentify("Ana", mode)
    with pytest.raises(ConfigurationError, match="got another"):
        pipeline.deidentify("Ana", "nothing")


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_a_text_that_no_note_can_have_is_refused(pipeline: Pipeline, text: str) -> None:
    with pytest.raises(FormatError):
        pipeline.annotate(text)
    with pytest.raises(FormatError):
        pipeline.deidentify(text)


def test_an_empty_text_stays_empty(pipeline: Pipeline) -> None:
    assert pipeline.annotate("") == []
    assert pipeline.deidentify("") == Deidentified("", (), "redact")


def test_batches_are_read_as_they_are_needed(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    # A twentieth of what is held at a time otherwise.
    monkeypatch.setattr("shared.pipeline.pipeline.CHUNK_TOKENS", 1 << 12)
    taken: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(10**9):
            taken.append(number)
            yield "Patient Ana was seen. " * 100

    assert next(pipeline.annotate_batch(texts())) is not None
    assert next(pipeline.deidentify_batch(texts())) is not None
    assert len(taken) < 100


def test_no_repr_shows_text(pipeline: Pipeline) -> None:
    for note in NOTES:
        made = pipeline.deidentify(note.text)
        assert made.text not in repr(made)
        assert not [word for word in note.text.split() if len(word) > 6 and word in repr((made, pipeline))]


def test_a_folder_of_a_release_is_taken_as_it_is(pipeline: Pipeline, built_loop: Loop) -> None:
    (release,) = (built_loop.site("fourth") / "releases").glob("*-pipeline")
    assert Pipeline.load(str(release)).annotate(NOTES[0].text) == pipeline.annotate(NOTES[0].text)


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of settings, beside a release that finds nothing."""
    scheme = SimpleNamespace(categories=("HOSPITAL",))
    blind = SimpleNamespace(annotate=lambda documents: documents, encoder=SimpleNamespace(scheme=scheme))
    monkeypatch.setattr("site_client.api.load_pipeline", lambda folder: blind)
    path = tmp_path / "ours.toml"
    path.write_text('[deny]\nHOSPITAL = ["Quiet Hollow"]\n[categories.HOSPITAL]\nmode = "fixed"\n')
    return path


def test_what_a_hospital_has_settled_holds_for_programs_too(settled: Path) -> None:
    text = "the quiet\u00ad hollow saw nobody"
    usual, ours = (Pipeline.load(settled.parent, config=one) for one in (None, settled))
    assert usual.deidentify(text).text == text
    done = ours.deidentify(text)
    assert (done.text, done.mode) == ("the " + "\u2588" * 8 + " saw nobody", "redact")
    assert [(span.start, span.end, span.category) for span in done.spans] == [(4, 17, "HOSPITAL")]
    # Who brings a mode of their own has it for all that is found.
    assert ours.deidentify(text, MODES["redact"]).text == "the [HOSPITAL] saw nobody"
    # Spans are what the pipeline finds, as `deid --mode tag` shows them.
    assert ours.annotate(text) == []


def test_settings_that_change_meanwhile_count(settled: Path) -> None:
    current = CurrentPipeline(settled.parent, config=settled)
    assert current().deidentify("Quiet Hollow").text == "\u2588" * 8
    settled.write_text("")
    assert current().deidentify("Quiet Hollow").text == "Quiet Hollow"
    settled.write_text("[deny")
    with pytest.raises(ConfigurationError, match="expected TOML"):
        current()


def test_a_workspace_is_held_to_its_policy(loop: Loop) -> None:
    with pytest.raises(WorkspaceError, match="representer only"):
        Pipeline.load(loop.site("north"))
    values(hospital("policy", "set", "--least-cluster", "100000", "--workspace", loop.site("fourth"), "--json"))
    with pytest.raises(PolicyError):
        Pipeline.load(loop.site("fourth"))


def test_what_the_policy_forbids_meanwhile_is_served_no_more(loop: Loop) -> None:
    site = loop.site("fourth")
    current = CurrentPipeline(site)
    served = current()
    assert served.release is not None
    assert current() is served
    values(hospital("policy", "set", "--least-cluster", "100000", "--workspace", site, "--json"))
    for _ in range(2):
        with pytest.raises(PolicyError):
            current()
    values(hospital("policy", "set", "--least-cluster", "1", "--workspace", site, "--json"))
    assert current().annotate(NOTES[0].text) == served.annotate(NOTES[0].text)


class Leaky(Mode):
    """What a plug-in could do wrong."""

    name = "leaky"
    writes = ""
    format = "txt"
    hides = True

    def turn(self, document: Document) -> Document:
        raise RuntimeError(document.text)


def test_a_mode_that_fails_gives_no_text(pipeline: Pipeline) -> None:
    with pytest.raises(RuntimeError):
        pipeline.deidentify(NOTES[0].text, Leaky())


def test_spans_of_a_mode_are_those_of_its_own_text() -> None:
    class Fixed:
        def annotate(self, documents: Iterator[Document]) -> Iterator[Document]:
            for document in documents:
                end = len(document.text)
                yield Document(document.identifier, document.text, (Annotation(0, end, "A", confidence=0.5),))

    made = list(Pipeline(Fixed(), ("A",)).deidentify_batch(["Ana", "Berta"]))  # type: ignore[arg-type]
    assert [one.spans for one in made] == [(Span(0, 3, "A", 0.5),), (Span(0, 5, "A", 0.5),)]
    assert [one.text for one in made] == ["[A]", "[A]"]


@pytest.mark.parametrize("mode", ["hash", "surrogate"])
@pytest.mark.parametrize("config", [None, DeidConfig()])
def test_each_call_draws_anew(mode: str, config: DeidConfig | None) -> None:
    class Fixed:
        def annotate(self, documents: Any) -> Iterator[Document]:
            for document in documents:
                yield Document(document.identifier, document.text, (Annotation(0, 8, "IDNUM"),))

    pipeline = Pipeline(Fixed(), ("IDNUM",), config=config)
    before = MODES[mode].report().lines
    one, same = (each.text for each in pipeline.deidentify_batch(["A1234567"] * 2, mode))
    assert mode == "surrogate" or one == same
    assert pipeline.deidentify("A1234567", mode).text != one
    assert MODES[mode].report().lines == before


def test_the_page_for_programmers_shows_what_happens(built_loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(built_loop.root)
    os.symlink("fourth", "deid")
    try:
        failed, tried = doctest.testfile(
            str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=doctest.ELLIPSIS
        )
    finally:
        os.unlink("deid")
    assert tried >= 8
    assert not failed
