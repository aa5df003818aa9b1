"""Pages of results: each is what its figures say today, its sentences hold no number of their own, and no figure is left out."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.results import RESULTS, TOPICS, Entry, record
from bench.results.__main__ import main
from bench.results.figure import figure
from bench.results.numbers import amount, asked, measured
from bench.results.page import figures, index, pages
from bench.results.tables import find_matrix, section
from bench.results.words import FOLDER, Words, words_of
from shared.errors import ConfigurationError

ENTRY = Entry("speed of a|b", 3.5, 2.5, ">=", "times", (3.0, 4.0), 1, "generated notes", "make bench", "one thread")
OTHER = replace(ENTRY, target=None, direction="", interval=None)
MEASURED = [topic for topic in TOPICS if (RESULTS / f"{topic}.md").exists() and topic != "friedrich2019"]
measured_topic = pytest.mark.parametrize("topic", MEASURED)


@measured_topic
def test_a_page_and_its_plot_are_what_the_figures_say(topic: str) -> None:
    for name, text in pages(topic, RESULTS).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, "python -m bench.results"


def test_the_list_of_pages_is_what_the_figures_say() -> None:
    for name, text in index(RESULTS).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, "python -m bench.results"


@measured_topic
def test_every_asked_figure_is_in_the_table_with_its_verdict(topic: str) -> None:
    page = (RESULTS / f"{topic}.md").read_text(encoding="utf-8")
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\\\)\|", row)[1:-1]]
        for row in page.splitlines()
        if row.startswith("|")
    ]
    told = {
        row[0].replace("\\|", "|"): row[-1].strip("*") for row in cells if row[-1].strip("*") in {"reached", "MISSED"}
    }
    path = RESULTS / f"{topic}.json"
    items = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    truth = {
        item["measure"]: "reached"
        if (item["value"] >= item["target"] if item["direction"] == ">=" else item["value"] <= item["target"])
        else "MISSED"
        for item in items
        if item["target"] is not None
    }
    assert told == truth


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_words_name_measures_that_there_are_and_hold_no_figure(path: Path) -> None:
    words = words_of(path.stem)
    entries = figures(path.stem, RESULTS)
    there = {entry.measure for entry in entries}
    assert set(words.names.values()) <= there
    assert len(words.sentences(entries)) == len(words.answer) >= 1
    assert set(words.rows) <= set(words.names)
    bare = " ".join(re.sub(r"\{[^}]*\}", "", sentence) for sentence in words.answer)
    assert not re.search(r"\d+[.,]\d|\d%", bare), "numbers are filled in"


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "unit", "told"),
        [
            (0.929, "of entities", "92.9% of entities"),
            (0.0084, "share", "0.84%"),
            (112400.0, "mutants", "112,400 mutants"),
            (0.23822429943, "p-value", "0.2382 p-value"),
            (0, "bytes", "0 bytes"),
            (12345.6, "s", "12,346 s"),
        ],
    )
    def test_read_well(self, value: float, unit: str, told: str) -> None:
        assert amount(value, unit) == told

    def test_come_with_their_interval_and_what_was_asked(self) -> None:
        assert measured(ENTRY) == "3.5 times (3 to 4)"
        assert asked(ENTRY) == "at least 2.5"
        assert asked(replace(ENTRY, direction="<=", unit="share", target=0.1)) == "at most 10%"
        with pytest.raises(ValueError, match="nothing was asked"):
            asked(OTHER)


class TestWords:
    def test_take_their_numbers_from_the_figures(self) -> None:
        words = Words(
            "title", ["It is {fast:bare} times as fast ({fast:asked}, {fast:verdict})."], {"fast": ENTRY.measure}
        )
        assert words.sentences([ENTRY]) == ["It is 3.5 times as fast (at least 2.5, reached)."]
        assert words.sentences([replace(ENTRY, value=1.0)]) == ["It is 1 times as fast (at least 2.5, MISSED)."]

    def test_leave_out_what_is_not_measured(self) -> None:
        assert Words("title", ["It is {fast}."], {"fast": "another"}).sentences([ENTRY]) == []

    def test_leave_a_cell_empty_whose_figure_is_not_there(self) -> None:
        words = Words("title", names={"fast": ENTRY.measure, "slow": "another"})
        assert words.cells(["paper", "2", "{fast:bare}", "{slow}"], [ENTRY]) == ["paper", "2", "3.5", ""]

    @pytest.mark.parametrize("place", ["{slow}", "{fast:loudly}"])
    def test_that_ask_for_nothing_are_refused(self, place: str) -> None:
        with pytest.raises(ConfigurationError):
            Words("title", [place], {"fast": ENTRY.measure}).sentences([ENTRY])


class TestPage:
    def test_names_what_is_missed_first_and_every_figure_once(self, tmp_path: Path) -> None:
        missed = replace(ENTRY, measure="slow part", value=1.0)
        record("taggers", [ENTRY, missed, replace(OTHER, measure="only <told>")], tmp_path)
        page = (tmp_path / "taggers.md").read_text(encoding="utf-8")
        assert "1 of 2 asked figures are reached; one missed, first in the table." in page
        rows = [line for line in page.splitlines() if line.startswith("| ")]
        assert [row.split(" | ")[0] for row in rows if "figure" not in row and "---" not in row] == [
            "| slow part",
            "| speed of a\\|b",
            "| only &lt;told>",
        ]
        assert page.count("<details") == page.count("</details>") == 2

    def test_of_one_topic_lists_all_again(self, tmp_path: Path) -> None:
        record("taggers", [ENTRY], tmp_path)
        record("show", [ENTRY], tmp_path)
        listed = (tmp_path / "README.md").read_text(encoding="utf-8")
        assert "(taggers.md)" in listed
        assert "(show.md)" in listed

    def test_that_there_is_not_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            main(["nothing"])
        assert "expected topics among loop" in capsys.readouterr().err


class TestMatrix:
    ENTRIES = tuple(
        replace(OTHER, measure=f"study, {kind}, {score}, small", value=row + column / 10, unit="F1")
        for row, kind in enumerate(("first", "second", "third", "fourth"))
        for column, score in enumerate(("precision", "recall"))
    )

    def test_holds_every_figure_in_its_row_and_column(self) -> None:
        matrix = find_matrix(self.ENTRIES)
        assert matrix is not None
        head, _, *rows = matrix.lines()
        assert head == "| study | precision | recall |"
        assert rows[2] == "| third, small | 2 | 2.1 |"
        assert sorted(matrix.members) == sorted(entry.measure for entry in self.ENTRIES)

    def test_leaves_what_does_not_fit_to_a_list(self) -> None:
        lines = section(
            "title", [*self.ENTRIES, replace(OTHER, measure="alone, precision"), replace(OTHER, measure="else")]
        )
        assert any(line.startswith("| else | 3.5 times |") for line in lines)
        assert any(line.startswith("| alone, precision | 3.5 times |") for line in lines)

    def test_is_not_made_of_little(self) -> None:
        assert find_matrix(self.ENTRIES[:4]) is None


class TestFigure:
    def test_is_the_same_every_time_and_says_in_words_what_it_shows(self) -> None:
        missed = replace(ENTRY, measure="slow", value=1.0)
        drawn = figure("Speeds & more", [("fast", ENTRY), ("slow", missed)])
        assert drawn == figure("Speeds & more", [("fast", ENTRY), ("slow", missed)])
        tree = ElementTree.fromstring(drawn)
        told = tree.findtext("{http://www.w3.org/2000/svg}desc")
        assert (
            told
            == "fast: 3.5 times (3 to 4), asked at least 2.5, reached. slow: 1 times (3 to 4), asked at least 2.5, missed"
        )
        classes = [one.get("class") for one in tree.iter() if one.get("class") in {"reached", "missed"}]
        assert classes == ["reached", "missed"]
        assert "prefers-color-scheme:dark" in drawn

    def test_draws_bars_as_long_as_values_and_none_outside(self) -> None:
        values = (-1.0, 0.25, 0.5, 1.5)
        rows = [(str(value), replace(OTHER, value=value, unit="share")) for value in values]
        tree = ElementTree.fromstring(figure("shares", rows))
        widths = [float(one.get("width", "nan")) for one in tree.iter() if one.get("class") == "plain"]
        assert widths[0] == 0
        assert widths[2] == pytest.approx(2 * widths[1], abs=0.1)
        assert (
            widths[3]
            == max(widths)
            == float(next(one for one in tree.iter() if one.get("class") == "track").get("width", ""))
        )


def test_words_are_in_their_form() -> None:
    for path in FOLDER.glob("*.toml"):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        assert set(content) <= {"title", "answer", "names", "plot", "commands", "more"}
        assert all({"title", "text", "head", "rows"} == set(part) for part in content.get("more", []))
        assert all(len(row) == len(part["head"]) for part in content.get("more", []) for row in part["rows"])
