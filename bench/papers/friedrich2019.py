"""Friedrich et al. 2019 on MEDDOCAN: Table 2, Figure 4, Figure 5, and what our procedures make of the latter.

    python -m bench.papers.friedrich2019 [PART...] [--budget quick|standard|paper]

Each run of a cell is kept in bench/.runs, so that a run that was cut goes on where it stopped; remove its file to measure
afresh. One torch thread; `--share 1/2` and `--share 2/2` run side by side. All cells of one seed come ahead of the next
seed's. The report is written after every run, from all runs of the budget that are there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from bench.outcomes import RUNS, kept
from bench.papers.friedrich2019_cells import BUDGETS, DIMS, INPUTS, NEIGHBOURS, Cell, measure
from bench.papers.friedrich2019_report import Run, write_report
from bench.results import RESULTS

# The setting of Table 2.
N, D = 100, 50


def pseudonymised(inputs: str, n: int, casing: bool = True) -> Cell:
    """Training on pseudonyms; with one neighbour every word stays, so that is the non-private tagger."""
    return Cell("raw" if n == 1 else "pseudonyms", inputs, casing, n)


PARTS: dict[str, tuple[Cell, ...]] = {
    "table2": tuple(
        cell
        for casing in (True, False)
        for inputs in INPUTS
        for cell in (
            Cell("raw", inputs, casing),
            pseudonymised(inputs, N, casing),
            Cell("three-part", inputs, casing, N, D),
        )
    ),
    "figure4": tuple(pseudonymised(inputs, n) for inputs in INPUTS[:2] for n in NEIGHBOURS),
    "figure5": tuple(Cell("three-part", "fasttext", True, n, d) for d in DIMS for n in NEIGHBOURS)
    + tuple(Cell("three-part", "glove-clinical", True, n, D) for n in NEIGHBOURS),
    # The paper compares with DANN in words; invariance is ours.
    "ours": tuple(Cell(method, "fasttext", True, n, D) for method in ("dann", "invariance") for n in NEIGHBOURS),
}


def run_name(budget: str, cell: Cell, seed: int) -> str:
    """File of a run in bench/.runs, without its ending."""
    return f"friedrich2019-{budget}-{cell.slug}-{seed}"


def found_runs(budget: str, cells: Iterable[Cell]) -> dict[Cell, list[Run]]:
    """The runs that are there."""
    runs: dict[Cell, list[Run]] = {}
    for cell in cells:
        for seed in BUDGETS[budget].seeds:
            path = RUNS / f"{run_name(budget, cell, seed)}.json"
            if path.exists():
                runs.setdefault(cell, []).append(Run.read(path))
    return runs


def planned(parts: Sequence[str], budget: str, only: str, seeds: Sequence[int]) -> list[tuple[Cell, int]]:
    """Every cell of the parts once a seed; cells of several parts, or under several names, only once."""
    cells: dict[str, Cell] = {}
    for part in parts:
        for cell in PARTS[part]:
            if only in cell.slug:
                cells.setdefault(cell.slug, cell)
    return [(cell, seed) for seed in seeds or BUDGETS[budget].seeds for cell in cells.values()]


def report(budget: str) -> None:
    """Write what is known; a quick run is no result and stays out of docs/results."""
    runs = {part: found_runs(budget, cells) for part, cells in PARTS.items()}
    folder = RUNS / "friedrich2019-quick" if budget == "quick" else RESULTS
    write_report(runs, budget, folder)


def _share(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError("expected I/K with 1 <= I <= K, such as 1/2")
    return int(number), int(count)


def main(arguments: Sequence[str] | None = None) -> None:
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
    runs = planned(chosen.parts or list(PARTS), chosen.budget, chosen.only, seeds)
    number, count = chosen.share
    runs = runs[number - 1 :: count]
    for cell, seed in runs:
        name = run_name(chosen.budget, cell, seed)
        if chosen.list:
            print(f"{'kept' if Path(RUNS / f'{name}.json').exists() else 'to do'}  {name}")
        elif not chosen.report:
            kept(name, lambda cell=cell, seed=seed: measure(cell, BUDGETS[chosen.budget], seed))  # type: ignore[misc]
            report(chosen.budget)
    if chosen.report:
        report(chosen.budget)


if __name__ == "__main__":
    main()
