"""Friedrich et al. 2019 on MEDDOCAN, by the paper's protocol and by ours.

    python -m bench.papers.friedrich2019 [--only NAME] [--seeds 1,2] [--budget quick|fifth|paper] [--list | --record]

Without --list or --record it measures what is not there yet, a run after another, in the order of ORDER. Everything is kept in
bench/.runs, trainings of representers and continued attacks epoch by epoch: a process that was cut, at any time, goes on where it
stopped, and ends in the same figures. Taggers and fresh adversaries, half an hour at most, start over where they were cut. One torch thread; one process at a time. --record writes docs/results from what is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from bench.outcomes import RUNS, is_there, load_or_measure
from bench.papers.friedrich2019_cells import BUDGETS, TRAINED, Cell, control, steps_of
from bench.papers.friedrich2019_report import Run, write_report
from bench.results import RESULTS, commit
from shared.errors import ConfigurationError

PUBLISHED = Cell("three-part", neighbours=100)
_GLOVE = "glove-clinical"
_RAW = (Cell("raw"), Cell("raw", _GLOVE, casing=False), Cell("raw", _GLOVE))
_PSEUDONYMS = (Cell("pseudonyms", neighbours=100), Cell("pseudonyms", _GLOVE, neighbours=100))
_FURTHER = tuple(Cell("three-part", neighbours=n) for n in (1, 500, 1000))
_VARIANTS = (
    Cell("dann", neighbours=100),
    Cell("three-part-batches", neighbours=100),
    Cell("three-part-plain", neighbours=100),
    Cell("three-part", _GLOVE, neighbours=100),
)
_CURVE = tuple(Cell("pseudonyms", neighbours=n) for n in (20, 200, 500, 1000))

# What is asked for comes first, then what stands beside it, then as many further seeds as time allows.
ORDER: tuple[tuple[Cell, int], ...] = (
    (Cell("raw"), 1),
    (PUBLISHED, 1),
    (Cell("pseudonyms", neighbours=100), 1),
    *((cell, 1) for cell in _FURTHER),
    (PUBLISHED, 2),
    (PUBLISHED, 3),
    (Cell("dann", neighbours=100), 1),
    *((cell, seed) for seed in (1, 2, 3) for cell in (*_RAW, *_PSEUDONYMS)),
    *((cell, 1) for cell in (*_CURVE, *_VARIANTS)),
    *((cell, seed) for seed in (2, 3, 4, 5) for cell in (PUBLISHED, *_FURTHER)),
)


def plan(only: str, seeds: Sequence[int]) -> list[tuple[Cell, int]]:
    """The runs of ORDER, each once.

    Args:
        only: the name of a cell; "" for all.
        seeds: those that are wanted; empty for all.
    """
    wanted = dict.fromkeys(ORDER)
    return [(cell, seed) for cell, seed in wanted if only in ("", cell.slug) and (not seeds or seed in seeds)]


def step_names(cell: Cell, budget: str, seed: int) -> dict[str, str]:
    """The file of every step of a run in bench/.runs, without its ending."""
    steps = {
        step: f"friedrich2019-{budget}-{cell.slug}-{seed}-{step.replace(' ', '-')}"
        for step in steps_of(cell, budget, seed)
    }
    if cell.method in TRAINED:
        steps["control"] = f"friedrich2019-{budget}-clear-{cell.inputs}-N{cell.attacked}-{seed}"
    return steps


def measure(cell: Cell, budget: str, seed: int) -> None:
    """Measure the steps of a run that are not there yet."""
    steps: dict[str, Any] = dict(steps_of(cell, budget, seed))
    steps["control"] = lambda: control(cell, BUDGETS[budget], seed)
    for step, name in step_names(cell, budget, seed).items():
        load_or_measure(name, steps[step])


def kept(budget: str) -> Iterator[Run]:
    """The runs of which something is there."""
    for cell, seed in plan("", []):
        steps = {
            step: load_or_measure(name, dict) for step, name in step_names(cell, budget, seed).items() if is_there(name)
        }
        if steps.keys() - {"control"}:
            yield Run(cell, seed, steps)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, list or record."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m bench.papers.friedrich2019", description=__doc__.splitlines()[0])
    parser.add_argument("--budget", choices=list(BUDGETS), default="paper")
    parser.add_argument("--only", default="", metavar="NAME", help="one cell, such as three-part-fasttext-N100")
    parser.add_argument("--seeds", default="", help="such as 1,2; all of the plan by default")
    parser.add_argument("--list", action="store_true", help="show the steps and whether they are there; run nothing")
    parser.add_argument("--record", action="store_true", help="write docs/results from what is there; run nothing")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if chosen.record:
        if "+dirty" in commit():
            raise ConfigurationError("expected a clean checkout to record from, got changed files; commit them first")
        # A quick run is no result.
        folder = RUNS / "friedrich2019-quick" if chosen.budget == "quick" else RESULTS
        write_report(list(kept(chosen.budget)), folder, chosen.budget, BUDGETS[chosen.budget])
        return
    for cell, seed in plan(chosen.only, [int(seed) for seed in chosen.seeds.split(",") if seed]):
        if chosen.list:
            for name in step_names(cell, chosen.budget, seed).values():
                print(f"{'kept' if is_there(name) else 'to do'}  {name}")
        else:
            measure(cell, chosen.budget, seed)


if __name__ == "__main__":
    main()
