"""Friedrich et al. 2019 on MEDDOCAN: Table 2, Figure 4, Figure 5, and what our procedures make of the latter.

    python -m bench.papers.friedrich2019 [PART...] [--budget quick|standard|paper]

Each run of a cell is kept in bench/.runs and in docs/results/friedrich2019.json, so that a run that was cut goes on where it
stopped; take it out of both to measure afresh. One torch thread; `--share 1/2` and `--share 2/2` run side by side. All cells
of one seed come before the next seed's. The report is written after every run, from all runs of the budget that are there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from bench.outcomes import RUNS, load_or_measure
from bench.papers.friedrich2019_cells import (
    BUDGETS,
    DIMS,
    INPUTS,
    NEIGHBOURS,
    Cell,
    audited_neighbours,
    control,
    measure,
)
from bench.papers.friedrich2019_report import Runs, write_report
from bench.papers.friedrich2019_runs import ADVERSARIES, Run, read_runs, write
from bench.results import RESULTS

# The setting of Table 2.
N, D = 100, 50


def pseudonym_cell(inputs: str, n: int, casing: bool = True) -> Cell:
    """Training on pseudonyms; with one neighbour every word stays, so that is the non-private tagger."""
    return Cell("raw" if n == 1 else "pseudonyms", inputs, casing, n)


PARTS: dict[str, tuple[Cell, ...]] = {
    "table2": tuple(
        cell
        for casing in (True, False)
        for inputs in INPUTS
        for cell in (
            Cell("raw", inputs, casing),
            pseudonym_cell(inputs, N, casing),
            Cell("three-part", inputs, casing, N, D),
        )
    ),
    "figure4": tuple(pseudonym_cell(inputs, n) for inputs in INPUTS[:2] for n in NEIGHBOURS),
    "figure5": tuple(Cell("three-part", "fasttext", True, n, d) for d in DIMS for n in NEIGHBOURS)
    + tuple(Cell("three-part", "glove-clinical", True, n, D) for n in NEIGHBOURS),
    # The paper compares with DANN in words; invariance is ours.
    "ours": tuple(Cell(method, "fasttext", True, n, D) for method in ("dann", "invariance") for n in NEIGHBOURS),
}


def run_name(budget: str, cell: Cell, seed: int) -> str:
    """File of a run in bench/.runs, without its ending."""
    return f"friedrich2019-{budget}-{cell.slug}-{seed}"


def folder_of(budget: str) -> Path:
    """Where the report lies; a quick run is no result and stays out of docs/results."""
    return RUNS / "friedrich2019-quick" if budget == "quick" else RESULTS


def load_runs(budget: str) -> dict[tuple[str, int], Run]:
    """The runs of a budget, by cell and seed: those of the report, and those that were kept since."""
    found = {(run.cell, run.seed): run for run in read_runs(folder_of(budget)) if run.budget == budget}
    for cell, seed in plan_runs(list(PARTS), budget, "", []):
        path = RUNS / f"{run_name(budget, cell, seed)}.json"
        if path.exists():
            found[cell.slug, seed] = Run.read(path, budget, cell.slug, seed)
    return found


def plan_runs(parts: Sequence[str], budget: str, only: str, seeds: Sequence[int]) -> list[tuple[Cell, int]]:
    """Every cell of the parts once a seed; cells of several parts, or under several names, only once."""
    cells: dict[str, Cell] = {}
    for part in parts:
        for cell in PARTS[part]:
            if only in cell.slug:
                cells.setdefault(cell.slug, cell)
    return [(cell, seed) for seed in seeds or BUDGETS[budget].seeds for cell in cells.values()]


def report(budget: str) -> None:
    """Write what is known."""
    found = load_runs(budget)
    by_cell: dict[str, list[Run]] = {}
    for (slug, _), run in sorted(found.items()):
        by_cell.setdefault(slug, []).append(run)
    parts: dict[str, Runs] = {
        part: {cell: by_cell[cell.slug] for cell in cells if cell.slug in by_cell} for part, cells in PARTS.items()
    }
    folder = folder_of(budget)
    write_report(parts, budget, folder)
    write([run for run in read_runs(folder) if run.budget != budget] + list(found.values()), folder)


def _measured(cell: Cell, budget: str, seed: int) -> dict[str, object]:
    result = measure(cell, BUDGETS[budget], seed)
    if cell.dim:
        n = audited_neighbours(cell)
        clear = load_or_measure(
            f"friedrich2019-{budget}-clear-{cell.inputs}-N{n}-{seed}",
            lambda: dict(control(cell.inputs, BUDGETS[budget], n, seed)),
        )
        result["control"] = {name: clear[name] for name in ADVERSARIES}
    return result


def _share(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError("expected I/K with 1 <= I <= K, such as 1/2")
    return int(number), int(count)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that the command line names, and record them."""
    parser = argparse.ArgumentParser(prog="python -m bench.papers.friedrich2019", description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"among {', '.join(PARTS)}; all by default")
    parser.add_argument("--budget", choices=list(BUDGETS), default="standard")
    parser.add_argument("--seeds", default="", help="such as 1,2,3; by default those of the budget")
    parser.add_argument("--only", default="", help="cells whose name holds this, such as three-part-fasttext-N100-d50")
    parser.add_argument("--share", type=_share, default=(1, 1), metavar="I/K", help="every K-th run, from the I-th on")
    parser.add_argument("--list", action="store_true", help="show the runs and whether they are there; run nothing")
    parser.add_argument(
        "--report", action="store_true", help="write the report from the runs that are there; run nothing"
    )
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"expected parts among {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)
    seeds = [int(seed) for seed in chosen.seeds.split(",") if seed]
    runs = plan_runs(chosen.parts or list(PARTS), chosen.budget, chosen.only, seeds)
    number, count = chosen.share
    runs = runs[number - 1 :: count]
    done = load_runs(chosen.budget)
    for cell, seed in runs:
        name = run_name(chosen.budget, cell, seed)
        if chosen.list:
            print(f"{'kept' if (cell.slug, seed) in done else 'to do'}  {name}")
        elif not chosen.report and (cell.slug, seed) not in done:
            load_or_measure(name, lambda cell=cell, seed=seed: _measured(cell, chosen.budget, seed))  # type: ignore[misc]
            report(chosen.budget)
    if chosen.report:
        report(chosen.budget)


if __name__ == "__main__":
    main()
