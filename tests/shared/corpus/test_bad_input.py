"""What comes in wrong gives its one clear line, with document and place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foundation.errors import StorageError
from shared.corpus import read_corpus, write_corpus
from shared.errors import ConfigurationError, CorpusError, FormatError, LabelError
from tests.shared.corpus.bad_files import CASES, i2b2
from tests.shared.corpus.samples import ANNOTATED, FILE_OF_MANY, NOTES, essence
from tests.shared.corpus.test_round_trip import target


@pytest.mark.parametrize("case", CASES)
def test_one_clear_line(case: str, tmp_path: Path) -> None:
    name, content, error, words = CASES[case]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(error) as caught:
        list(read_corpus(tmp_path / name))
    line = str(caught.value)
    assert words in line
    assert "\n" not in line
    assert ": expected" in line
    assert "x" in line.split(":", maxsplit=1)[0]


def test_xml_that_declares_what_its_tags_say_is_refused(tmp_path: Path) -> None:
    declared = '<!DOCTYPE deIdi2b2 [<!ATTLIST NAME start CDATA "0">]>'
    (tmp_path / "x.xml").write_text(i2b2("I am Ana", (5, 8, "Ana")).replace("<deIdi2b2>", f"{declared}<deIdi2b2>"))
    with pytest.raises(FormatError, match="without declared entities"):
        list(read_corpus(tmp_path / "x.xml"))


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("T1\tA 1 4\tAna\n", "characters 1-4"),
        ("T1\tA 5 8 Ana\n", "line 1"),
        ("T1\tA 5;8\tAna\n", "line 1"),
        ("nonsense\n", "line 1"),
        ("T1\tA 5 8\tAna\nT1\tA 0 1\tI\n", "line 2"),
        ("T1\tA 0 1;5 8\tI Ana\n", "pieces"),
        ("T1\tA 5 7;9 10\tAn B\n", "pieces"),
        ("T1\tA 5 8\tAna\nT2\tB 7 10\ta B\n", "overlap"),
    ],
)
def test_bad_brat_lines(annotation: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("I am Ana B")
    (tmp_path / "x.ann").write_text(annotation)
    with pytest.raises(CorpusError, match=rf"^x, x\.txt.*{words}"):
        list(read_corpus(tmp_path))


@pytest.mark.parametrize("missing", [".txt", ".ann"])
def test_half_of_a_brat_note_is_refused(missing: str, tmp_path: Path) -> None:
    write_corpus(NOTES, tmp_path / "notes", "brat")
    (tmp_path / "notes" / f"a-1{missing}").unlink()
    with pytest.raises(FormatError, match=rf"a-1.*expected a {missing} file"):
        list(read_corpus(tmp_path / "notes"))


@pytest.mark.parametrize("name", ANNOTATED)
def test_an_unknown_label_is_named(name: str, tmp_path: Path) -> None:
    path = target(tmp_path, name)
    write_corpus(NOTES, path, name)
    assert len(list(read_corpus(path, categories=frozenset({"DOCTOR", "DATE", "PATIENT"})))) == 4
    with pytest.raises(LabelError, match=r"a-1.*characters 34-44.*'DATE'") as caught:
        list(read_corpus(path, categories=frozenset({"DOCTOR", "PATIENT"})))
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("name", FILE_OF_MANY)
def test_an_id_that_comes_twice_is_refused(name: str, tmp_path: Path) -> None:
    first, second = (target(tmp_path, name).with_stem(stem) for stem in ("one", "two"))
    write_corpus(NOTES, first, name)
    write_corpus([NOTES[2]], second, name)
    with pytest.raises(FormatError, match=r"^a-3, two.*second time"):
        list(read_corpus(tmp_path))


def empty_folder(path: Path) -> Path:
    return path


def hidden_only(path: Path) -> Path:
    (path / ".DS_Store").write_text("x")
    return path


def two_kinds(path: Path) -> Path:
    (path / "a.xml").write_text(i2b2("a"))
    (path / "b.txt").write_text("b")
    return path


def notes_and_folders(path: Path) -> Path:
    (path / "inner").mkdir()
    (path / "a.txt").write_text("a")
    return path


def too_deep(path: Path) -> Path:
    (path / "inner" / "innermost").mkdir(parents=True)
    return path


def broken_link(path: Path) -> Path:
    (path / "a.txt").symlink_to(path / "gone.txt")
    return path


@pytest.mark.parametrize("make", [empty_folder, hidden_only, two_kinds, notes_and_folders, too_deep, broken_link])
def test_folders_that_are_no_corpus(make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected"):
        read_corpus(make(tmp_path))


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        read_corpus(tmp_path / "gone")


def test_a_format_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="'docx'"):
        read_corpus(tmp_path, format="docx")


def test_an_empty_note_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    assert [essence(document) for document in read_corpus(tmp_path)] == [("a", "", [])]


def test_folders_one_below_and_hidden_files(tmp_path: Path) -> None:
    for folder in ("test", "train"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.txt").write_text("a")
        (tmp_path / folder / "._x").write_bytes(b"\xff")
    assert [document.identifier for document in read_corpus(tmp_path)] == ["test", "train"]


def test_a_named_format_passes_over_other_files_and_counts_them(tmp_path: Path) -> None:
    write_corpus(NOTES, tmp_path / "notes", "meddocan")
    (tmp_path / "notes" / "LICENSE").write_text("free")
    corpus = read_corpus(tmp_path / "notes", format="meddocan")
    assert len(list(corpus)) == 4
    assert sum(corpus.report.notes.values()) == 1
