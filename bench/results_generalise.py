"""Measures docs/results/generalise.json: `python -m bench.results_generalise [PART...]`, all but `certainties` where none is named.

Like bench/results_privacy.py: every run is kept in bench/.runs, one torch thread.
"""

from __future__ import annotations

import sys

import torch

from bench.generalise import distant, meddocan, phicon, recognisers, rotations, speed
from bench.results import record


def patterns() -> None:
    """Every kind of pattern by itself, on held-out notes."""
    record("generalise", recognisers.measure(), whole=True)


def certainties() -> None:
    """What every kind states beside what training notes say; prints, and records nothing."""
    print("\n".join(recognisers.certainties()))


def rotations_full() -> None:
    """What follows the tagger, step by step, at unseen hospitals; three seeds."""
    record("generalise", rotations.measure(rotations.FULL), whole=True)


def rotations_table() -> None:
    """The same of the trainings that are there."""
    record("generalise", rotations.measure(rotations.FULL, train=False), whole=True)


def rotations_quick() -> None:
    """The same with one seed, the release and raw notes alone."""
    record("generalise", rotations.measure(rotations.QUICK), whole=True)


def phicon_full() -> None:
    """Augmentation at unseen hospitals, by part of the notes, by number of copies and by method; five rotations, three seeds, short trainings."""
    record("generalise", phicon.measure(phicon.FULL), whole=True)


def phicon_table() -> None:
    """The same of the trainings that are there."""
    record("generalise", phicon.measure(phicon.FULL, train=False), whole=True)


def phicon_quick() -> None:
    """Some of the same for minutes, on training notes; prints, and records nothing."""
    for entry in phicon.measure(phicon.QUICK):
        print(f"{entry.value:8.4f}  {entry.interval}  {entry.measure}")


def second_language() -> None:
    """MEDDOCAN's development notes; three seeds."""
    record("generalise", meddocan.measure(), whole=True)


def distant_domains() -> None:
    """Texts that are no notes; three seeds."""
    record("generalise", distant.measure(), whole=True)


def speeds() -> None:
    """`deid` beside other taggers; needs DEID_COMMONS_PEERS, and a machine that does nothing else."""
    record("generalise", speed.measure(), whole=True)


PARTS = {
    "patterns": patterns,
    "certainties": certainties,
    "rotations": rotations_full,
    "rotations-table": rotations_table,
    "rotations-quick": rotations_quick,
    "meddocan": second_language,
    "distant": distant_domains,
    "speed": speeds,
    "phicon": phicon_full,
    "phicon-table": phicon_table,
    "phicon-quick": phicon_quick,
}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ("patterns", "rotations", "meddocan", "distant", "speed", "phicon"):
        PARTS[part]()


if __name__ == "__main__":
    main()
