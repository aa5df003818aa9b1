"""Schemes, mappings, and tags that give their spans back."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.errors import AnnotationError, ConfigurationError, LabelError, ModelError
from shared.labels import (
    HIDDEN,
    HIDDEN_TAG,
    MAX_CATEGORIES,
    LabelScheme,
    categories_of_any_form,
    decode_tags,
    encode_tags,
    load_mapping,
    load_mapping_file,
    load_scheme,
    load_scheme_file,
    map_document,
    repair_tags,
    scheme_names,
    tag_categories,
    tag_spans,
    without_hidden,
)
from shared.text.tokens import tokenise

SCHEME = LabelScheme("test", ("NAME", "DATE"))


@st.composite
def labelled(draw: st.DrawFn) -> Document:
    """A document whose spans begin and end at tokens, in any number and order."""
    text = draw(st.text(alphabet="aB1. \n,é\u0301", max_size=60))
    edges = tokenise(text).spans.tolist()
    annotations: list[Annotation] = []
    index = 0
    while index < len(edges):
        length = draw(st.integers(0, 3))
        if length:
            last = min(index + length, len(edges)) - 1
            annotations.append(Annotation(edges[index][0], edges[last][1], draw(st.sampled_from(SCHEME.categories))))
        index += max(length, 1)
    return Document("d", text, tuple(draw(st.permutations(annotations))))


@given(labelled())
def test_tags_give_back_the_spans_also_across_sentence_ends(document: Document) -> None:
    tokens = tokenise(document.text)
    assert decode_tags(encode_tags(tokens.spans, document, SCHEME), tokens.spans, SCHEME) == document.annotations


@given(labelled(), st.data())
def test_a_span_that_cuts_a_token_hides_the_whole_token(document: Document, data: st.DataObject) -> None:
    if not document.text:
        return
    start = data.draw(st.integers(0, len(document.text) - 1))
    end = data.draw(st.integers(start + 1, len(document.text)))
    tokens = tokenise(document.text)
    tags = encode_tags(tokens.spans, Document("d", document.text, (Annotation(start, end, "NAME"),)), SCHEME)
    for (first, last), tag in zip(tokens.spans.tolist(), tags.tolist(), strict=True):
        assert (tag > 0) == (first < end and start < last)


@given(st.text(alphabet="aB1. ", max_size=20), st.data())
def test_a_token_that_several_spans_touch_has_the_tag_of_the_first(text: str, data: st.DataObject) -> None:
    """Token by token, against spans that begin and end anywhere."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = [
        Annotation(start, end, data.draw(st.sampled_from(SCHEME.categories)))
        for start, end in itertools.pairwise(cuts)
        if data.draw(st.booleans())
    ]
    edges = tokenise(text).spans
    expected: list[int] = []
    seen: list[Annotation] = []
    for first, last in edges.tolist():
        touching = [span for span in spans if span.start < last and first < span.end]
        inside = bool(touching) and touching[0] in seen
        expected.append(1 + 2 * SCHEME.categories.index(touching[0].category) + inside if touching else 0)
        seen += touching[:1]
    assert encode_tags(edges, Document("d", text, tuple(spans)), SCHEME).tolist() == expected


@given(st.lists(st.integers(0, 4)))
def test_repair_makes_legal_tags_and_loses_no_phi(raw: list[int]) -> None:
    tags = np.array(raw, dtype=np.uint8)
    repaired = repair_tags(tags)
    names = [SCHEME.tags[tag] for tag in repaired]
    for before, after in zip(["O", *names], names, strict=False):
        assert after[0] != "I" or before[2:] == after[2:]
    assert ((tags > 0) == (repaired > 0)).all()
    assert ((tags + 1) // 2 == (repaired + 1) // 2).all()


@given(st.lists(st.sampled_from([*range(5), HIDDEN_TAG])))
def test_spans_of_tags_are_those_of_their_names(raw: list[int]) -> None:
    names = [("?", "HIDDEN") if tag == HIDDEN_TAG else (SCHEME.tags[tag][0], SCHEME.tags[tag][2:]) for tag in raw]
    expected: list[tuple[int, int, str]] = []
    for place, (prefix, category) in enumerate(names):
        goes_on = prefix == "I" and expected and expected[-1][1:] == (place, category)
        if goes_on:
            expected[-1] = (expected[-1][0], place + 1, category)
        elif prefix != "O":
            expected.append((place, place + 1, category))
    tags = np.array(raw, dtype=np.uint8)
    categories = dict(enumerate(SCHEME.categories)) | {MAX_CATEGORIES: "HIDDEN"}
    assert [(begin, end, categories[kind]) for begin, end, kind in tag_spans(tags)] == expected
    found = ["" if kind < 0 else categories[kind] for kind in tag_categories(tags).tolist()]
    assert found == [category for _, category in names]


def test_two_spans_in_one_token_are_both_hidden() -> None:
    document = Document("d", "JohnSmith came", (Annotation(0, 4, "NAME"), Annotation(4, 9, "NAME")))
    tokens = tokenise(document.text)
    assert encode_tags(tokens.spans, document, SCHEME).tolist() == [1, 0]


@pytest.mark.parametrize("name", scheme_names())
def test_bundled_mappings_are_complete_and_stay_in_their_target(name: str) -> None:
    source = load_scheme(name)
    targets = {
        "i2b2_2006": ["hipaa", "i2b2_2014"],
        "i2b2_2014": ["hipaa", "i2b2_2006"],
        "meddocan": ["hipaa", "i2b2_2014"],
        "hipaa": [],
    }
    for target in targets[name]:
        mapping = load_mapping(name, target)
        assert set(mapping) == set(source.categories)
        assert set(mapping.values()) <= {*load_scheme(target).categories, ""}


@pytest.mark.parametrize("name", scheme_names())
def test_no_spelling_of_a_category_lets_the_form_of_its_spans_show(name: str) -> None:
    """A release states its own scheme: other capitals, or a name of its own, must not show how long an address is."""
    scheme = load_scheme(name)
    asked = categories_of_any_form(scheme)
    assert asked
    for spell in (str.title, str.lower, lambda category: category.replace("_", "-").replace("-", " ")):
        assert categories_of_any_form(LabelScheme(name, tuple(map(spell, scheme.categories)))) == asked
    invented = LabelScheme(name, ("Street", "Hospital-X", "PATIENT"))
    assert {0, 1} <= categories_of_any_form(invented)


def test_hipaa_has_eighteen_categories() -> None:
    assert len(load_scheme("hipaa").categories) == 18


def test_an_unknown_label_is_refused_and_its_text_not_told() -> None:
    document = Document("note-7", "Ana came", (Annotation(0, 3, "NICKNAME"),))
    with pytest.raises(LabelError, match=r"note-7.*characters 0-3.*NICKNAME") as raised:
        encode_tags(tokenise(document.text).spans, document, SCHEME)
    assert "Ana" not in str(raised.value)
    with pytest.raises(LabelError):
        map_document(document, {"NAME": "NAME"})


def test_what_the_scheme_has_no_category_for_gets_a_tag_of_no_scheme() -> None:
    largest = LabelScheme("largest", tuple(f"C{number}" for number in range(MAX_CATEGORIES)))
    assert len(largest.tags) == HIDDEN_TAG
    document = Document("d", "Ana Ruiz saw Eva Mora", (Annotation(0, 8, HIDDEN), Annotation(13, 21, "C126")))
    tags = encode_tags(tokenise(document.text).spans, document, largest)
    assert tags.tolist() == [HIDDEN_TAG, HIDDEN_TAG, 0, 253, 254]
    assert without_hidden(tags).tolist() == [0, 0, 0, 253, 254]


def test_a_hospitals_own_labels_map_through_its_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.toml"
    path.write_text('[map]\nNICKNAME = "NAME"\nMOOD = ""\n', encoding="utf-8")
    document = Document("d", "Ana came sad", (Annotation(0, 3, "NICKNAME"), Annotation(9, 12, "MOOD")))
    assert map_document(document, load_mapping_file(path, SCHEME)).annotations == (Annotation(0, 3, "NAME"),)
    assert map_document(document, load_mapping_file(path, SCHEME), to_share=True).annotations == (
        Annotation(0, 3, "NAME"),
        Annotation(9, 12, HIDDEN),
    )
    path.write_text('[map]\nNICKNAME = "ALIAS"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="ALIAS"):
        load_mapping_file(path, SCHEME)


@pytest.mark.parametrize("spans", [[(0, 0)], [(2, 1)], [(0, 9)], [(-1, 2)], [(0, 2), (1, 3)]])
def test_a_document_refuses_spans_that_do_not_fit(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(AnnotationError, match="note-1"):
        Document("note-1", "abcd", tuple(Annotation(start, end, "NAME") for start, end in spans))


def test_reprs_hold_no_text() -> None:
    document = Document("d", "Ana came", (Annotation(0, 3, "NAME", comment="Ana herself"),))
    assert "Ana" not in repr(document) + repr(document.annotations) + repr(tokenise(document.text))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"name": "x", "categories": []}', '{"name": "x", "categories": ["A", "A"]}', "null"]
)
def test_a_scheme_that_is_none_is_a_model_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "scheme.json").write_text(text)
    with pytest.raises(ModelError, match="label scheme"):
        load_scheme_file(tmp_path)


@pytest.mark.parametrize("name", ["NAME\n\nthe release keeps the policy", "NA\x1b[2JME", "NA\u202eME", "N" * 101, ""])
def test_attack_the_name_of_a_category_writes_lines_on_the_screen_of_who_approves_a_share(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "scheme.json").write_text(json.dumps({"name": "x", "categories": ["DATE", name]}))
    with pytest.raises(ModelError, match="label scheme"):
        load_scheme_file(tmp_path)
