"""The grid as a table and as entries of docs/results/gate.json."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from bench.poisoning.cells import Cell, Sight, commit_of
from bench.results import Entry

COMMAND = "make results-poisoning"
DATA = "en_sites, train and test of sites A-E"
NOTE = "1,000 sentences a hospital, small heads; figures compare within this grid only"
_RESAMPLES = 2000
Measured = Sequence[tuple[Cell, Sight]]


def group(grid: Measured) -> dict[tuple[str, float, str], list[tuple[Cell, Sight]]]:
    """The seeds of each cell, by attack, poison and defence."""
    found: dict[tuple[str, float, str], list[tuple[Cell, Sight]]] = {}
    for one, seen in grid:
        found.setdefault((one.attack, one.poison, one.defence), []).append((one, seen))
    return found


def table(grid: Measured) -> str:
    """A row for each attack, size and defence; means over the seeds, and the drop against the clean pool without a defence."""
    lines = [
        "| attack | poison | defence | recall of the target | against the clean pool | names | F1 | labels not counted: liar, others | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    cells = group(grid)
    for (attack, poison, defence), runs in cells.items():
        seen = [sight for _, sight in runs]
        clean = _clean(cells, attack, runs)
        target = fmean(sight.recall(attack) for sight in seen)
        denied = [round(fmean(sight.left_out[side] for sight in seen)) for side in (0, 1)]
        lines.append(
            f"| {attack} | {poison:g} | {defence} | {100 * target:.1f} | {100 * (target - clean):+.1f} | "
            f"{100 * fmean(sight.names[0] / sight.names[1] for sight in seen):.1f} | {100 * fmean(sight.f1 for sight in seen):.1f} | "
            f"{denied[0]:,}, {denied[1]:,} | {fmean(sight.cpu_s for sight in seen):.0f} |"
        )
    return "\n".join(lines)


def _clean(
    cells: dict[tuple[str, float, str], list[tuple[Cell, Sight]]], attack: str, runs: Sequence[tuple[Cell, Sight]]
) -> float:
    """Recall of what an attack is after in the clean pool without a defence, with the same seeds."""
    seeds = {cell.seed for cell, _ in runs}
    return fmean(sight.recall(attack) for cell, sight in cells["clean", 0.0, "none"] if cell.seed in seeds)


def entries(grid: Measured, default: str) -> list[Entry]:
    """What the issue asks for: the drop of the target's recall under each attack, and what the default costs when nobody lies."""
    cells = group(grid)
    clean = {cell.seed: sight for cell, sight in cells["clean", 0.0, "none"]}
    found = [_cost(clean, cells["clean", 0.0, default])]
    for (attack, poison, defence), runs in cells.items():
        if attack != "clean":
            found.append(_drop(attack, poison, defence, clean, runs, default))
    return found


def _drop(
    attack: str,
    poison: float,
    defence: str,
    clean: dict[int, Sight],
    runs: Sequence[tuple[Cell, Sight]],
    default: str,
) -> Entry:
    drops = [clean[cell.seed].recall(attack) - sight.recall(attack) for cell, sight in runs]
    target = "names after the cue" if attack == "trigger context" else "trigger names"
    return Entry(
        f"poisoning: {attack}, {poison:g} of a hospital's sentences, defence {defence}: recall of {target} lost against the clean pool",
        round(100 * fmean(drops), 2),
        3.0 if defence == default else None,
        "<=" if defence == default else "",
        "points",
        _interval([100 * drop for drop in drops]),
        len(runs),
        DATA,
        COMMAND,
        f"{NOTE}; 95% over seeds; by seed {', '.join(f'{100 * drop:.1f}' for drop in drops)}",
        _commits(runs),
    )


def _cost(clean: dict[int, Sight], runs: Sequence[tuple[Cell, Sight]]) -> Entry:
    costs = [100 * (clean[cell.seed].f1 - sight.f1) for cell, sight in runs]
    return Entry(
        "poisoning: nobody lies, token-binary F1 that the default defence costs",
        round(fmean(costs), 2),
        0.3,
        "<=",
        "points",
        _interval(costs),
        len(runs),
        DATA,
        COMMAND,
        f"{NOTE}; 95% over seeds; by seed {', '.join(f'{cost:.1f}' for cost in costs)}",
        _commits(runs),
    )


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Percentile bootstrap of the mean over seeds: of three it says how far they lie apart, and little more."""
    drawn = np.random.default_rng(0).choice(np.array(values), (_RESAMPLES, len(values))).mean(1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return round(float(low), 2), round(float(high), 2)


def _commits(runs: Sequence[tuple[Cell, Sight]]) -> str:
    return ", ".join(sorted({commit_of(cell) for cell, _ in runs}))
