"""Documents set aside: as they came, counted, with a line that says why, and the others are read."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foundation.errors import StorageError
from shared.corpus import read_corpus, write_corpus
from shared.corpus.parsing.format import suffix_of
from shared.errors import ConfigurationError
from tests.shared.corpus.bad_files import i2b2
from tests.shared.corpus.samples import NOTES, essence, note


def index(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "quarantine.jsonl").read_text().splitlines()]


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.xml").write_text(i2b2("I am Ana", (4, 7, "Ana")))
    (folder / "b.xml").write_text(i2b2("I am Ana", (5, 8, "Ana")))
    (folder / "c.xml").write_text("<deIdi2b2>")
    (folder / "d.xml").write_text(i2b2("I am Ana", (5, 8, "Ana")).replace("PATIENT", "HOUSE"))
    return folder


def test_bad_notes_are_copied_counted_and_explained(mixed: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    corpus = read_corpus(mixed, quarantine=aside, categories=frozenset({"PATIENT"}))
    for _ in range(2):  # A second pass counts again but sets nothing aside twice.
        assert [document.identifier for document in corpus] == ["b"]
        assert (corpus.report.read, corpus.report.quarantined) == (1, 3)
        assert corpus.report.reasons == {"AnnotationError": 1, "FormatError": 1, "LabelError": 1}
        assert "3 quarantined" in str(corpus.report)
    assert sorted(file.name for file in aside.iterdir()) == [
        "000001.xml",
        "000002.xml",
        "000003.xml",
        "quarantine.jsonl",
    ]
    lines = index(aside)
    for line in lines:
        [file] = line["files"]
        assert (aside / file).read_bytes() == (mixed / str(line["place"])).read_bytes()
    assert [(line["id"], line["kind"], line["place"]) for line in lines] == [
        ("a", "AnnotationError", "a.xml"),
        ("c", "FormatError", "c.xml"),
        ("d", "LabelError", "d.xml"),
    ]
    assert all("Ana" not in json.dumps(line) and line["reason"] for line in lines)


def test_a_later_run_adds_nothing_twice(mixed: Path, tmp_path: Path) -> None:
    for _ in range(2):
        list(read_corpus(mixed, quarantine=tmp_path / "aside"))
    assert len(index(tmp_path / "aside")) == 2


def test_what_was_corrected_in_the_quarantine_is_not_written_over(mixed: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    list(read_corpus(mixed, quarantine=aside))
    before = index(aside)
    (aside / "000001.xml").write_text("corrected")
    list(read_corpus(mixed, quarantine=aside))
    assert (aside / "000001.xml").read_text() == "corrected"
    assert index(aside) == before


def test_another_record_in_the_same_place_gets_its_own_number_and_line(tmp_path: Path) -> None:
    path, aside = tmp_path / "export.jsonl", tmp_path / "aside"
    months = [('{"id": "may", "text": "a\\u0000"}', "may"), ('{"id": "june", "text": 3}', "export-1")]
    for content, _ in (*months, months[0]):
        path.write_text(content)
        list(read_corpus(path, quarantine=aside))
    lines = index(aside)
    assert [line["id"] for line in lines] == [identifier for _, identifier in months]
    assert [line["files"] for line in lines] == [["000001.json"], ["000002.json"]]
    assert len({str(line["digest"]) for line in lines}) == 2
    assert len({str(line["reason"]) for line in lines}) == 2
    assert [(aside / line["files"][0]).read_text() for line in lines] == [content for content, _ in months]


def test_a_file_that_somebody_took_out_is_put_back(mixed: Path, tmp_path: Path) -> None:
    for _ in range(2):
        list(read_corpus(mixed, quarantine=tmp_path / "aside"))
        assert (tmp_path / "aside" / "000002.xml").read_text() == "<deIdi2b2>"
        (tmp_path / "aside" / "000002.xml").unlink()
    assert len(index(tmp_path / "aside")) == 2


def test_a_corpus_is_the_same_however_its_path_is_given(
    mixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (mixed, Path("notes"), Path("notes") / ".." / "notes"):
        list(read_corpus(path, quarantine=tmp_path / "aside"))
    assert [line["source"] for line in index(tmp_path / "aside")] == [str(mixed.resolve())] * 2


def test_records_of_one_file_are_set_aside_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    write_corpus(NOTES, path, "jsonl")
    good = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([good[0], b'{"id": "a-9", "text": "x"', good[1], good[0], b"\xff", good[2]]))
    corpus = read_corpus(path, quarantine=tmp_path / "aside")
    assert [document.identifier for document in corpus] == ["a-1", "a-2", "a-3"]
    assert corpus.report.reasons == {"FormatError": 3}
    assert [(line["id"], line["place"]) for line in index(tmp_path / "aside")] == [
        ("notes-2", "notes.jsonl, line 2"),
        ("a-1", "notes.jsonl, line 4"),
        ("notes-5", "notes.jsonl, line 5"),
    ]
    kept = [(tmp_path / "aside" / line["files"][0]).read_bytes() for line in index(tmp_path / "aside")]
    assert (kept[1], kept[2]) == (good[0], b"\xff")


def test_a_damaged_record_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    for name, ending, damage in (
        ("i2b2_2006", ".xml", (b"</TEXT>", b"")),
        ("labelstudio", ".json", (b'"result":', b'"result"')),
        ("conll", ".conll", (b"\tB-DOCTOR", b"")),
    ):
        path = tmp_path / f"{name}{ending}"
        write_corpus([note("b", ("Ana", "DOCTOR")), *NOTES[1:]], path, name)
        path.write_bytes(path.read_bytes().replace(*damage, 1))
        corpus = read_corpus(path, quarantine=tmp_path / "aside")
        assert [essence(document) for document in corpus] == [essence(made) for made in NOTES[1:]]
        assert corpus.report.quarantined == 1


def record(number: int) -> str:
    return f'{{"id": "{number}", "text": "note {number} of Ana"}}'


def parquet(notes: int) -> bytes:
    stream = io.BytesIO()
    texts = [f"note {number} of Ana" for number in range(notes)]
    pq.write_table(
        pa.table({"text": texts, "id": [str(number) for number in range(notes)]}), stream, row_group_size=300
    )
    return stream.getvalue()


def i2b2_records(*between: str) -> bytes:
    records = [f'<RECORD ID="{number}"><TEXT>note of Ana</TEXT></RECORD>{end}' for number, end in enumerate(between)]
    return f"<ROOT>{''.join(records)}</ROOT>".encode()


LINES = "".join(f"{record(number)}\n" for number in range(2000)).encode()
SPOILT_PARQUET = bytearray(parquet(700))
# Within the second group of rows: those of the first are whole.
SPOILT_PARQUET[SPOILT_PARQUET.index(b"note 300 of") - 40 : SPOILT_PARQUET.index(b"note 300 of")] = b"\xff" * 40
# By file: its bytes, and how many notes are read.
SPOILT = {
    "no comma.json": (f"[{record(0)}, {record(1)} {record(2)}, {record(3)}]".encode(), 2),
    "cut.json": (f'[{record(0)}, {{"id": "1", "te'.encode(), 1),
    "between.xml": (i2b2_records("", "", "oops", "", ""), 3),
    "cut.xml": (i2b2_records("", "", "")[:-20], 2),
    "no table.parquet": (b"PAR1 of Ana", 0),
    "damaged.parquet": (bytes(SPOILT_PARQUET), 256),
    "cut.jsonl.gz": (gzip.compress(LINES)[:-9], None),
    "no header.csv": (b"1,note of Ana\n2,another\n", 0),
}


@pytest.mark.parametrize(("name", "data", "read"), [(name, *spoilt) for name, spoilt in SPOILT.items()], ids=SPOILT)
def test_a_file_whose_rest_is_unreadable_is_set_aside_and_the_next_is_read(
    name: str, data: bytes, read: int | None, tmp_path: Path
) -> None:
    notes, aside = tmp_path / "notes", tmp_path / "aside"
    notes.mkdir()
    (notes / name).write_bytes(data)
    suffix = suffix_of(name)
    format = {".xml": "i2b2_2006", ".parquet": "parquet", ".csv": "csv"}.get(suffix, "jsonl")
    corpus = read_corpus(notes, format=format, quarantine=aside)
    found = len(list(corpus))
    assert found == read or (read is None and 0 < found <= 2000)
    [line] = index(aside)
    assert line["place"] == f"{name}, rest of file behind record {found}"
    assert (aside / line["files"][0]).read_bytes() == data
    assert line["files"] == [f"000001{suffix}"]
    assert "Ana" not in json.dumps(line)
    assert corpus.report.quarantined == 1
    told = f"rest of file behind record {found}, an unknown number of notes, set aside as one: 1"
    assert told in str(corpus.report)


def test_the_file_behind_one_that_breaks_off_is_read(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.json").write_text('[{"id": "1", "text": "x"}, {"id": "2", "te')
    (tmp_path / "notes" / "b.json").write_text('[{"id": "3", "text": "x"}]')
    corpus = read_corpus(tmp_path / "notes", quarantine=tmp_path / "aside")
    assert [document.identifier for document in corpus] == ["1", "3"]
    assert corpus.report.quarantined == 1


def test_the_quarantine_may_lie_inside_but_not_be_the_corpus(mixed: Path) -> None:
    assert len(list(read_corpus(mixed, quarantine=mixed / "aside"))) == 2
    assert len(list(read_corpus(mixed, quarantine=mixed / "aside"))) == 2
    with pytest.raises(ConfigurationError, match="quarantine"):
        read_corpus(mixed, quarantine=mixed)


def test_a_folder_that_holds_another_index_is_refused(mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "quarantine.jsonl").write_text("not ours")
    with pytest.raises(StorageError, match="index"):
        read_corpus(mixed, quarantine=tmp_path)


def test_an_index_that_names_files_elsewhere_is_refused(mixed: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    line = {"id": "a", "place": "a.xml", "source": str(mixed), "files": ["../a.xml"]}
    (aside / "quarantine.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(StorageError, match="index"):
        read_corpus(mixed, quarantine=aside)


def test_two_records_of_one_name_get_two_files(tmp_path: Path) -> None:
    bad = '"text": "x", "annotations": [{}]}\n'
    (tmp_path / "n.jsonl").write_text(f'{{"id": "a/b", {bad}{{"id": "a_b", {bad}{{"id": "c", "text": "x"}}')
    assert [read.identifier for read in read_corpus(tmp_path / "n.jsonl", quarantine=tmp_path / "aside")] == ["c"]
    assert [line["files"] for line in index(tmp_path / "aside")] == [["000001.json"], ["000002.json"]]


def test_no_name_of_a_file_tells_the_id_of_a_note(mixed: Path, tmp_path: Path) -> None:
    (mixed / "a.xml").rename(mixed / "mrn-4711.xml")
    list(read_corpus(mixed, quarantine=tmp_path / "aside"))
    assert not [path for path in (tmp_path / "aside").iterdir() if "4711" in path.name]
    assert "mrn-4711" in {line["id"] for line in index(tmp_path / "aside")}


def test_two_runs_into_one_folder_overwrite_nothing(mixed: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    other = tmp_path / "other"
    other.mkdir()
    (other / "z.xml").write_text(i2b2("I am Eva", (5, 9, "Eva")))
    one, two = read_corpus(mixed, quarantine=aside), read_corpus(other, quarantine=aside)
    for corpus in (one, two):
        list(corpus)
    files = [file for line in index(aside) for file in line["files"]]
    assert len(files) == len(set(files)) == 3
    assert (other / "z.xml").read_text() in {(aside / file).read_text() for file in files}


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("usual_umask")
def test_what_is_set_aside_is_its_owners_alone(mixed: Path, tmp_path: Path) -> None:
    aside = tmp_path / "deep" / "aside"
    list(read_corpus(mixed, quarantine=aside))
    assert {stat.S_IMODE(path.stat().st_mode) for path in aside.iterdir()} == {0o600}
    assert stat.S_IMODE(aside.stat().st_mode) == 0o700


@pytest.mark.usefixtures("usual_umask")
def test_a_quarantine_of_before_becomes_private(mixed: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    (aside / "a.xml").write_text("x")
    line = {"id": "a", "place": "a.xml", "source": str(mixed), "files": ["a.xml"]}
    (aside / "quarantine.jsonl").write_text(json.dumps(line) + "\n")
    list(read_corpus(mixed, quarantine=aside))
    assert (aside / "a.xml").read_text() == "x"
    [files] = [line["files"] for line in index(aside)[1:] if line["place"] == "a.xml"]
    assert (aside / files[0]).read_bytes() == (mixed / "a.xml").read_bytes()
    assert {stat.S_IMODE(path.stat().st_mode) for path in aside.iterdir()} == {0o600}
