"""Everything that looks for PHI in a note finds in one with character references what it finds in the note as it is read, and covers each whole."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.pipeline.forgotten.checker import Checker
from shared.pipeline.mentions import nobody_knows, with_repeated
from shared.pipeline.pipeline import Pipeline, load_pipeline
from shared.sentences.referenced import find_decoded
from shared.surrogates.settings import SurrogateSettings
from site_client.api import Pipeline as Api
from site_client.deid.choices.lists import HospitalLists
from site_client.deid.hashed import Hash
from site_client.deid.mode import Setting
from site_client.deid.redact import REDACT
from site_client.deid.surrogate import Surrogate
from site_client.fragments.careful import CarefulFinder
from site_client.review.prelabel import PipelineFinder
from site_client.workspace import open_workspace
from tests.loop import Loop
from tests.tiny_notes import tiny_notes

SCHEME = load_scheme("i2b2_2014")
PLAIN = (
    *(Document(one.identifier, one.text) for one in tiny_notes(4, 77, "unseen")),
    Document(
        "html",
        "Mr. José García-Ibáñez, born 03/04/1950, called (617)\xa0555-1234 about O'Brien & Sons <b>today</b>.\n\nGarcía\nis 95 years old.",
    ),
)


@pytest.fixture(scope="module")
def pipeline(built_loop: Loop) -> Pipeline:
    return load_pipeline(open_workspace(built_loop.site("fourth")).pipeline_release().folder)


def escaped(text: str, chance: random.Random) -> tuple[str, list[int]]:
    """The text with references in the place of some of its signs, letters and digits too, and where each sign then begins."""
    signs = []
    for sign in text:
        written = [
            f"&#{ord(sign)};",
            f"&amp;#{ord(sign)};",
            f"&#x{ord(sign):x};",
            *(["&nbsp;"] if sign == "\xa0" else []),
        ]
        signs.append(chance.choice(written) if sign == "&" or chance.random() < 0.3 else sign)
    places = [0]
    for one in signs:
        places.append(places[-1] + len(one))
    return "".join(signs), places


Found = list[tuple[int, int, str]]


def by_pipeline(pipeline: Pipeline, note: Document) -> Found:
    return [(one.start, one.end, one.category) for found in pipeline.annotate([note]) for one in found.annotations]


def by_check(pipeline: Pipeline, note: Document) -> Found:
    [checked] = Checker(SCHEME, pipeline).check([note])
    return [(one.start, one.end, one.category) for one in checked.suspicions]


def by_review(pipeline: Pipeline, note: Document) -> Found:
    return [(one.start, one.end, one.category) for one in PipelineFinder(SCHEME, pipeline).find(note)]


def by_lists(pipeline: Pipeline, note: Document) -> Found:
    lists = HospitalLists({}, {"PATIENT": ["garcia ibanez", "clinic"]})
    return [(one.start, one.end, one.category) for one in lists.denied(note.text)]


def by_count_of_phrases(pipeline: Pipeline, note: Document) -> Found:
    [careful] = CarefulFinder(SCHEME, pipeline, nobody_knows).find([note])
    return [(one.start, one.end, one.category) for one in careful.note.annotations]


@pytest.mark.parametrize("find", [by_pipeline, by_check, by_review, by_lists, by_count_of_phrases])
@pytest.mark.parametrize("plain", PLAIN, ids=lambda one: one.identifier)
def test_what_is_found_is_what_is_found_in_the_note_as_it_is_read(
    find: Callable[[Pipeline, Document], Found], plain: Document, pipeline: Pipeline
) -> None:
    chance = random.Random(plain.identifier)
    for _ in range(3):
        text, places = escaped(plain.text, chance)
        expected = [(places[start], places[end], category) for start, end, category in find(pipeline, plain)]
        assert find(pipeline, Document(plain.identifier, text)) == expected


def test_programs_get_the_offsets_of_the_text_that_they_gave(pipeline: Pipeline) -> None:
    api = Api(pipeline, pipeline.encoder.scheme.categories)
    text = "Ring (617)&nbsp;555-1234 or 617&#45;555&#45;1235, please"
    assert [text[one.start : one.end] for one in api.annotate(text)][-1].endswith("617&#45;555&#45;1235")
    hidden = api.deidentify(text).text
    assert not re.search("nbsp|#45|555|123", hidden)
    assert hidden.endswith("], please")


@pytest.mark.parametrize(
    ("text", "span", "hidden"),
    [
        ("Ana Garc&iacute;a. ANA&nbsp;GARC&Iacute;A, García", "Ana Garc&iacute;a", "[X]. [X], [X]"),
        ("Ana García. Garc&iacute;a&#39;s", "Ana García", "[X]. [X]&#39;s"),
        # Who labelled a part of a name that has a reference has labelled all of it.
        ("Mr. Garc&iacute;a &amp; son", "Garc", "Mr. [X] &amp; son"),
        ("Mr. Garc&iacute;a &amp; son", "Garc&iac", "Mr. [X] &amp; son"),
        ("Mr. Garc&iacute;a &amp; son", "cute;a", "Mr. [X] &amp; son"),
    ],
)
def test_further_mentions_and_labels_that_cut_a_reference(text: str, span: str, hidden: str) -> None:
    start = text.index(span)
    assert (
        REDACT.turn(with_repeated(Document("n", text, (Annotation(start, start + len(span), "X"),)), {"X"})).text
        == hidden
    )


def test_what_is_allowed_is_known_with_references() -> None:
    text = "St. Jos&eacute; Garc&iacute;a"
    lists = HospitalLists({"HOSPITAL": ["St. José"]}, {"PATIENT": ["Garcia"]})
    found = lists.apply(Document("n", text, (Annotation(0, 15, "HOSPITAL"),)))
    assert REDACT.turn(found).text == "St. Jos&eacute; [PATIENT]"


def test_one_name_with_references_and_without_has_one_code() -> None:
    code = Hash(b"k" * 32)
    assert code.turn(whole("Garc&iacute;a")).text == code.turn(whole("García")).text


@pytest.mark.parametrize("text", ["(617)&nbsp;555&#45;1234", "(617)&#160;555-1234"])
def test_a_surrogate_is_one_of_what_is_read(text: str) -> None:
    written = Surrogate(Setting(SurrogateSettings(language="English"))).turn(whole(text, "PHONE")).text
    assert re.fullmatch(r"\(\d{3}\)\s\d{3}-\d{4}", written)


def test_spans_of_a_note_stay_as_many_as_they_were() -> None:
    note = Document("n", "a&eacute;&eacute;b", (Annotation(0, 9, "X"), Annotation(9, 18, "Y")))
    assert find_decoded(note, lambda one: one) == note


def whole(text: str, category: str = "PATIENT") -> Document:
    return Document("n", text, (Annotation(0, len(text), category),))
