"""What was found, beside what the paper reports: entries of docs/results/friedrich2019.json, a page and one figure."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.outcomes import Outcome, f1_entry
from bench.papers.friedrich2019_cells import Budget, Cell, mean_right
from bench.papers.friedrich2019_figures import Line, figure
from bench.results import Entry, record
from bench.results.page import pages
from bench.results.words import words_of
from foundation.files import write_text
from foundation.reading import read_text
from shared.evaluation.intervals import clopper_pearson
from shared.report.plots import BLUE, GREY, ORANGE

COMMAND = "python -m bench.papers.friedrich2019"
REPORTED = Path(__file__).with_name("friedrich2019_reported.json")
DATA = "meddocan/train, meddocan/dev"
_TOPIC = "friedrich2019"
_ADVERSARIES = ("T1", "T2")


@dataclass(frozen=True)
class Run:
    """One run of a cell.

    Args:
        cell: what was run.
        seed: of everything random.
        steps: what is kept of each step that is there.
    """

    cell: Cell
    seed: int
    steps: Mapping[str, Mapping[str, Any]]

    def outcome(self, *steps: str) -> Outcome | None:
        """Scores of the first of these steps that is there."""
        found = [self.steps[step] for step in steps if step in self.steps]
        return Outcome.of(found[0]) if found else None

    def right(self, figure: str) -> tuple[int, int] | None:
        """Right decisions and all of them: "training" or "judged" pairs of the continued attack, "fresh" or "control"."""
        if figure in ("training", "judged"):
            found = self.steps.get("continued")
            return None if found is None else (found[figure][0], found[figure][1])
        found = self.steps.get(figure)
        if found is None:
            return None
        # The better of the two decides.
        right, trials = max(tuple(found[name]) for name in _ADVERSARIES)
        return right, trials

    def value(self, figure: str) -> float | None:
        """A figure in percent: "f1" of the paper's tagger, "white box", or right decisions."""
        if figure == "f1":
            outcome = self.outcome("training", "tagger")
            return None if outcome is None else 100 * outcome.token_f1
        if figure == "white box":
            found = self.steps.get(figure)
            return None if found is None else 100 * float(found["mean"])
        decided = self.right(figure)
        return None if decided is None else 100 * decided[0] / decided[1]


def write_report(runs: Sequence[Run], folder: Path, name: str, budget: Budget) -> None:
    """Record the entries, and write page and figure.

    Args:
        runs: those of which something is there.
        folder: docs/results, or where a quick run leaves its own.
        name: of the budget, as the command takes it.
        budget: of all runs.
    """
    by_cell: dict[str, list[Run]] = {}
    for run in runs:
        by_cell.setdefault(run.cell.slug, []).append(run)
    entries = [
        replace(entry, note=f"{entry.note}; budget: {budget.said}".lstrip("; "), command=f"{COMMAND} --budget {name}")
        for found in by_cell.values()
        for entry in (*_sizes(found, budget), *_entries(found))
    ]
    record(_TOPIC, entries, folder)
    write_text(folder / f"{_TOPIC}.svg", _drawn(by_cell), private=False)
    page = [*_page(by_cell, entries, name, budget.said), _every_figure(folder)]
    write_text(folder / f"{_TOPIC}.md", "\n".join(page), private=False)


def _every_figure(folder: Path) -> str:
    """The tables of a page of results, as a section."""
    tables = pages(_TOPIC, folder)[f"{_TOPIC}.md"].partition("\n## ")[2].partition("\n")[2]
    return "## Every figure\n" + tables


def _sizes(runs: Sequence[Run], budget: Budget) -> Iterator[Entry]:
    """Of how much its figures are, so that whoever quotes one can say so."""
    for what, value in (("training notes", budget.notes), ("runs", len(runs))):
        measure = f"Friedrich 2019, {runs[0].cell.slug}: {what}"
        yield Entry(measure, value, None, "", what, None, len(runs), DATA, COMMAND, "", _commits(runs))


def _entries(runs: Sequence[Run]) -> list[Entry]:
    """All that was measured of a cell."""
    name, commit = f"Friedrich 2019, {runs[0].cell.slug}", _commits(runs)
    entries = []
    for label, steps in (
        ("tagger of the paper's protocol", ("training", "tagger")),
        ("fresh head in-house", ("head",)),
    ):
        outcomes = [outcome for run in runs if (outcome := run.outcome(*steps)) is not None]
        for kind, unit in (("tokens", "token-binary F1"), ("entities", "strict entity F1")) if outcomes else ():
            entries.append(
                f1_entry(f"{name}: {label}, {unit}", outcomes, kind, None, DATA, "bootstrap over notes", COMMAND)
            )
    for label, figure_name in (
        ("adversaries continued 50 epochs, training pairs", "training"),
        ("adversaries continued 50 epochs, held-out pairs", "judged"),
        ("better of two fresh adversaries", "fresh"),
        ("better of two fresh adversaries on clear word vectors", "control"),
    ):
        decided = [found for run in runs if (found := run.right(figure_name)) is not None]
        if decided:
            entries.append(_decided_entry(f"{name}: {label}", decided, commit))
    bounds = [run.steps["white box"] for run in runs if "white box" in run.steps]
    if bounds:
        note = (
            f"mean over PHI tokens and neighbours; 95th percentile {statistics.fmean(one['p95'] for one in bounds):.3f}"
        )
        value = round(statistics.fmean(one["mean"] for one in bounds), 4)
        measure = f"{name}: best attacker that there can be (white box)"
        entries.append(
            Entry(measure, value, None, "", "right decisions", None, len(bounds), DATA, COMMAND, note, commit)
        )
    return entries


def _decided_entry(measure: str, decided: Sequence[tuple[int, int]], commit: str) -> Entry:
    # All runs are judged on the same sentences, so that their intervals do not narrow with their number.
    value, trials = mean_right(decided), decided[0][1]
    low, high = clopper_pearson(round(value * trials), trials)
    each = ", ".join(f"{right / count:.3f}" for right, count in decided)
    note = f"chance 0.5; {trials} decisions a run, exact interval of one; runs {each}"
    interval = (round(low, 4), round(high, 4))
    return Entry(
        measure, round(value, 4), None, "", "right decisions", interval, len(decided), DATA, COMMAND, note, commit
    )


def _commits(runs: Sequence[Run]) -> str:
    return ", ".join(sorted({step["commit"] for run in runs for step in run.steps.values()}))


def _page(by_cell: Mapping[str, Sequence[Run]], entries: Sequence[Entry], name: str, budget: str) -> list[str]:
    words = words_of(_TOPIC)
    reported = json.loads(read_text(REPORTED))
    lines = [
        f"# {words.title}",
        "",
        *(words.sentences(entries) or ["The published method at N = 100 is not measured to its end yet."]),
        "",
        f"Written by `{COMMAND} --budget {name} --record`; do not edit. The paper's figures: {reported['source']}. Ours, in percent: mean of the runs and their "
        "range; F1 on 125 dev notes that no training sees, by the tagger of the training itself, with noise, as in the paper. "
        f"Training notes of all runs: {budget}; epochs are as many as in the paper.",
        "",
        f"![F1 and continued adversaries by N]({_TOPIC}.svg)",
        "",
        "| what | paper | where | ours | runs | what differs |",
        "|---|---|---|---|---|---|",
    ]
    for row in reported["rows"]:
        values = _values(by_cell.get(row["cell"], ()), row["figure"])
        differs = reported["differs"].get(row["differs"], "not ours").format(budget=budget)
        cells = (row["what"], row["paper"], row["from"], _spread(values), str(len(values) or ""), differs)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", "## By both protocols", "", *_protocols(by_cell), ""]


def _protocols(by_cell: Mapping[str, Sequence[Run]]) -> list[str]:
    lines = [
        "| run | continued, training pairs | continued, held-out pairs | fresh, better of both | fresh on clear vectors | white box | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    for slug, runs in by_cell.items():
        cells = [_spread(_values(runs, name)) for name in ("training", "judged", "fresh", "control", "white box")]
        if any(cells):
            lines.append(f"| {slug} | {' | '.join(cells)} | {len(runs)} |")
    return [
        *lines,
        "",
        "Right decisions in percent; 50 is chance. Continued adversaries decide by the mean of T1's and T2's outputs, as in the paper; the white box is the "
        "best attacker that there can be, over PHI tokens and their neighbours. N = 1 hides nothing and is attacked with N = 100: the same loop, the same number of epochs, "
        "and it must be broken. Controls are trained to the same limit as attacks.",
    ]


def _values(runs: Sequence[Run], figure_name: str) -> list[float]:
    return [value for run in runs if (value := run.value(figure_name)) is not None]


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    mean = f"{statistics.fmean(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.2f} to {max(values):.2f})"


def _drawn(by_cell: Mapping[str, Sequence[Run]]) -> str:
    """F1 and the continued adversaries by N, and what the text of the paper states of them."""

    def line(label: str, method: str, name: str, colour: str) -> Line:
        found = {runs[0].cell.neighbours: _values(runs, name) for runs in by_cell.values() if _is(runs[0].cell, method)}
        return Line(label, colour, {n: [value / 100 for value in values] for n, values in found.items() if values})

    stated = {
        "paper: three-part": {100: [0.974]},
        "paper: pseudonyms": {100: [0.9675], 500: [0.95], 1000: [0.9]},
    }
    paper = [Line(label, GREY, points, "x", dashed=True) for label, points in stated.items()]
    chance = Line("paper: three-part", GREY, {n: [0.5] for n in (100, 500)}, "x", dashed=True)
    right = "continued adversaries, right"
    panels: dict[str, list[Line]] = {
        "token-binary F1": [
            line("three-part", "three-part", "f1", BLUE),
            line("pseudonyms", "pseudonyms", "f1", ORANGE),
            *paper,
        ],
        right: [
            line("training pairs", "three-part", "training", ORANGE),
            line("held-out pairs", "three-part", "judged", BLUE),
            line("fresh, better of both", "three-part", "fresh", "#D55E00"),
            chance,
        ],
    }
    return figure("Friedrich et al. 2019 on MEDDOCAN", panels, chance=right)


def _is(cell: Cell, method: str) -> bool:
    return cell.method == method and cell.inputs == "fasttext"
