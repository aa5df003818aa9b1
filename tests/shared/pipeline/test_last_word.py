"""What is added to what a tagger found, that nothing is taken away, and what a release may state."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.errors import ModelError
from shared.labels import LabelScheme, load_scheme
from shared.pipeline import last_word
from shared.pipeline.last_word import FILE, STEPS, LastWord, LastWordSettings, load_settings
from shared.pipeline.mentions import nobody_knows
from shared.pipeline.pipeline import load_pipeline
from shared.text.language import known_languages
from site_client.workspace import open_workspace
from tests.loop import Loop
from tests.tiny_notes import tiny_notes

SCHEME = load_scheme("i2b2_2014")
TEXT = "Mrs Oxenthorpe came on 03/04/2019. OXENTHORPE called 555-123-4567."


def said(
    text: str, *spans: tuple[str, str], steps: tuple[str, ...] = STEPS, scheme: LabelScheme = SCHEME
) -> list[tuple[str, str]]:
    found = tuple(Annotation(text.index(one), text.index(one) + len(one), category) for one, category in spans)
    last = LastWord(scheme, LastWordSettings("English", steps), nobody_knows).complete(Document("n", text, found))
    return [(last.covered_text(span), span.category) for span in last.annotations]


def test_each_step_adds_its_own() -> None:
    dated = [("Oxenthorpe", "PATIENT"), ("03/04/2019", "DATE"), ("555-123-4567", "PHONE")]
    assert said(TEXT, steps=()) == []
    assert said(TEXT, steps=("patterns",)) == dated
    assert said(TEXT) == [*dated[:2], ("OXENTHORPE", "PATIENT"), dated[2]]
    assert said("J. Oxenthorpe", ("Oxenthorpe", "DOCTOR"), steps=("whole",)) == [("J. Oxenthorpe", "DOCTOR")]


def test_a_pattern_names_what_it_covers_and_gives_way_to_what_it_meets() -> None:
    assert said("on 03/04/2019 he", ("03", "PHONE"), ("2019", "ZIP")) == [("03/04/2019", "DATE")]
    adding = STEPS[3:]
    assert said("on 03/04/2019 he", ("2019 he", "DATE"), steps=adding) == [("03/04/2019 he", "DATE")]
    assert said("on 03/04/2019 he", ("2019 he", "PATIENT"), steps=adding) == [("03/04", "DATE"), ("2019 he", "PATIENT")]


def test_words_of_any_form_name_nothing_of_two_categories() -> None:
    adding = STEPS[3:]
    text = "at Oxenthorpe Memorial Hospital, and"
    assert said(text, ("Oxenthorpe", "CITY"), steps=adding) == [("Oxenthorpe Memorial Hospital", "HOSPITAL")]
    found = said(text, ("Oxenthorpe", "CITY"), ("Memorial Hospital", "HOSPITAL"), steps=adding)
    assert found == [("Oxenthorpe", "CITY"), ("Memorial Hospital", "HOSPITAL")]


def test_a_number_of_any_kind_stays_what_the_tagger_calls_it() -> None:
    adding = STEPS[3:]
    assert said("see 75915382 now", steps=adding)[0][0] == "75915382"
    assert said("see 75915382 now", ("75915382", "ZIP"), steps=adding) == [("75915382", "ZIP")]
    assert said("see 75915382 now", ("759", "ZIP"), steps=adding)[0][1] != "ZIP"


def test_what_a_pattern_finds_too_seldom_right_adds_nothing() -> None:
    assert said("in the 1990s, 12345 cells") == []


def test_a_kind_that_the_scheme_does_not_have_adds_nothing() -> None:
    assert said("a@b.example.org", scheme=LabelScheme("own", ("CODE",))) == []


@given(st.text("aA1 .,-/@(:\nÁñ") | st.text(), st.data())
def test_what_only_adds_leaves_what_the_tagger_found(text: str, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
    spans = tuple(Annotation(start, end, "PATIENT") for start, end in zip(edges[::2], edges[1::2], strict=False))
    adding = LastWordSettings(None, tuple(step for step in STEPS if step not in ("capitals", "eponyms", "impersonal")))
    last = LastWord(SCHEME, adding, nobody_knows).complete(Document("n", text, spans))
    covered = {place for span in last.annotations for place in range(span.start, span.end)}
    assert all(covered >= set(range(span.start, span.end)) for span in spans)


def test_a_release_that_states_nothing_has_no_last_word(tmp_path: Path) -> None:
    assert load_settings(tmp_path) is None
    LastWordSettings("Spanish", ("patterns",)).save(tmp_path)
    assert load_settings(tmp_path) == LastWordSettings("Spanish", ("patterns",))


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "[]",
        "{}",
        json.dumps({"version": 2, "language": None, "steps": []}),
        json.dumps({"version": 1, "language": 3, "steps": []}),
        json.dumps({"version": 1, "language": "Klingon", "steps": []}),
        json.dumps({"version": 1, "language": "spanish", "steps": []}),
        json.dumps({"version": 1, "language": ["Spanish"], "steps": []}),
        json.dumps({"version": 1, "language": None, "steps": ["guess"]}),
        json.dumps({"version": 1, "language": None, "steps": "patterns"}),
        "[" * 60_000,
    ],
)
def test_attack_a_release_that_states_what_nobody_knows(tmp_path: Path, stated: str) -> None:
    (tmp_path / FILE).write_text(stated, encoding="utf-8")
    with pytest.raises(ModelError, match=FILE):
        load_settings(tmp_path)


def test_a_language_that_nobody_knows_is_refused_in_one_line(tmp_path: Path) -> None:
    LastWordSettings("Klingon\n\x1b[2J", ()).save(tmp_path)
    with pytest.raises(ModelError, match=r"expected null or a language among .*English.*Spanish") as refusal:
        load_settings(tmp_path)
    assert str(refusal.value).isprintable()
    assert "Klingon" not in str(refusal.value)


@pytest.mark.parametrize("language", [None, *known_languages()])
def test_every_language_that_a_provider_may_guess_is_taken(tmp_path: Path, language: str | None) -> None:
    LastWordSettings(language, ()).save(tmp_path)
    assert load_settings(tmp_path) == LastWordSettings(language, ())


def test_a_release_states_what_follows_its_tagger(built_loop: Loop) -> None:
    pipeline = load_pipeline(open_workspace(built_loop.site("fourth")).pipeline_release().folder)
    assert pipeline.stated is not None
    assert pipeline.stated.steps == STEPS
    # More than one, in words that no head of tiny notes knows: each is another head, and may find one of them by chance.
    more = "rjm@10/12/07\nzq.wex@mail.example\nhttps://chart.example/a?b=17\nSSN 219-09-9999\n"
    notes = [Document(one.identifier, f"{one.text}\n{more}") for one in tiny_notes(12)]
    bare = list(replace(pipeline, stated=None).annotate(notes))
    assert pipeline.last_word is not None
    completed = [pipeline.last_word.complete(one) for one in bare]
    assert list(pipeline.annotate(notes)) == completed != bare


def test_pipelines_of_a_release_share_what_their_patterns_are_read_into(monkeypatch: pytest.MonkeyPatch) -> None:
    said("none")
    monkeypatch.setattr(last_word, "Patterns", lambda *given: pytest.fail("read anew"))
    assert said(TEXT, steps=("patterns",))
