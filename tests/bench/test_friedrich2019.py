"""The experiments of Friedrich et al. 2019: which runs there are, that they can be cut, and a report that says what is in them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from bench.papers import friedrich2019, friedrich2019_report
from bench.papers.friedrich2019 import ORDER, PUBLISHED, kept, main, plan, step_names
from bench.papers.friedrich2019_cells import BUDGETS, Cell, _themselves, pseudonymised
from bench.papers.friedrich2019_encoders import Caseless, Noisy
from bench.papers.friedrich2019_figures import Line, figure
from bench.papers.friedrich2019_report import Run, write_report
from bench.results import read
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.models.representer import RepresenterConfig
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.text.casing import casing_classes
from tests.constructions import noisy
from tests.shared.training.trained import TABLE

BUDGET = replace(BUDGETS["fifth"], said="a hundred notes")
SCORES = {"tokens": [[90, 10, 10]], "entities": [[8, 2, 2]], "commit": "abc"}


def run(right: int = 60, seed: int = 1, tokens: tuple[int, int, int] = (90, 10, 10), cell: Cell = PUBLISHED) -> Run:
    steps: dict[str, dict[str, Any]] = {
        "training": SCORES | {"tokens": [list(tokens)]},
        "head": SCORES,
        "continued": {"training": [right + 10, 100], "judged": [right, 100], "commit": "abc"},
        "fresh": {"T1": [right, 100], "T2": [right + 5, 100], "commit": "def"},
        "control": {"T1": [99, 100], "T2": [90, 100], "commit": "abc"},
        "white box": {"mean": 0.9, "p95": 1.0, "commit": "abc"},
    }
    return Run(cell, seed, steps)


def row_of(page: str, what: str) -> str:
    """The one line of a table that tells of it."""
    (line,) = [line for line in page.splitlines() if line.startswith("|") and f"{what} |" in line]
    return line


def test_the_paper_s_budget_is_the_paper_s() -> None:
    recipe = BUDGETS["paper"].three_part
    assert (recipe.task_epochs, recipe.adversary_epochs, recipe.joint_epochs) == (20, 20, 40)
    assert (recipe.adversary_hidden, recipe.batch, recipe.alternation, recipe.weight) == (300, 32, "epochs", 1.0)
    assert (BUDGETS["paper"].notes, BUDGETS["paper"].continued) == (500, 50)
    # The shorter one differs in its notes alone.
    assert replace(BUDGETS["fifth"], notes=500, said=BUDGETS["paper"].said) == BUDGETS["paper"]


def test_what_was_asked_for_is_planned_first_and_every_run_once() -> None:
    planned = plan("", [])
    assert len(planned) == len(set(planned)) == len(set(ORDER))
    published = [seed for cell, seed in planned if cell == PUBLISHED]
    assert published == [1, 2, 3, 4, 5]
    asked = {(PUBLISHED, seed) for seed in (1, 2, 3)} | {(Cell("three-part", neighbours=n), 1) for n in (1, 500, 1000)}
    assert asked <= set(planned[:8])
    assert plan(PUBLISHED.slug, [2, 3]) == [(PUBLISHED, 2), (PUBLISHED, 3)]
    slugs = {cell.slug for cell, _ in planned}
    assert {row["cell"] for row in json.loads(friedrich2019_report.REPORTED.read_text())["rows"]} - {""} <= slugs


def test_a_step_that_is_kept_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(friedrich2019, "RUNS", tmp_path)
    monkeypatch.setattr("bench.outcomes.RUNS", tmp_path)
    made: list[str] = []

    def step(name: str) -> Any:
        return lambda: made.append(name) or dict(SCORES)

    steps = {name: step(name) for name in ("training", "continued", "head", "white box", "fresh")}
    monkeypatch.setattr(friedrich2019, "steps_of", lambda cell, budget, seed: steps)
    monkeypatch.setattr(friedrich2019, "control", lambda cell, budget, seed: step("control")())
    names = step_names(PUBLISHED, "quick", 1)
    (tmp_path / f"{names['training']}.json").write_text(json.dumps(SCORES))
    friedrich2019.measure(PUBLISHED, "quick", 1)
    assert made == ["continued", "head", "white box", "fresh", "control"]
    friedrich2019.measure(PUBLISHED, "quick", 1)
    assert len(made) == 5
    (found,) = kept("quick")
    assert (found.cell, found.seed, set(found.steps)) == (PUBLISHED, 1, {*steps, "control"})


def test_nothing_is_recorded_from_changed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(friedrich2019, "commit", lambda: "abc1234+dirty")
    monkeypatch.setattr(friedrich2019, "write_report", lambda *given: pytest.fail("recorded"))
    with pytest.raises(ConfigurationError, match="clean"):
        main(["--record"])


def test_the_report_puts_ours_beside_the_paper_s(tmp_path: Path) -> None:
    write_report([run(50), run(60, seed=2, tokens=(100, 0, 0))], tmp_path, "fifth", BUDGET)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    row = "| three-part, fastText, N = 100, d = 50: tagger | 97.40 | Table 2 | 95.00 (90.00 to 100.00) | 2 | corpus:"
    assert row in page
    held = "| three-part, N = 100: the same, held-out pairs | 50 (chance) | Figure 5, section 10 | 55.00 (50.00 to 60.00) |"
    assert held in page
    # The better of both adversaries, in a table and in the answer; what nobody ran stays empty.
    assert (
        "| three-part-fasttext-N100 | 65.00 (60.00 to 70.00) | 55.00 (50.00 to 60.00) | 60.00 (55.00 to 65.00) | "
        "99.00 (99.00 to 99.00) | 90.00 (90.00 to 90.00) | 2 |" in page
    )
    assert "decide 0.55 of held-out pairs right, fresh ones 0.6, and 0.99 on clear word vectors" in page
    # Whoever ran no pseudonyms tells nothing of them.
    assert "where raw notes give" not in page
    assert "| three-part, fastText, N = 500: tagger | 95 or more | Figure 5, section 7.3 |  |  |" in page
    # Whoever reads one row knows of how little it is.
    assert f"budget: {BUDGET.said}, fewer runs" in row_of(page, "three-part, fastText, N = 100, d = 50: tagger")
    assert (tmp_path / "friedrich2019.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_every_figure_is_an_entry_with_the_state_of_the_code_that_made_it(tmp_path: Path) -> None:
    write_report([run(50), run(60, seed=2)], tmp_path, "fifth", BUDGET)
    entries = {entry.measure.partition(": ")[2]: entry for entry in read("friedrich2019", tmp_path)}
    continued = entries["adversaries continued 50 epochs, held-out pairs"]
    assert (continued.value, continued.seeds, continued.commit) == (0.55, 2, "abc, def")
    assert all(BUDGET.said in entry.note and entry.command.endswith(" --budget fifth") for entry in entries.values())
    # Whoever quotes a figure can say of how much it is.
    assert (entries["training notes"].value, entries["runs"].value) == (100, 2)
    # The exact interval of 55 of 100.
    assert continued.interval == pytest.approx((0.447, 0.650), abs=1e-3)
    assert entries["better of two fresh adversaries on clear word vectors"].value == 0.99
    assert entries["tagger of the paper's protocol, token-binary F1"].value == 0.9
    assert entries["best attacker that there can be (white box)"].value == 0.9


def test_all_that_the_paper_states_stands_in_the_table(tmp_path: Path) -> None:
    write_report([run()], tmp_path, "fifth", BUDGET)
    page = (tmp_path / "friedrich2019.md").read_text(encoding="utf-8")
    for stated in ("97.67", "97.24", "97.62", "97.40", "96.89", "96.75", "96.42", "95.0", "above 80", "97.85", "98.27"):
        assert re.search(rf"\| {re.escape(stated)} \|", page), stated
    reported = json.loads(friedrich2019_report.REPORTED.read_text(encoding="utf-8"))
    for row in reported["rows"]:
        assert not row["cell"] or all(
            word in reported["differs"][row["differs"]] for word in ("corpus", "budget", "method")
        )


def test_at_n_1_a_twin_is_its_original() -> None:
    alone = _themselves(TABLE)
    rows = np.flatnonzero(TABLE.position >= 0).astype(np.int32)
    np.testing.assert_array_equal(alone.draw(rows, np.random.default_rng(0)), rows)


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


def test_a_tagger_is_judged_with_noise_or_without_casing() -> None:
    """As a training of hours ends: what stands before its tagger must fit a pipeline."""
    vectors = WordVectors(["ana", "came"], np.eye(2, dtype=np.float32))
    scheme = load_scheme("meddocan")
    encoder = noisy(vectors, scheme, RepresenterConfig(2, dim=4, hidden=4))
    head = BiLSTMCRF(BiLSTMCRFConfig(4, len(scheme.tags), hidden=4)).eval()
    note = Document("a", "Ana came.")
    for shown in (Noisy(encoder, 1), Caseless(encoder)):
        (read,) = Pipeline(cast(NoisyRecurrent, shown), head).annotate([note])
        assert read.text == note.text
    chunk = TokenisedSentences(["Ana", "came"], np.zeros(2, dtype=np.uint8), np.array([2]))
    assert not Caseless(encoder).noise_free(chunk).casing.any()
    assert encoder.noise_free(chunk).casing.any()
    assert (Noisy(encoder, 1).noise_free(chunk).values != encoder.noise_free(chunk).values).any()


def test_a_pseudonym_has_the_casing_of_its_word() -> None:
    words = ["ana", "eva", "rosa", "came"]
    lower = WordVectors(words, np.eye(4, dtype=np.float32))
    train = TokenisedSentences(["Ana", "came", "ROSA"], np.array([1, 0, 1], dtype=np.uint8), np.array([3]))
    for seed in range(5):
        shown, _ = pseudonymised(train, lower, 3, seed)
        np.testing.assert_array_equal(shown.casing, casing_classes(train.words))
