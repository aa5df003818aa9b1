"""A note that nobody has labelled is not one that was labelled and holds nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.corpus import read_corpus, write_corpus
from shared.errors import AnnotationError, FormatError
from tests.shared.corpus.samples import ANNOTATED, ENDINGS, FILE_PER_NOTE, essence, note

TEXT = "Paciente Juan Ruiz"
REGION = {"type": "labels", "value": {"start": 9, "end": 18, "text": "Juan Ruiz", "labels": ["NAME"]}}


def task(*annotations: dict[str, object]) -> str:
    return json.dumps([{"id": "n", "data": {"text": TEXT}, "annotations": annotations}])


UNLABELLED = {
    "jsonl without annotations": ("n.jsonl", json.dumps({"id": "n", "text": TEXT})),
    "jsonl, null": ("n.jsonl", json.dumps({"id": "n", "text": TEXT, "annotations": None})),
    "label studio, no annotation": ("n.json", task()),
    "label studio, cancelled": ("n.json", task({"was_cancelled": True, "result": [REGION]})),
    "text": ("n.txt", TEXT),
    "table": ("n.csv", f"id,text\nn,{TEXT}\n"),
}
LABELLED = {
    "jsonl": ("n.jsonl", json.dumps({"id": "n", "text": TEXT, "annotations": []})),
    "label studio": ("n.json", task({"was_cancelled": True, "result": [REGION]}, {"result": []})),
    "doccano": ("n.jsonl", json.dumps({"id": "n", "text": TEXT, "label": []})),
    "conll": ("n.conll", "-DOCSTART-\tid=n\t_\tO\n" + "".join(f"{token}\t_\tO\n" for token in TEXT.split())),
}


@pytest.mark.parametrize("name", UNLABELLED)
def test_a_note_that_nobody_labelled_is_read_but_refused_where_labels_are_needed(name: str, tmp_path: Path) -> None:
    file, content = UNLABELLED[name]
    (tmp_path / file).write_text(content, encoding="utf-8")
    [document] = read_corpus(tmp_path / file)
    assert essence(document) == ("n", TEXT, [])
    assert not document.labelled
    with pytest.raises(AnnotationError, match=rf"^n.*{file}.*labels.*nobody") as raised:
        list(read_corpus(tmp_path / file, labelled=True))
    assert "Juan" not in str(raised.value)
    aside = tmp_path / "aside"
    corpus = read_corpus(tmp_path / file, labelled=True, quarantine=aside)
    assert list(corpus) == []
    assert corpus.report.reasons == {"AnnotationError": 1}
    assert TEXT in next(one for one in aside.iterdir() if one.stem == "000001").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LABELLED)
def test_a_note_that_was_labelled_and_holds_nothing_is_taken(name: str, tmp_path: Path) -> None:
    file, content = LABELLED[name]
    (tmp_path / file).write_text(content, encoding="utf-8")
    [document] = read_corpus(tmp_path / file, labelled=True)
    assert essence(document) == ("n", TEXT, [])
    assert document.labelled


@pytest.mark.parametrize("name", ANNOTATED)
def test_what_is_written_is_labelled(name: str, tmp_path: Path) -> None:
    path = tmp_path / "notes" if name in FILE_PER_NOTE else tmp_path / f"notes{ENDINGS.get(name, '.jsonl')}"
    write_corpus([note("a", "Nothing here."), note("b", ("Ana", "PATIENT"), " came.")], path, name)
    assert [len(document.annotations) for document in read_corpus(path, labelled=True)] == [0, 1]


OURS, THEIRS = [{"start": 9, "end": 18, "category": "NAME"}], [[9, 18, "NAME"]]
RESULT = [{"result": [REGION]}]
# What one tool calls none and another has: format that the record is said to be of, its key, and the record beside its text.
TWO_LISTS = [
    (form, record)
    for form, records in {
        "auto": [
            {"label": THEIRS, "annotations": []},
            {"spans": THEIRS, "annotations": []},
            {"entities": {"0": THEIRS}, "annotations": []},
            {"completions": RESULT, "annotations": []},
            {"label": [], "spans": THEIRS},
            {"label": [], "completions": RESULT},
        ],
        "doccano": [{"labels": [], "annotations": OURS}, {"label": THEIRS, "annotations": []}],
        "jsonl": [{"labels": THEIRS, "annotations": []}, {"result": RESULT, "annotations": OURS}],
        "labelstudio": [
            {"annotations": [{"result": []}], "label": THEIRS},
            {"annotations": [], "completions": RESULT},
            {"annotations": [{"result": []}], "completions": RESULT},
        ],
        "presidio": [{"spans": [], "annotations": OURS}, {"spans": [], "label": THEIRS}],
    }.items()
    for record in records
]


@pytest.mark.parametrize(("form", "record"), TWO_LISTS)
def test_a_note_with_the_spans_of_two_tools_is_refused(form: str, record: dict[str, object], tmp_path: Path) -> None:
    held: dict[str, dict[str, object]] = {"labelstudio": {"data": {"text": TEXT}}, "presidio": {"full_text": TEXT}}
    text = held.get(form, {"text": TEXT})
    (tmp_path / "n.jsonl").write_text(json.dumps({"id": "n", **text, **record}))
    with pytest.raises(FormatError, match=r"^n.*expected spans under '[a-z]+' alone, got '[a-z]+' beside") as raised:
        list(read_corpus(tmp_path / "n.jsonl", format=form))
    assert "Juan" not in str(raised.value)


@pytest.mark.parametrize(
    ("record", "spans"),
    [
        ({"text": TEXT, "annotations": OURS, "labels": []}, 1),
        ({"text": TEXT, "annotations": OURS, "label": [], "tags": None, "labels": "letter"}, 1),
        ({"text": TEXT, "annotations": None, "label": THEIRS}, 1),
        ({"data": {"text": TEXT}, "annotations": RESULT, "predictions": [{"result": []}]}, 1),
        ({"full_text": TEXT, "spans": [], "tags": ["O", "O", "O"]}, 0),
    ],
)
def test_what_is_no_second_list_of_spans_may_stand_beside_one(
    record: dict[str, object], spans: int, tmp_path: Path
) -> None:
    (tmp_path / "n.jsonl").write_text(json.dumps({"id": "n", **record}))
    [document] = read_corpus(tmp_path / "n.jsonl", labelled=True)
    assert len(document.annotations) == spans


@pytest.mark.parametrize("value", [{}, "", 0, False])
def test_what_is_no_list_says_nothing(value: object, tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text(json.dumps({"id": "n", "text": TEXT, "annotations": value}))
    with pytest.raises(FormatError, match="list of spans"):
        list(read_corpus(tmp_path))
