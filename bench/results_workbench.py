"""Measures docs/results/workbench.json: `python -m bench.results_workbench [PART]...`, all whole parts where none is named.

A part whose name ends in `-quick` does the same in seconds, prints what it finds, and records nothing. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

import torch

from bench.results import Entry, record
from bench.workbench import fragments, review, worth
from bench.workbench.surrogates import measuring as surrogates

QUICK = "-quick"
PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "surrogates": lambda: surrogates.measure(surrogates.FULL),
    f"surrogates{QUICK}": lambda: surrogates.measure(surrogates.QUICK),
    "fragments": fragments.measure,
    "fragments-tasks": worth.measure,
    "review": review.measure,
    f"review{QUICK}": lambda: review.measure(review.QUICK),
}


def main(parts: Sequence[str]) -> int:
    """Measure and record; returns the exit code."""
    if not set(parts) <= set(PARTS):
        print(f"usage: python -m bench.results_workbench [{'|'.join(PARTS)}]...", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    for part in parts or [name for name in PARTS if not name.endswith(QUICK)]:
        entries = []
        for entry in PARTS[part]():
            entries.append(entry)
            missed = ", MISSED" if entry.reached is False else ""
            print(f"{entry.value:8g} {entry.unit:12} {entry.measure}{missed} ({entry.note})", flush=True)
        if not part.endswith(QUICK):
            record("workbench", entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
