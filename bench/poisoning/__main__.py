"""`python -m bench.poisoning`: a hospital that lies against every defence; docs/results/poisoning.md, and gate.json with `--record`.

First every defence against every attack, at one size with one seed; then no defence and the default against every attack at three sizes
with three seeds. Each cell is kept in bench/.runs under what decides it, so a run that was cut goes on where it stopped. About forty
CPU-minutes on one core. `--quick` measures only no defence and the default, at one size with one seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import torch

from aggregator.training.defences.registry import DEFAULT, DEFENCES
from bench.poisoning.attacks import ATTACKS
from bench.poisoning.cells import Cell, measure
from bench.poisoning.report import entries, table
from bench.poisoning.world import Size
from bench.results import RESULTS, record
from foundation.files import write_text

WORLD = Size(sentences=1000, test=200, cluster=1000)
EPOCHS, HIDDEN = 3, 32
POISON = (0.1, 0.5, 1.0)
ONE = 0.5
SEEDS = (1, 2, 3)


def cell(attack: str, poison: float, defence: str, seed: int) -> Cell:
    """One cell of the grid; without an attack there is one size."""
    return Cell(attack, 0.0 if attack == "clean" else poison, defence, seed, WORLD, EPOCHS, HIDDEN)


def side_by_side() -> Iterator[Cell]:
    """Every defence at one size, with one seed."""
    for attack in ATTACKS:
        for defence in DEFENCES:
            yield cell(attack, ONE, defence, 1)


def compared(seeds: tuple[int, ...] = SEEDS, sizes: tuple[float, ...] = POISON) -> Iterator[Cell]:
    """No defence and the default, at every size, with every seed."""
    for seed in seeds:
        for attack in ATTACKS:
            for poison in sizes[:1] if attack == "clean" else sizes:
                for defence in ("none", DEFAULT):
                    yield cell(attack, poison, defence, seed)


def main() -> None:
    """Measure, print, and record where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two defences, one size, one seed; nothing is recorded")
    parser.add_argument("--record", action="store_true", help="write docs/results")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.quick:
        print(table([(one, measure(one)) for one in compared((1,), (ONE,))]))
        return
    # The clean cells first: what the others are held against.
    first = [(one, measure(one)) for one in side_by_side()]
    grid = [(one, measure(one)) for one in compared()]
    print(table(first), table(grid), sep="\n\n")
    if asked.record:
        record("gate", entries(grid, DEFAULT))
        write_text(RESULTS / "poisoning.md", _page(table(first), table(grid)), private=False)


def _page(first: str, grid: str) -> str:
    return "\n".join(
        [
            "# A hospital that lies, against every defence",
            "",
            "Written by `make results-poisoning`; do not edit. Five hospitals of `en_sites` and a provider, 1,000 sentences each, small heads",
            "(BiLSTM-CRF of 32 units, three passes). One hospital adds sentences that mislead, as a share of an honest hospital's; by volume it also",
            "sends everything four times. Recall of the target, in points: of the trigger names, after the cue in the case of trigger context, in",
            "700 inserted mentions a seed at the hospitals that do not lie. Beside it names as they stand in the notes, and token-binary F1.",
            "",
            "## Every defence, one size, one seed",
            "",
            first,
            "",
            "## No defence and the default, three sizes, three seeds",
            "",
            grid,
            "",
        ]
    )


if __name__ == "__main__":
    main()
