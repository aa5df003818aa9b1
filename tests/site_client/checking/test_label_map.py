"""The labels of notes, mapped where they are known; and what is said of those that are not."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from shared.errors import AnnotationError
from shared.labels import LabelScheme, load_mapping_file, load_scheme
from site_client.checking.label_map import FoundLabel, find_labels, label_map
from tests.loop import Loop, hospital, refused, values
from tests.tiny_notes import note, write_notes

SCHEME = load_scheme("i2b2_2014")
NOTES = [
    note("a", "Dr ", ("Quillfeather", "doctor"), " and ", ("Ana", "Unser Name"), ", ", ("Ana", "Unser Name")),
    note("b", ("Berlin", "TERRITORIO"), " ", ("3", "Location-Other"), " ", ("x", 'a"b')),
]


def test_what_is_known_is_mapped_and_the_rest_is_left_to_a_person(tmp_path: Path) -> None:
    found = find_labels(NOTES, SCHEME)
    known = {one.name: one.category for one in found}
    assert found[0] == FoundLabel("Unser Name", 2, None)
    assert known["doctor"] == "DOCTOR"
    assert known["Location-Other"] == "LOCATION-OTHER"
    assert known['a"b'] is None
    path = tmp_path / "map.toml"
    path.write_text(label_map(found, SCHEME), encoding="utf-8")
    assert '# "Unser Name" = ""  # 2 times' in path.read_text()
    assert load_mapping_file(path, SCHEME) == {
        name: category for name, category in known.items() if category is not None
    }
    # Completed by taking the marks away, it is a map of all.
    completed = path.read_text().replace('\n# "', '\n"')
    assert set(tomllib.loads(completed)["map"]) == set(known)


def test_every_label_of_every_bundled_scheme_is_known_where_there_is_a_mapping() -> None:
    meddocan = load_scheme("meddocan")
    found = find_labels([note("a", *((name, name) for name in meddocan.categories))], load_scheme("hipaa"))
    assert all(one.category is not None for one in found)
    ours = LabelScheme("ours", ("NAME",))
    assert [one.category for one in find_labels([note("a", ("x", "Name"), ("y", "FECHAS"))], ours)] == [None, "NAME"]


def test_notes_without_labels_have_nothing_to_map() -> None:
    with pytest.raises(AnnotationError, match="none in 1 notes"):
        find_labels([note("a", "Ana")], SCHEME)


def test_the_command_begins_a_file_and_replaces_none(built_loop: Loop, tmp_path: Path) -> None:
    path, out = write_notes(tmp_path / "in.jsonl", NOTES, "jsonl"), tmp_path / "map.toml"
    at = ("--workspace", built_loop.site("north"))
    told = values(hospital("labels", path, "--out", out, "--json", *at))
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert told["unknown"][0] == "Unser Name"
    assert "[map]" in out.read_text()
    refused(hospital("labels", path, "--out", out, *at), 2, "new file")


def test_all_unknown_labels_are_told_at_once(built_loop: Loop, tmp_path: Path) -> None:
    path = write_notes(tmp_path / "in.jsonl", NOTES, "jsonl")
    line = refused(
        hospital("encode", path, "--out", tmp_path / "a.h5", "--workspace", built_loop.site("north")),
        3,
        "'Unser Name' (2)",
        "'TERRITORIO' (1)",
        "--labels",
    )
    assert "Ana" not in line
    assert "Quillfeather" not in line


def test_labels_beyond_those_that_are_listed_are_not_said_to_be_withheld(built_loop: Loop, tmp_path: Path) -> None:
    many = [note("a", *((f"word{number}", f"LAB{number}") for number in range(25)), ("Ana", "Ana Ruiz"))]
    path = write_notes(tmp_path / "in.jsonl", many, "jsonl")
    refused(
        hospital("encode", path, "--out", tmp_path / "a.h5", "--workspace", built_loop.site("north")),
        3,
        ", 5 more, 1 that is not shown",
    )


def test_a_map_that_nothing_asks_for_is_refused(built_loop: Loop, tmp_path: Path) -> None:
    path, ours = write_notes(tmp_path / "in.jsonl", NOTES, "jsonl"), tmp_path / "map.toml"
    ours.write_text('[map]\n"Unser Name" = "PATIENT"\n')
    refused(hospital("labels", path, "--labels", ours, "--workspace", built_loop.site("north")), 2, "--labels", "check")
