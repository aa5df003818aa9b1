"""Offsets in the countings of other tools: what their own encodings say of each place, and nothing for half a character."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.corpus.formats.registry import make_format
from shared.corpus.parsing.alignment import COUNTINGS, Tag, align, crlf_as_one, mismatch, utf16_units
from shared.corpus.parsing.format import Entry
from shared.document import AnnotatedText, Annotation, Document
from shared.errors import AnnotationError

# Few characters, so that many texts have two of them side by side.
TEXTS = st.text(st.sampled_from("a ñ\n\r\u20ac\U0001f600\U00010348"), max_size=12)


@given(TEXTS)
def test_units_that_are_counted_are_those_of_the_encoding(text: str) -> None:
    """An offset inside of a pair of units selects no character, and none is made up for it."""
    places = {len(text[:index].encode("utf-16-le")) // 2: index for index in range(len(text) + 1)}
    convert = utf16_units(text)
    if convert is None:
        assert list(places) == list(places.values())
    else:
        units = range(len(text.encode("utf-16-le")) // 2 + 1)
        assert [convert(unit) for unit in units] == [places.get(unit) for unit in units]


@given(TEXTS)
def test_line_ends_that_count_as_one_character_are_those_of_a_text_without_returns(text: str) -> None:
    places = {
        len(text[:index].replace("\r\n", "\n")): index
        for index in range(len(text) + 1)
        if text[index - 1 : index + 1] != "\r\n"
    }
    convert = crlf_as_one(text)
    if convert is None:
        assert list(places) == list(places.values())
    else:
        assert {place: convert(place) for place in places} == places


FORMATS = ("doccano", "jsonl", "labelstudio")


def read(format: str, text: str, start: int, end: int, notes: Counter[str]) -> AnnotatedText:
    region = {"type": "labels", "value": {"start": start, "end": end, "labels": ["NAME"]}}
    records: dict[str, dict[str, Any]] = {
        "doccano": {"text": text, "label": [[start, end, "NAME"]]},
        "jsonl": {"text": text, "annotations": [{"start": start, "end": end, "category": "NAME"}]},
        "labelstudio": {"data": {"text": text}, "annotations": [{"result": [region]}]},
    }
    data = json.dumps({"id": "n", **records[format]}).encode()
    return make_format(format).parse(Entry("n", "n.jsonl", {".json": data}), notes)


# By text: where its name stands, in the counting of another tool.
UNQUOTED = {
    "\U0001f600 Mr Smith here": (6, 11),
    "a\r\nb\r\nMr Smith here": (7, 12),
    "a\r\nMr Smith here": (5, 10),
    "\U0001f600\U0001f600 (Smith) here": (6, 11),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("text", "place"), UNQUOTED.items(), ids=map(repr, UNQUOTED))
def test_labels_without_text_in_another_counting_are_refused(text: str, place: tuple[int, int], format: str) -> None:
    with pytest.raises(AnnotationError, match="may have counted otherwise"):
        read(format, text, *place, Counter())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", UNQUOTED, ids=map(repr, UNQUOTED))
def test_labels_without_text_in_characters_are_read_and_counted(text: str, format: str) -> None:
    start, notes = text.index("Smith"), Counter[str]()
    (span,) = read(format, text, start, start + 5, notes).annotations
    assert text[span.start : span.end] == "Smith"
    assert sum(notes.values()) == 1


@pytest.mark.parametrize("text", ["Mr Smith here \U0001f600", "Mr Smith\r\n", "Smith, M\u00fcller"])
def test_labels_that_no_counting_moves_are_of_no_doubt(text: str) -> None:
    notes = Counter[str]()
    assert align(text, [Tag(1, 5, "NAME")], COUNTINGS, notes) is not None
    assert not notes


def test_a_label_that_quotes_its_text_says_how_all_are_counted() -> None:
    text, notes = "\U0001f600 Mr Smith, 46yo", Counter[str]()
    quoted, unquoted = Tag(5, 10, "NAME", "Smith"), Tag(12, 14, "AGE")
    assert align(text, [quoted, unquoted], COUNTINGS, notes) is not None
    assert not notes
    assert align(text, [Tag(13, 15, "AGE")], COUNTINGS, notes) is None
    assert "counted otherwise" in str(mismatch(text, [Tag(13, 15, "AGE")], "n"))


def test_a_rough_end_among_many_is_no_other_counting() -> None:
    """People mark parts of words, and a blank along with one."""
    text, notes = "\U0001f600 Mr Smith of Leeds, 46yo", Counter[str]()
    tags = [Tag(5, 10, "NAME"), Tag(14, 19, "CITY"), Tag(21, 23, "AGE")]
    assert [text[tag.start : tag.end] for tag in tags] == ["Smith", "Leeds", "46"]
    assert align(text, tags, COUNTINGS, notes) is not None
    assert sum(notes.values()) == 1


@pytest.mark.parametrize(("format", "key"), [("jsonl", "annotations"), ("doccano", "entities")])
def test_what_we_write_says_how_it_is_counted(format: str, key: str) -> None:
    """Spans within words of any text come back, since they quote it."""
    form = make_format(format)
    document = Document("n", "\U0001f600 is 46yo", (Annotation(5, 7, "AGE"),))
    data = form.render(document)[".jsonl"]
    (span,) = form.parse(Entry("n", "n.jsonl", {".json": data}), Counter()).annotations
    assert (span.start, span.end) == (5, 7)
    assert json.loads(data)[key][0]["text"] == "46"
    plain = json.loads(form.render(Document("n", "is 46yo", (Annotation(3, 5, "AGE"),)))[".jsonl"])
    assert plain.get("annotations", [{}])[0].keys() <= {"start", "end", "category"}
    assert plain.get("label", [[3, 5, "AGE"]]) == [[3, 5, "AGE"]]
