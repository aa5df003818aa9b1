"""The files of docs/results: merged by measure, in the agreed form, and never without the truth about a target."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.results import Entry, entries, measure_parts, read, record
from shared.errors import ConfigurationError

ENTRY = Entry("speed of a|b", 3.5, 2.5, ">=", "times", (3.0, 4.0), 1, "generated notes", "make bench", "one thread")


def test_an_entry_has_the_keys_of_the_agreed_form_in_their_order(tmp_path: Path) -> None:
    record("loop", [ENTRY], tmp_path)
    (item,) = json.loads((tmp_path / "loop.json").read_text(encoding="utf-8"))
    commit = item.pop("commit")
    assert commit
    assert list(item) == [
        "measure",
        "value",
        "target",
        "direction",
        "unit",
        "interval",
        "seeds",
        "data",
        "command",
        "note",
    ]
    assert list(item.values()) == [
        "speed of a|b",
        3.5,
        2.5,
        ">=",
        "times",
        [3.0, 4.0],
        1,
        "generated notes",
        "make bench",
        "one thread",
    ]


def test_a_second_command_adds_and_measuring_again_replaces_in_place(tmp_path: Path) -> None:
    record("loop", [ENTRY, replace(ENTRY, measure="other", target=None, direction="", interval=None)], tmp_path)
    record("loop", [replace(ENTRY, measure="third", value=1.0), replace(ENTRY, value=2.0)], tmp_path)
    assert [(entry.measure, entry.value) for entry in read("loop", tmp_path)] == [
        ("speed of a|b", 2.0),
        ("other", 3.5),
        ("third", 1.0),
    ]
    assert read("loop", tmp_path)[1].interval is None


def test_a_command_that_measures_all_of_its_own_leaves_nothing_stale(tmp_path: Path) -> None:
    other = replace(ENTRY, measure="by another command", command="make other")
    record("loop", [ENTRY, other], tmp_path)
    record("loop", [replace(ENTRY, measure="today's")], tmp_path, whole=True)
    assert [entry.measure for entry in read("loop", tmp_path)] == ["by another command", "today's"]


@pytest.mark.parametrize(
    ("value", "direction", "reached"), [(2.5, ">=", True), (2.4, ">=", False), (2.5, "<=", True), (2.6, "<=", False)]
)
def test_a_target_is_reached_on_its_good_side_only(value: float, direction: str, reached: bool) -> None:
    assert replace(ENTRY, value=value, direction=direction).reached is reached


def test_the_commit_says_when_the_code_differs_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"rev-parse": "abc1234", "status": ""}
    monkeypatch.setattr(entries, "_git", lambda verb, *rest: answers[verb])
    assert entries.commit() == "abc1234"
    answers["status"] = " M shared/errors.py"
    assert entries.commit() == "abc1234+dirty"


def test_a_checkout_without_git_records_an_unknown_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert entries.commit() == "unknown"


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": float("nan")},
        {"interval": (0.0, float("inf"))},
        {"direction": ""},
        {"target": None},
        {"direction": "<"},
        {"measure": ""},
    ],
)
def test_an_entry_that_says_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        replace(ENTRY, **wrong)


def test_one_measure_twice_and_an_unknown_topic_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        record("loop", [ENTRY, ENTRY], tmp_path)
    with pytest.raises(ConfigurationError):
        record("lop", [ENTRY], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["{", '[{"measure": "x"}]', "[1]", '{"a": 1}'])
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "loop.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        record("loop", [ENTRY], tmp_path)
    assert path.read_text(encoding="utf-8") == content


def test_parts_are_recorded_but_those_that_are_quick(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[tuple[str, list[Entry]]] = []
    monkeypatch.setattr("bench.results.recording.record", lambda topic, entries: kept.append((topic, list(entries))))
    short, long = (replace(ENTRY, measure=name) for name in ("some", "all of it"))
    parts = {"whole": lambda: [long], "whole-quick": lambda: [short]}
    assert measure_parts("trust", "bench.some", parts, []) == 0
    assert kept == [("trust", [long])]
    assert measure_parts("trust", "bench.some", parts, ["whole-quick"]) == 0
    assert len(kept) == 1
    assert measure_parts("trust", "bench.some", parts, ["whole", "none"]) == 2
    assert len(kept) == 1
    assert "usage: python -m bench.some [whole|whole-quick]" in capsys.readouterr().err


def test_a_measurement_that_can_not_begin_ends_in_one_line_and_records_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.results.recording.record", lambda topic, entries: pytest.fail("recorded"))

    def part() -> Iterator[Entry]:
        yield ENTRY
        raise ConfigurationError("expected a corpus, found none")

    assert measure_parts("trust", "bench.some", {"part": part}, ["part"]) == 2
    assert capsys.readouterr().err == "error: expected a corpus, found none\n"
