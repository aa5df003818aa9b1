"""Measures docs/results/workbench.json: `python -m bench.results_workbench [PART...]`, the full ones where none is named.

Each part is a module of `bench.workbench`; a quick part measures the same with less, and prints instead of recording. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import torch

from bench.results import Entry, record
from bench.workbench import fragments, surrogates, worth

Part = Callable[[], Sequence[Entry]]

FULL: dict[str, Part] = {
    "surrogates": lambda: surrogates.measure(surrogates.FULL),
    "fragments": fragments.measure,
    "fragments-tasks": worth.measure,
}
QUICK: dict[str, Part] = {
    "surrogates-quick": lambda: surrogates.measure(surrogates.QUICK),
}


def main() -> None:
    """Measure the parts that the command line names."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or FULL:
        if name in QUICK:
            for entry in QUICK[name]():
                verdict = {None: "", True: ", reached", False: ", MISSED"}[entry.reached]
                print(f"{entry.measure}: {entry.value} {entry.unit}{verdict}\n  {entry.note}")
        else:
            record("workbench", FULL[name]())


if __name__ == "__main__":
    main()
