"""What was found, beside what the paper reports: a table, two figures, and entries of docs/results/privacy.json."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.papers.friedrich2019_cells import BUDGETS, CONTROL_NEIGHBOURS, DIMS, INPUTS, NEIGHBOURS, Cell
from bench.papers.friedrich2019_figures import Line, figure
from bench.papers.friedrich2019_runs import ADVERSARIES, Run
from bench.results import Entry, record
from foundation.files import write_text
from foundation.reading import read_text
from shared.evaluation.intervals import clopper_pearson
from shared.report.plots import BLUE, GREEN, GREY, ORANGE

COMMAND = "python -m bench.papers.friedrich2019"
REPORTED = Path(__file__).with_name("friedrich2019_reported.json")
DATA = "meddocan/dev"

Runs = Mapping[Cell, Sequence[Run]]


def write_report(parts: Mapping[str, Runs], budget: str, folder: Path) -> None:
    """Write friedrich2019.md and its figures, and record the entries.

    Args:
        parts: the runs that are there, by part.
        budget: their budget.
        folder: docs/results, or where a quick run leaves its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reported = json.loads(read_text(REPORTED))
    figure5: Runs = {**parts["figure5"], **parts["ours"]}
    for name, title, panels in (
        (
            "figure4",
            "Figure 4: a tagger trained on pseudonyms",
            {"token-binary F1": _pseudonym_lines(parts["figure4"], reported)},
        ),
        (
            "figure5",
            "Figure 5: a tagger trained on private representations",
            {
                "token-binary F1": _trained_lines(figure5, _token_f1, reported["figure5"]),
                "better fresh adversary, right": _trained_lines(figure5, _best_adversary, {}),
            },
        ),
    ):
        write_text(
            folder / f"friedrich2019_{name}.svg",
            figure(title, panels, chance="better fresh adversary, right"),
            private=False,
        )
    write_text(folder / "friedrich2019.md", _page(parts, reported, budget), private=False)
    entries = _entries({cell: runs for part in parts.values() for cell, runs in part.items()}, budget)
    if entries:
        record("privacy", entries, folder)


def _token_f1(run: Run) -> float:
    return run.token_f1


def _best_adversary(run: Run) -> float:
    return max(run.right.values()) / run.trials


def _points(runs: Runs, cells: Mapping[int, Cell], value: Callable[[Run], float]) -> dict[int, list[float]]:
    """Value of every seed at each N that was run."""
    return {n: [value(run) for run in runs[cell]] for n, cell in cells.items() if cell in runs}


def _pseudonym_lines(runs: Runs, reported: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Line]:
    lines = []
    for inputs, colour in (("fasttext", BLUE), ("glove-clinical", ORANGE)):
        cells = {cell.neighbours: cell for cell in runs if cell.inputs == inputs}
        lines.append(Line(inputs, colour, _points(runs, cells, _token_f1)))
    return lines + _paper_lines(reported["figure4"])


def _trained_lines(runs: Runs, value: Callable[[Run], float], paper: Mapping[str, Mapping[str, float]]) -> list[Line]:
    kinds = [
        (f"three-part, d={dim}", "three-part", "fasttext", dim, colour, "o")
        for dim, colour in zip(DIMS, (BLUE, ORANGE, GREEN), strict=True)
    ]
    kinds += [
        ("three-part, d=50, glove-clinical", "three-part", "glove-clinical", DIMS[0], "#CC79A7", "s"),
        ("dann, d=50", "dann", "fasttext", DIMS[0], GREY, "^"),
        ("invariance (ours), d=50", "invariance", "fasttext", DIMS[0], "#D55E00", "D"),
    ]
    lines = []
    for label, method, inputs, dim, colour, marker in kinds:
        cells = {n: Cell(method, inputs, True, n, dim) for n in NEIGHBOURS}
        points = _points(runs, cells, value)
        # Without neighbours all methods are one; alone that is no curve.
        if set(points) - {1}:
            lines.append(Line(label, colour, points, marker))
    return lines + _paper_lines(paper)


def _paper_lines(curves: Mapping[str, Mapping[str, float]]) -> list[Line]:
    return [
        Line(f"paper: {label}", GREY, {int(n): [value] for n, value in curve.items()}, "", dashed=True)
        for label, curve in curves.items()
    ]


def _page(parts: Mapping[str, Runs], reported: Mapping[str, object], budget: str) -> str:
    size = BUDGETS[budget]
    head = "| method | word vectors | casing | N | d | token-binary F1 | strict F1 | fresh T1 | fresh T2 | same on clear vectors | runs |"
    lines = [
        "# Friedrich et al. 2019 on MEDDOCAN",
        "",
        f"Written by `{COMMAND}`; do not edit. Budget `{budget}`: {size.notes} training notes, {size.judged} dev notes, "
        f"head {size.head_epochs} epochs, fresh adversaries {size.adversaries.epochs} epochs of {size.adversaries.pairs} pairs with "
        f"{size.adversaries.hidden} units a direction. F1: mean of the runs, and their range. Adversaries: right decisions, with the "
        "exact 95% interval of one run's sample; 50% is chance.",
        "",
        "Where this differs from the paper: Spanish notes; word vectors of 25 to 200 dimensions, of which the fastText ones are our own; "
        "the output is bounded before its noise is added and no noise falls below a floor; a twin never equals its original; the adversaries start "
        "afresh instead of going on from those of the training; pseudonyms are drawn once, have the casing of their words, and the raw sentence is never seen; "
        "unknown words and stop words are replaced too; the head is used in-house without noise.",
        "",
        "friedrich2019.json holds every run and the state of the code that made it. Runs before 454c223 were trained in bfloat16 where "
        "the processor has it, later ones in float32; of the earlier ones no counts by document are left, so that the runs of a cell "
        "share one interval of F1 and one control.",
        "",
        "## What the paper reports (i2b2 2014, English)",
        "",
        *_reported_lines(reported),
        "",
        "## What ours say beside it",
        "",
        *(_reading({cell: runs for part in parts.values() for cell, runs in part.items()}) or ["No run yet."]),
    ]
    printed: set[str] = set()
    for part, title in (
        ("table2", "Table 2"),
        ("figure4", "Figure 4: pseudonyms"),
        ("figure5", "Figure 5: three-part training"),
        ("ours", "DANN, and invariance in closed form"),
    ):
        lines += ["", f"## {title}", ""]
        if part.startswith("figure"):
            lines += [f"![{title}](friedrich2019_{part}.svg)", ""]
        rows = {cell.slug: _row(cell, runs) for cell, runs in parts[part].items()}
        # What other sections have printed already are no runs of this one.
        if rows.keys() <= printed:
            lines.append("No run yet.")
        else:
            lines += [head, "|---" * head.count(" |") + "|", *rows.values()]
        printed |= rows.keys()
    lines += [
        "",
        f"N = 1 of a trained method is a representer trained for the task alone, attacked with N = {CONTROL_NEIGHBOURS}: it must be broken.",
        "",
    ]
    return "\n".join(lines)


def _reported_lines(reported: Mapping[str, object]) -> list[str]:
    table = reported["table2"]
    assert isinstance(table, list)
    rows = [f"| {row['label']} | {100 * row['token_f1']:.2f} | {row['from']} |" for row in table]
    missing = [name for name in ("figure4", "figure5") if not reported[name]]
    lines = [f"{reported['source']}.", "", "| model | F1 | where it stands |", "|---|---|---|", *rows]
    if missing:
        lines += [
            "",
            f"The points of the paper's {' and '.join(missing)} are not in {REPORTED.name}, so its curves are not drawn.",
        ]
    return lines


def _reading(runs: Runs) -> list[str]:
    """What the figures come to; nothing where they are not there."""

    def f1(cell: Cell) -> float:
        # As in the tables: the mean of shares times 100 may round the other way.
        return statistics.fmean(100 * run.token_f1 for run in runs[cell])

    lines = []
    raw, private = Cell("raw"), Cell("three-part", neighbours=100, dim=50)
    if raw in runs and private in runs:
        lines.append(
            f"- Table 2: three-part training at N = 100, d = 50 has {f1(private):.2f} where the non-private tagger has {f1(raw):.2f}; "
            "the paper's representation has 97.40 where the non-private baseline that it names has 97.85."
        )
    fallen = [Cell("pseudonyms", "glove-twitter", casing, 100) for casing in (True, False)]
    if all(cell in runs for cell in fallen):
        with_casing, without = map(f1, fallen)
        # Words were counted by hand, in the notes of the standard budget.
        lines.append(
            f"- Table 2: pseudonyms fall to {with_casing:.1f} with glove-twitter, without casing to {without:.1f}, for want of words: these 11,925 English "
            "ones hold no number, and 79% of the PHI words of the first 100 dev notes share the one vector of unknown words. A pseudonym is "
            "always a known word, so that none of the unknown words of the training notes is PHI, but 14% of those of the dev notes."
        )
    far = [(n, Cell("pseudonyms", neighbours=n)) for n in NEIGHBOURS[1:]]
    if raw in runs and all(cell in runs for _, cell in far):
        fall = ", ".join(f"{f1(cell):.1f} at N = {n}" for n, cell in far)
        lines.append(
            f"- Figure 4: trained on pseudonyms a tagger has {fall}; trained on the notes themselves {f1(raw):.1f}."
        )
    attacked = {inputs: found for inputs in INPUTS[:2] if (found := _attacked(runs, inputs))}
    if attacked:
        scores = ", ".join(
            f"{_range([100 * run.token_f1 for _, run in found], 1)} with {inputs}" for inputs, found in attacked.items()
        )
        broken = ", ".join(f"{_right(found)} with {inputs}" for inputs, found in attacked.items())
        lines.append(
            f"- Figure 5: over all N, d and runs F1 is {scores}. Here ours differ: the paper stops where the "
            "adversaries of its own training decide by chance, which it reaches up to N = 500; ours start afresh against the frozen representation, "
            f"and of the decisions of the better one so many are right: {broken}; 50% is chance."
        )
    return lines


def _attacked(runs: Runs, inputs: str) -> list[tuple[int, Run]]:
    """The runs of three-part training with some word vectors and casing that had neighbours to hide among, and their N."""
    cells = [Cell("three-part", inputs, neighbours=n, dim=dim) for n in NEIGHBOURS[1:] for dim in DIMS]
    return [(cell.neighbours, run) for cell in cells for run in runs.get(cell, ())]


def _right(attacked: Sequence[tuple[int, Run]]) -> str:
    """How often the better fresh adversary is right, over all runs and by N."""
    found: dict[int, list[float]] = {}
    for n, run in attacked:
        found.setdefault(n, []).append(100 * _best_adversary(run))
    by_n = ", ".join(f"{statistics.fmean(values):.0f}% at N = {n}" for n, values in found.items())
    return f"{_range([value for values in found.values() for value in values], 0)}% ({by_n})"


def _row(cell: Cell, runs: Sequence[Run]) -> str:
    method = cell.method if cell.neighbours > 1 or not cell.dim else "task only"
    changed = [run.changed for run in runs if run.changed is not None]
    if changed:
        method += f" ({100 * statistics.fmean(changed):.0f}% of PHI tokens change)"
    cells = [
        method,
        cell.inputs,
        "yes" if cell.casing else "no",
        str(cell.neighbours),
        str(cell.dim or ""),
        _spread([100 * run.token_f1 for run in runs]),
        _spread([100 * run.entity_f1 for run in runs]),
        *(_accuracy(runs, name) for name in ADVERSARIES),
        _spread([100 * value for run in runs for value in run.control.values()]),
        str(len(runs)),
    ]
    return f"| {' | '.join(cells)} |"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    mean = f"{statistics.fmean(values):.1f}"
    return mean if len(values) == 1 else f"{mean} ({_range(values, 1)})"


def _range(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def _accuracy(runs: Sequence[Run], name: str) -> str:
    if not runs[0].trials:
        return ""
    value, (low, high) = _mean_accuracy(runs, name)
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _mean_accuracy(runs: Sequence[Run], name: str) -> tuple[float, tuple[float, float]]:
    """Mean over runs, with the exact interval of one run: all are judged on the same sentences."""
    right = statistics.fmean(run.right[name] for run in runs)
    return right / runs[0].trials, clopper_pearson(round(right), runs[0].trials)


def _entries(runs: Runs, budget: str) -> list[Entry]:
    entries: list[Entry] = []
    command = f"{COMMAND} --budget {budget}"
    for cell, found in {cell.slug: (cell, found) for cell, found in runs.items()}.values():
        name = f"Friedrich 2019, {cell.slug}"
        note = f"budget {budget}"
        entries.append(
            _f1_entry(
                f"{name}, token-binary F1", [(run.token_f1, run.token_interval) for run in found], found, note, command
            )
        )
        entries.append(
            _f1_entry(
                f"{name}, strict entity F1",
                [(run.entity_f1, run.entity_interval) for run in found],
                found,
                note,
                command,
            )
        )
        entries += [_accuracy_entry(name, adversary, found, note, command) for adversary in found[0].right]
    return entries


def _f1_entry(
    measure: str, scores: Sequence[tuple[float, tuple[float, float]]], runs: Sequence[Run], note: str, command: str
) -> Entry:
    return Entry(
        measure,
        round(statistics.fmean(value for value, _ in scores), 4),
        None,
        "",
        "F1",
        # All runs are judged on the same documents, so that their intervals do not narrow with their number.
        (
            round(statistics.fmean(low for _, (low, _) in scores), 4),
            round(statistics.fmean(high for _, (_, high) in scores), 4),
        ),
        len(runs),
        DATA,
        command,
        f"{note}; interval: bootstrap over documents, mean of the runs'; seeds {', '.join(f'{value:.4f}' for value, _ in scores)}",
        ", ".join(sorted({run.commit for run in runs})),
    )


def _accuracy_entry(name: str, adversary: str, runs: Sequence[Run], note: str, command: str) -> Entry:
    value, (low, high) = _mean_accuracy(runs, adversary)
    each = ", ".join(f"{run.right[adversary] / run.trials:.3f}" for run in runs)
    clear = statistics.fmean(run.control[adversary] for run in runs)
    return Entry(
        f"{name}, fresh adversary {adversary}",
        round(value, 4),
        None,
        "",
        "right decisions",
        (round(low, 4), round(high, 4)),
        len(runs),
        DATA,
        command,
        f"{note}; chance 0.5; on clear word vectors {clear:.3f}; {runs[0].trials} decisions a run; runs {each}",
        ", ".join(sorted({run.commit for run in runs})),
    )
