"""Measures docs/results/taggers.json: `python -m bench.results_taggers PART...`.

Like bench/results_generalise.py: every run is kept in bench/.runs, one torch thread.
"""

from __future__ import annotations

import sys

import torch

from bench.generalise import adaptation
from bench.results import record


def adaptations() -> None:
    """The released head adapted to 10, 50 and 100 corrected notes of an unseen hospital."""
    record("taggers", adaptation.measure("python -m bench.results_taggers adaptation"), whole=True)


def adaptations_so_far() -> None:
    """The same of the rotations that are there."""
    record("taggers", adaptation.measure("python -m bench.results_taggers adaptation", train=False), whole=True)


PARTS = {
    "adaptation": adaptations,
    "adaptation-table": adaptations_so_far,
}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ("adaptation",):
        PARTS[part]()


if __name__ == "__main__":
    main()
