"""Measures the figures of docs/results/house.json: `python -m bench.house [PART...]`, all parts where none is named.

The share of deliberate breaks that the tests notice is recorded by `make mutants`.
"""

from __future__ import annotations

import sys

from bench.house import start_up, structure, suite
from bench.results import record

PARTS = {"structure": structure.measure, "start-up": start_up.measure, "suite": suite.measure, "ci": suite.measure_ci}


def main(parts: list[str]) -> int:
    """Measure and record; returns the exit code."""
    if not set(parts) <= set(PARTS):
        print(f"usage: python -m bench.house [{'|'.join(PARTS)}]...", file=sys.stderr)
        return 2
    for part in parts or PARTS:
        entries = PARTS[part](f"python -m bench.house {part}")
        for entry in entries:
            print(f"{entry.value:8g} {entry.unit:12} {entry.measure}", flush=True)
        record("house", entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
