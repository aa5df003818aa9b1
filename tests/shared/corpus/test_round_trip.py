"""The contract of every format: what is written reads back, and other people's parsers see the same."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.errors import StorageError
from shared.corpus import FORMAT_NAMES, read_corpus, write_corpus, write_document
from shared.corpus.formats.registry import make_format
from shared.document import Annotation, Document
from shared.errors import AnnotationError, ConfigurationError, FormatError
from tests.shared.corpus.samples import ANNOTATED, ENDINGS, FILE_OF_MANY, FILE_PER_NOTE, NOTES, documents, essence, note


def target(folder: Path, name: str) -> Path:
    return folder / "notes" if name in (*FILE_PER_NOTE, "txt") else folder / f"notes{ENDINGS.get(name, '.jsonl')}"


def test_the_contract_covers_every_format() -> None:
    assert set(ANNOTATED) | {"txt", "csv", "parquet", "fhir"} == set(FORMAT_NAMES)


@pytest.mark.parametrize("name", ANNOTATED)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_text_and_spans_come_back(name: str, data: st.DataObject) -> None:
    originals = [
        replace(data.draw(documents(edges_are_words=name == "conll")), identifier=f"note-{number}")
        for number in range(2)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = target(Path(folder), name)
        assert write_corpus(originals, path, name) == 2
        assert [essence(read) for read in read_corpus(path, format=name)] == [essence(made) for made in originals]


@settings(max_examples=25, deadline=None)
@given(document=documents(annotated=False))
def test_any_plain_text_comes_back(document: Document) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_document(document, Path(folder), "txt")
        assert [essence(read) for read in read_corpus(Path(folder))] == [essence(document)]


@pytest.mark.parametrize("name", ANNOTATED)
def test_formats_are_detected_and_read_twice(name: str, tmp_path: Path) -> None:
    path = target(tmp_path, name)
    write_corpus(NOTES, path, name)
    corpus = read_corpus(path)
    assert corpus.format == name
    assert make_format(name).title in corpus.detected
    for _ in range(2):
        assert [essence(read) for read in corpus] == [essence(made) for made in NOTES]
        assert (corpus.report.read, corpus.report.quarantined) == (4, 0)


@pytest.mark.parametrize("name", ANNOTATED)
def test_one_note_into_a_folder_or_a_named_file(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_document(NOTES[0], folder, name)
    assert [essence(read) for read in read_corpus(folder)] == [essence(NOTES[0])]
    ending = ".txt" if name == "brat" else ENDINGS.get(name, ".xml" if name in FILE_PER_NOTE else ".jsonl")
    write_document(NOTES[0], tmp_path / f"a-1{ending}", name)
    assert [essence(read) for read in read_corpus(tmp_path / f"a-1{ending}")] == [essence(NOTES[0])]


@pytest.mark.parametrize("name", ["jsonl", "doccano", "presidio", "labelstudio"])
def test_compressed_files_are_read_as_they_are(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"notes{ENDINGS.get(name, '.jsonl')}.gz"
    write_corpus(NOTES, path, name)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert [essence(read) for read in read_corpus(path)] == [essence(made) for made in NOTES]


@pytest.mark.parametrize("name", ["i2b2_2014", "meddocan", "brat", "jsonl"])
def test_ids_and_comments_of_spans_are_kept(name: str, tmp_path: Path) -> None:
    document = Document("a", "Dr Quillfeather", (Annotation(3, 15, "DOCTOR", "T7", 'so "they" say'),))
    path = target(tmp_path, name)
    write_corpus([document], path, name)
    assert list(read_corpus(path)) == [document]


@pytest.mark.parametrize("name", [*ANNOTATED, "txt"])
def test_a_line_of_five_megabytes(name: str, tmp_path: Path) -> None:
    # In CoNLL a line is a token.
    size = 250_000 if name == "conll" else 5_000_000
    text = "Quillfeather was here and 😀 left. " * (size // 34)
    spans = () if name == "txt" else (Annotation(0, 12, "PATIENT"), Annotation(len(text) - 6, len(text) - 2, "DATE"))
    document = Document("long", text, spans)
    path = target(tmp_path, name)
    write_corpus([document], path, name)
    assert [essence(read) for read in read_corpus(path)] == [essence(document)]


@settings(max_examples=25, deadline=None)
@given(document=documents())
def test_standard_parsers_see_our_xml_as_we_do(document: Document) -> None:
    root = ElementTree.fromstring(make_format("i2b2_2014").render(document)[".xml"])
    assert root.findtext("TEXT") == document.text
    tags = [(int(tag.get("start", "")), int(tag.get("end", "")), tag.get("TYPE")) for tag in root.find("TAGS") or ()]
    assert tags == essence(document)[2]
    assert all(
        tag.get("text") == document.text[int(tag.get("start", "")) : int(tag.get("end", ""))]
        for tag in root.iter()
        if tag.get("text")
    )
    inline = ElementTree.fromstring(make_format("i2b2_2006").render(document)[".xml"]).find("TEXT")
    assert inline is not None
    assert "".join(inline.itertext()) == document.text


@pytest.mark.parametrize(
    ("category", "element"),
    [
        ("PATIENT", "NAME"),
        ("ZIP", "LOCATION"),
        ("IDNUM", "ID"),
        ("FECHAS", "DATE"),
        ("SEXO_SUJETO_ASISTENCIA", "OTHER"),
        ("HOUSE", "OTHER"),
    ],
)
def test_the_element_follows_from_the_type(category: str, element: str) -> None:
    root = ElementTree.fromstring(make_format("i2b2_2014").render(note("a", ("Oxenthorpe", category)))[".xml"])
    assert [tag.tag for tag in root.find("TAGS") or ()] == [element]


def test_csv_is_read_with_its_ids_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerows([["id", "note"], ["7", 'a "quoted"\r\nline; \n😀'], ["8", ""]])
    read = list(read_corpus(path, text_column="note"))
    assert [essence(document) for document in read] == [("7", 'a "quoted"\r\nline; \n😀', []), ("8", "", [])]


def test_a_json_file_may_be_an_array_or_lines_in_any_layout(tmp_path: Path) -> None:
    records = [{"id": 1, "text": 'a "]} \\" b'}, {"id": 2, "text": "c"}]
    expected: list[object] = [("1", 'a "]} \\" b', []), ("2", "c", [])]
    layouts = {
        "array.json": json.dumps(records, indent=2),
        "array.jsonl": json.dumps(records),
        "lines.json": "\n".join(map(json.dumps, records)),
        "lines.jsonl": "\r\n\r\n".join(map(json.dumps, records)) + "\r\n",
        "pretty.json": "\n".join(json.dumps(record, indent=1) for record in records),
    }
    for name, content in layouts.items():
        for mark in ("", "\ufeff"):
            (tmp_path / name).write_text(mark + content, encoding="utf-8", newline="")
            assert [essence(read) for read in read_corpus(tmp_path / name)] == expected, name


@pytest.mark.parametrize("name", ["i2b2_2014", "i2b2_2006"])
def test_xml_refuses_what_it_cannot_hold(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"U\+000B.*"):
        write_corpus([Document("a", "x\x0by")], target(tmp_path, name), name)
    assert list(tmp_path.iterdir()) == []


def test_conll_refuses_spans_that_no_token_covers(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="characters 3-5"):
        write_document(Document("a", "abc  def", (Annotation(3, 5, "X"),)), tmp_path / "a.conll", "conll")


def test_plain_text_refuses_to_lose_annotations(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="a-1"):
        write_document(NOTES[0], tmp_path, "txt")


@pytest.mark.parametrize("identifier", ["../up", ".hidden", "", "a/b", "a\0b", "x" * 300])
def test_ids_that_are_no_file_names_are_refused(identifier: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        write_corpus([Document(identifier, "x")], tmp_path / "out", "brat")
    assert list(tmp_path.iterdir()) == []


def test_an_id_whose_letters_no_name_has_in_this_locale_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsencode", lambda name: name.encode("iso8859-15", "surrogateescape"))
    assert write_corpus([Document("García", "x")], tmp_path / "known", "brat") == 1
    with pytest.raises(FormatError, match=r"in this locale; set LC_ALL=C\.UTF-8"):
        write_corpus([Document("東京", "x")], tmp_path / "unknown", "brat")
    assert [path.name for path in tmp_path.iterdir()] == ["known"]


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize("name", ["jsonl", "txt", "conll"])
def test_text_that_no_file_should_hold_is_refused(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="character 1"):
        write_corpus([Document("a", text)], target(tmp_path, name), name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ANNOTATED)
def test_two_documents_of_one_id_are_not_written_over_each_other(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="second time"):
        write_corpus([NOTES[0], NOTES[0]], target(tmp_path, name), name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ANNOTATED)
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        write_corpus(NOTES, target(tmp_path, name), name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FILE_OF_MANY)
def test_an_error_in_the_middle_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    path = target(tmp_path, name)
    write_corpus(NOTES, path, name)
    before = path.read_bytes()
    with pytest.raises(FormatError):
        write_corpus([NOTES[0], Document("bad", "\0")], path, name)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_csv_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="csv"):
        write_document(NOTES[1], tmp_path / "a.csv", "csv")
