"""The experiments of Friedrich et al. 2019: which runs there are, and a report that says what is in them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.papers import friedrich2019, friedrich2019_report
from bench.papers.friedrich2019 import PARTS, main, plan_runs, run_name
from bench.papers.friedrich2019_cells import Cell, _pseudonymised
from bench.papers.friedrich2019_figures import Line, figure
from bench.papers.friedrich2019_report import Runs, write_report
from bench.papers.friedrich2019_runs import Run, read_runs
from bench.results import read
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes

TRAINED = Cell("three-part", "fasttext", True, 100, 50)
NOTHING: dict[str, Runs] = {part: {} for part in PARTS}


def kept_run(folder: Path, right: int = 60, tokens: tuple[int, int, int] = (90, 10, 10), seed: int = 1) -> Run:
    found = {
        "tokens": [list(tokens)],
        "entities": [[8, 2, 2]],
        "commit": "abc",
        "findings": [
            {"attack": f"fresh adversary {name}", "value": right / 100, "trials": 100} for name in ("T1", "T2")
        ],
        "control": {"T1": 0.8, "T2": 0.9},
    }
    path = folder / f"{run_name('standard', TRAINED, seed)}.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return Run.read(path, "standard", TRAINED.slug, seed)


def test_every_setting_that_was_asked_for_is_a_cell() -> None:
    for n in (1, 10, 100, 500, 1000):
        for d in (50, 100, 300):
            assert Cell("three-part", "fasttext", True, n, d) in PARTS["figure5"]
    for casing in (True, False):
        for inputs in ("fasttext", "glove-clinical", "glove-twitter"):
            methods = {cell.method for cell in PARTS["table2"] if (cell.inputs, cell.casing) == (inputs, casing)}
            assert methods == {"raw", "pseudonyms", "three-part"}


def test_a_setting_runs_once_however_many_parts_and_names_it_has() -> None:
    names = [(cell.slug, seed) for cell, seed in plan_runs(list(PARTS), "standard", "", [])]
    assert len(names) == len(set(names))
    assert {seed for _, seed in names} == {1, 2, 3}
    # Without neighbours there is nothing to train against, whatever the method.
    assert Cell("dann", neighbours=1, dim=50).slug == Cell("three-part", neighbours=1, dim=50).slug
    assert Cell("raw", "fasttext").slug != Cell("raw", "fasttext", casing=False).slug


def test_shares_of_the_runs_are_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(friedrich2019, "RUNS", tmp_path)
    monkeypatch.setattr(friedrich2019, "RESULTS", tmp_path)
    monkeypatch.setattr(friedrich2019, "report", lambda budget: None)
    done: list[str] = []
    monkeypatch.setattr(friedrich2019, "load_or_measure", lambda name, measure: done.append(name))
    main(["figure5", "--share", "1/2"])
    first = len(done)
    main(["figure5", "--share", "2/2"])
    assert 0 < first < len(done)
    halves = done.copy()
    done.clear()
    main(["figure5"])
    assert sorted(done) == sorted(halves)


def test_the_report_tells_the_figures_and_draws_them(tmp_path: Path) -> None:
    runs = NOTHING | {"figure5": {TRAINED: [kept_run(tmp_path, 50), kept_run(tmp_path, 60, (100, 0, 0), seed=2)]}}
    write_report(runs, "standard", tmp_path)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    # F1 of 90 and of 100; 55 of 100 right, whose exact interval holds chance.
    assert (
        "| three-part | fasttext | yes | 100 | 50 | 95.0 (90.0 to 100.0) | 80.0 (80.0 to 80.0) | 55.0 (44.7 to 65.0) |"
        in page
    )
    assert (tmp_path / "friedrich2019_figure5.svg").read_text(encoding="utf-8").count("<svg") == 1
    entries = {entry.measure: entry for entry in read("privacy", tmp_path)}
    accuracy = entries["Friedrich 2019, three-part-fasttext-N100-d50, fresh adversary T2"]
    assert (accuracy.value, accuracy.seeds, accuracy.commit) == (0.55, 2, "abc")
    assert entries["Friedrich 2019, three-part-fasttext-N100-d50, token-binary F1"].value == 0.95


def test_the_reading_says_what_the_runs_come_to_and_nothing_without_them(tmp_path: Path) -> None:
    write_report(NOTHING, "standard", tmp_path)
    assert "Table 2:" not in (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    runs = [kept_run(tmp_path, 60), kept_run(tmp_path, 70, (100, 0, 0), seed=2)]
    write_report(NOTHING | {"table2": {Cell("raw"): runs[1:], TRAINED: runs}}, "standard", tmp_path)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    assert "has 95.00 where the non-private tagger has 100.00" in page
    assert "are right: 60 to 70% (65% at N = 100) with fasttext; 50% is chance" in page
    assert "Figure 4: trained" not in page


def test_the_reading_tells_word_vectors_apart(tmp_path: Path) -> None:
    glove = replace(TRAINED, inputs="glove-clinical")
    runs = {TRAINED: [kept_run(tmp_path, 60)], glove: [kept_run(tmp_path, 80, (100, 0, 0))]}
    write_report({part: {} for part in PARTS} | {"figure5": runs}, "standard", tmp_path)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    assert "F1 is 90.0 to 90.0 with fasttext, 100.0 to 100.0 with glove-clinical." in page
    assert "right: 60 to 60% (60% at N = 100) with fasttext, 80 to 80% (80% at N = 100) with glove-clinical;" in page


def test_the_reading_and_the_table_round_a_mean_alike(tmp_path: Path) -> None:
    # A mean of 93.35, between two figures of the page.
    found = [replace(kept_run(tmp_path), token_f1=value) for value in (0.9277, 0.9378, 0.9350)]
    runs = {Cell("pseudonyms", neighbours=n): found for n in (10, 100, 500, 1000)}
    write_report({part: {} for part in PARTS} | {"figure4": {Cell("raw"): found, **runs}}, "standard", tmp_path)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    [in_words] = set(re.findall(r"([0-9.]+) at N = \d+[,;]", page))
    assert f"| {in_words} (92.8 to 93.8) |" in page


def test_a_section_prints_a_cell_once_and_none_that_are_only_of_others(tmp_path: Path) -> None:
    runs = [kept_run(tmp_path)]
    task_only = {method: Cell(method, neighbours=1, dim=50) for method in ("three-part", "dann", "invariance")}
    shared = {task_only["dann"]: runs, task_only["invariance"]: runs}
    parts = NOTHING | {"figure5": {task_only["three-part"]: runs}}
    for own, rows in (({}, 0), ({Cell("dann", neighbours=10, dim=50): runs}, 2)):
        write_report(parts | {"ours": shared | own}, "standard", tmp_path)
        section = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8").partition("## DANN")[2]
        assert len(re.findall(r"^\| (?:task only|dann) ", section, re.MULTILINE)) == rows
        assert ("No run yet." in section) is (rows == 0)
        assert ("| method |" in section) is (rows > 0)


def test_the_fall_of_pseudonyms_is_explained_where_it_shows(tmp_path: Path) -> None:
    fallen = {Cell("pseudonyms", "glove-twitter", casing, 100): [kept_run(tmp_path)] for casing in (True, False)}
    write_report({part: {} for part in PARTS} | {"table2": fallen}, "standard", tmp_path)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    assert "pseudonyms fall to 90.0 with glove-twitter, without casing to 90.0" in page


def test_without_neighbours_alone_there_is_no_curve(tmp_path: Path) -> None:
    task_only, dann = Cell("dann", neighbours=1, dim=50), Cell("dann", neighbours=10, dim=50)
    figures = []
    for ours in ({task_only: [kept_run(tmp_path)]}, {task_only: [kept_run(tmp_path)], dann: [kept_run(tmp_path)]}):
        write_report({part: {} for part in PARTS} | {"ours": ours}, "standard", tmp_path)
        figures.append((tmp_path / "friedrich2019_figure5.svg").read_text(encoding="utf-8"))
    assert "dann" not in figures[0]
    assert "dann" in figures[1]


def test_nothing_is_said_of_the_paper_that_is_not_in_the_file_of_what_it_reports(tmp_path: Path) -> None:
    reported = json.loads(friedrich2019_report.REPORTED.read_text(encoding="utf-8"))
    write_report({part: {} for part in PARTS}, "quick", tmp_path)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    assert all(row["label"] in page for row in reported["table2"])
    for name in ("figure4", "figure5"):
        assert bool(reported[name]) != (name in page.split("so its curves")[0].split("points of the paper's")[-1])


def test_a_curve_of_the_paper_is_drawn_as_soon_as_it_is_there() -> None:
    ours = Line("ours", "#0072B2", {10: [0.9, 0.92], 100: [0.8]})
    paper = Line("paper", "#8a8f98", {10: [0.95], 100: [0.9]}, "", dashed=True)
    without, with_it = (figure("F", {"F1": lines}, chance="") for lines in ([ours], [ours, paper]))
    assert "stroke-dasharray" not in without
    assert "stroke-dasharray" in with_it


def test_no_curve_leads_over_an_n_that_was_not_run() -> None:
    whole = Line("whole", "#0072B2", {10: [0.9], 100: [0.8], 1000: [0.8]})
    broken = Line("broken", "#009E73", {10: [0.9], 1000: [0.7]})

    def drawn(*lines: Line) -> int:
        """Curves of the colour of `broken` that lead from one point to another."""
        svg = figure("F", {"F1": lines}, chance="")
        return len(
            re.findall(
                r'<path d="M [-\d.]+ [-\d.]+ \nL [^"]+" clip-path="[^"]+" style="fill: none; stroke: #009e73', svg
            )
        )

    assert drawn(broken) == 1
    assert drawn(broken, whole) == 0


def test_a_damaged_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"tokens": []}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"run\.json"):
        Run.read(path, "standard", "raw-fasttext-N1", 1)
    (tmp_path / "friedrich2019.json").write_text("[{}]", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"friedrich2019\.json"):
        read_runs(tmp_path)


def test_a_run_of_the_report_is_neither_lost_nor_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, results = tmp_path / "runs", tmp_path / "results"
    runs.mkdir()
    monkeypatch.setattr(friedrich2019, "RUNS", runs)
    monkeypatch.setattr(friedrich2019, "RESULTS", results)
    first = kept_run(runs)
    friedrich2019.report("standard")
    (runs / f"{run_name('standard', TRAINED, 1)}.json").unlink()
    second = kept_run(runs, right=80, seed=2)
    friedrich2019.report("standard")
    assert read_runs(results) == [first, second]
    assert "| 70.0 (60.0 to 78.8) |" in (results / "friedrich2019.md").read_text(encoding="utf-8")
    made: list[str] = []
    monkeypatch.setattr(friedrich2019, "load_or_measure", lambda name, measure: made.append(name))
    main(["figure5", "--only", TRAINED.slug])
    assert made == [run_name("standard", TRAINED, 3)]
    # Another budget's report leaves the runs of this one alone.
    friedrich2019.report("paper")
    assert read_runs(results) == [first, second]


def test_a_pseudonym_has_the_casing_of_its_word() -> None:
    words = ["ana", "eva", "rosa", "came"]
    lower = WordVectors(words, np.eye(4, dtype=np.float32))
    train = TokenisedSentences(["Ana", "came", "ROSA"], np.array([1, 0, 1], dtype=np.uint8), np.array([3]))
    for seed in range(5):
        shown, _ = _pseudonymised(train, lower, 3, seed)
        np.testing.assert_array_equal(shown.casing, casing_classes(train.words))
