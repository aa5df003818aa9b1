"""Measures docs/results/workbench.json: `python -m bench.results_workbench [PART...]`, all that are not quick where none is named."""

from __future__ import annotations

import sys

import torch

from bench.results import record
from bench.workbench import fragments, worth


def fragments_full() -> None:
    """What phrases that leave as text hold of identifiers, and how often they are linked to their note."""
    record("workbench", fragments.measure())


def fragments_tasks() -> None:
    """What models lose that learn from phrases, or from sentences behind noise, instead of whole notes."""
    torch.set_num_threads(1)
    record("workbench", worth.measure())


PARTS = {"fragments": fragments_full, "fragments-tasks": fragments_tasks}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    for part in sys.argv[1:] or [name for name in PARTS if not name.endswith("-quick")]:
        PARTS[part]()


if __name__ == "__main__":
    main()
