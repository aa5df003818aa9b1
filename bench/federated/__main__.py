"""Measures docs/results/federated.json: `python -m bench.federated [PART]...`, all whole parts where none is named.

A part whose name ends in `-quick` does a tenth of the same, prints what it finds, and records nothing. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

import torch

from bench.federated import compared, growth, leakage, matrix, strategies
from bench.results import Entry, record

QUICK = "-quick"
PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "matrix": matrix.matrix,
    f"matrix{QUICK}": lambda: matrix.matrix(rounds=1),
    "deployment": matrix.deployment,
    "compared": compared.measure,
    f"compared{QUICK}": lambda: compared.measure(compared.QUICK),
    "strategies": strategies.measure,
    f"strategies{QUICK}": lambda: strategies.measure(strategies.QUICK),
    "growth": growth.measure,
    f"growth{QUICK}": lambda: growth.measure(3, 5),
    "leakage": leakage.measure,
    f"leakage{QUICK}": lambda: leakage.measure(leakage.QUICK),
}


def main(parts: Sequence[str]) -> int:
    """Measure and record; returns the exit code."""
    if not set(parts) <= set(PARTS):
        print(f"usage: python -m bench.federated [{'|'.join(PARTS)}]...", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    for part in parts or [name for name in PARTS if not name.endswith(QUICK)]:
        entries = []
        for entry in PARTS[part]():
            entries.append(entry)
            missed = ", MISSED" if entry.reached is False else ""
            print(f"{entry.value:8g} {entry.unit:12} {entry.measure}{missed} ({entry.note})", flush=True)
        if not part.endswith(QUICK):
            record("federated", entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
