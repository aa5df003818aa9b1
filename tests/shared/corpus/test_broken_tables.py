"""Tables of which nobody can say any more where a row begins: what is left of them is no row, and none of it gets into a column."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from shared.corpus import read_corpus, rewrite_corpus
from shared.corpus.parts import Part
from shared.errors import FormatError

HEAD = 'id,text\n1,"fine note"\n'

# what follows HEAD, and at which line the rest begins.
BROKEN = {
    "a quote that is not doubled": (
        '2,"He said "hello" and\nAna Lopez 12.3.1950, seen today\n"\n3,"Bob came"\n',
        3,
    ),
    "a quote that never closes": ('2,"Ana\n3,Lopez\n4,Bob came\n', 3),
    "a quote that swallows a row": ('2,b\n\n3,"6\'2""\n4,"Ana, Lopez"\n5,c\n', 5),
    "a line end outside quotes": ("2,She came\nwith her mother\nLopez, 12.3.1950\n3,x\n", 4),
    "a delimiter outside quotes": ("2,Ana, today\nLopez, 12.3.1950\n", 3),
    "line ends outside quotes in lines that pass for rows": ("2,She came\nAna Lopez, seen 1950\n3,x\n", 4),
    "a word that passes for an id": ("2,She came\nLopez, seen 1950\n3,x\n", 4),
    "a date that passes for an id": ("2,She came\n12/03/2020, Lopez\n3,x\n", 4),
    "a date in other marks": ("2,She came\n12-03-2020, Lopez\n3,x\n", 4),
    "a telephone number that passes for an id": ("2,She came\n(020)447-1009, of Lopez\n3,x\n", 4),
    "a number of a record that passes for an id": ("2,She came\nMRN4471009, Lopez\n3,x\n", 4),
    "a carriage return outside quotes": ("2,She\rLopez,x\n3,x\n", 3),
}


def broken(path: Path, rest: str) -> Path:
    path.write_bytes((HEAD + rest).encode())
    return path


@pytest.mark.parametrize(("rest", "line"), BROKEN.values(), ids=BROKEN)
def test_the_rest_of_a_broken_table_is_set_aside_as_it_came(rest: str, line: int, tmp_path: Path) -> None:
    path = broken(tmp_path / "in.csv", rest)
    corpus = read_corpus(path, quarantine=tmp_path / "aside")
    found = list(corpus)
    rewrite_corpus((replace(one, text="[X]") for one in found), corpus.reader, tmp_path / "out")
    assert "Lopez" not in (tmp_path / "out" / "in.csv").read_text()
    assert [one.identifier for one in found] == ["1", "2"][: len(found)]
    whole = path.read_bytes().splitlines(keepends=True)
    [aside] = map(json.loads, (tmp_path / "aside" / "quarantine.jsonl").read_text().splitlines())
    assert (tmp_path / "aside" / aside["files"][0]).read_bytes() == b"".join(whole[line - 1 :])
    assert aside["place"] == f"in.csv, rest of file from line {line}"
    assert "Lopez" not in json.dumps(aside)
    assert corpus.report.quarantined == 1
    assert f"rest of file from line {line}, an unknown number of notes, set aside as one: 1" in str(corpus.report)
    assert corpus.count() == corpus.seen == len(found) + 1


@pytest.mark.parametrize(("rest", "line"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_without_a_quarantine_is_refused(rest: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=rf"rest of file from line {line}: expected") as caught:
        list(read_corpus(broken(tmp_path / "in.csv", rest)))
    assert "Lopez" not in str(caught.value)


OTHER_NAMES = [
    "note_id,text",
    "NoteID,text",
    "ROW_ID,text",
    "patient-id,text",
    "docid,text",
    "mrn,text",
    "Fallnummer,text",
]


@pytest.mark.parametrize("header", OTHER_NAMES)
@pytest.mark.parametrize("more", ["", "Bob came\n", "19,third\n20,fourth\n"])
def test_ids_under_another_name_show_what_is_no_row(header: str, more: str, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(f'{header}\n17,"fine"\n18,first line\nLopez, Ana lives in Leeds\n{more}')
    corpus = read_corpus(path, quarantine=tmp_path / "aside")
    rewrite_corpus((replace(one, text="[X]") for one in corpus), corpus.reader, tmp_path / "out")
    written = (tmp_path / "out" / "in.csv").read_text()
    assert "Lopez" not in written
    assert "\n18,[X]" in written
    assert "rest of file from line 4, an unknown number of notes, set aside as one: 1" in str(corpus.report)


@pytest.mark.parametrize(
    "rows",
    ["17,first line\nLopez, Ana\nBob came\n", "17,first line\nLopez, Ana\n18,b\n19,c\n"],
    ids=["which soon breaks", "of codes"],
)
def test_codes_in_the_first_column_show_what_is_no_row_from_the_second_on(rows: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(f"mrn,text\n{rows}")
    corpus = read_corpus(tmp_path / "in.csv", quarantine=tmp_path / "aside")
    assert [one.record[2][0] for one in corpus] == ["17"]


def test_the_ids_are_looked_at_though_the_text_comes_first(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("text,note_id\nfine,17\nfirst line\nof Lopez, Ana\nx,18\n")
    with pytest.raises(FormatError, match="line 3"):
        list(read_corpus(tmp_path / "in.csv"))
    (tmp_path / "in.csv").write_text("text,note_id\nfine,17\nof Lopez, Ana\nx,18\n")
    with pytest.raises(FormatError, match=r"line 3.*'note_id'"):
        list(read_corpus(tmp_path / "in.csv"))


def test_a_date_among_codes_shows_what_is_no_row(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("mrn,text\n17,first line\n12/03/2020, by Lopez\n18,b\n19,c\n")
    corpus = read_corpus(tmp_path / "in.csv", quarantine=tmp_path / "aside")
    assert [one.record[2][0] for one in corpus] == ["17"]


WARDS = ["Cardiology", "General surgery", "Ward 3", "", "ICU"]


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("department", WARDS),
        ("department", ["3", "West wing"]),
        ("department", [*["3b", "4a", "3b"] * 9, "West wing"]),
        ("department", [*WARDS, "3", "4"]),
        ("seen", ["2024-03-05 10:00", "unknown", "March"]),
        ("covid", ["not tested", "positive", "positive"]),
        ("remark", ["see note 3", "", "to be read by 2", "none"]),
        ("id", ["Lopez Ana", "Bob", "7"]),
        ("note_id", ["n-2/b", "", "n-1", "x3"]),
        ("mrn", ["", "A18", "", "17"]),
    ],
)
def test_honest_tables_without_a_column_of_ids_are_read(header: str, cells: list[str], tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(f"{header},text\n" + "".join(f"{cell},Ana came\n" for cell in cells))
    assert len(list(read_corpus(tmp_path / "in.csv"))) == len(cells)


def test_a_column_called_id_is_the_only_one_that_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("mrn,note_id,id,text\n17,5,a,x\n18,6,b,x\nnone here,not known,c,x\n")
    assert len(list(read_corpus(tmp_path / "in.csv"))) == 3


def test_columns_that_are_not_read_may_share_a_name(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text,,\na,x,1,\nb,y,,2\n")
    assert [one.text for one in read_corpus(tmp_path / "in.csv")] == ["x", "y"]


def test_every_part_counts_the_rest_of_a_table_once(tmp_path: Path) -> None:
    path = broken(tmp_path / "in.csv", BROKEN["a quote that is not doubled"][0])
    read, aside = [], []
    for number in (1, 2, 3):
        corpus = read_corpus(path, quarantine=tmp_path / f"aside-{number}", part=Part(number, 3))
        read += [one.identifier for one in corpus]
        aside += corpus.set_aside
        assert corpus.seen == 2
    assert (read, aside) == (["1"], [1])


def test_a_broken_table_takes_no_other_file_with_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    broken(tmp_path / "in" / "a.csv", BROKEN["a quote that never closes"][0])
    whole = gzip.compress((HEAD + BROKEN["a quote that never closes"][0]).replace("1,", "7,").encode())
    (tmp_path / "in" / "b.csv.gz").write_bytes(whole)
    (tmp_path / "in" / "c.csv").write_text("id,text\n9,x\n")
    corpus = read_corpus(tmp_path / "in", quarantine=tmp_path / "aside")
    assert [one.identifier for one in corpus] == ["1", "7", "9"]
    assert corpus.report.quarantined == 2
    kept = {(tmp_path / "aside" / name).read_bytes() for name in ("000001.csv", "000002.csv")}
    assert kept == {BROKEN["a quote that never closes"][0].encode()}


@pytest.mark.parametrize(
    "ids",
    [
        ["Ward 3, 1", "4", "Ward 5"],
        ["n-2/b", "n-1", "x3"],
        ["alpha", "beta", "g4"],
        ["", "n-1", "n-2"],
        ["Lopez Ana", "Bob", "7"],
        ["4f2", "9911", "0a"],
    ],
)
def test_ids_of_any_kind_are_ids(ids: list[str], tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text\n" + "".join(f'"{one}",x\n' for one in ids))
    assert [one.identifier for one in read_corpus(tmp_path / "in.csv")] == [one or "in-1" for one in ids]


def test_a_table_whose_text_is_its_id_column_is_read(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("ward,text\n3,Ana came\nWest wing,Bob came today\n")
    assert len(list(read_corpus(tmp_path / "in.csv"))) == 2
