"""Measures docs/results/generalise.json: `python -m bench.results_generalise [PART...]`, all but `certainties` where none is named.

Like bench/results_privacy.py: every run is kept in bench/.runs, one torch thread.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from aggregator.demo import demonstration
from bench.generalise import distant, meddocan, phicon, recognisers, rotations, speed
from bench.outcomes import load_or_measure
from bench.results import Entry, record
from shared.progress import silent

_DEMO_SEEDS = (0, 1, 2)


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


def demonstrations() -> None:
    """What the demonstration's release does at the hospital that shared nothing; three seeds, the first the one that a user sees."""
    runs = [load_or_measure(f"demonstration-{seed}", lambda seed=seed: _demonstrate(seed)) for seed in _DEMO_SEEDS]  # type: ignore[misc]
    entries = []
    for name, measure, target in (
        ("recall", "token recall", 0.9),
        ("precision", "token precision", None),
        ("hidden", "entities hidden whole", None),
    ):
        values = [run[name] for run in runs]
        entries.append(
            Entry(
                f"the demonstration's unseen hospital, {measure}",
                round(statistics.fmean(values), 4),
                target,
                ">=" if target else "",
                "of entities" if name == "hidden" else "of tokens",
                (min(values), max(values)),
                len(runs),
                "generated notes",
                "python -m bench.results_generalise demonstration",
                f"`make demo`, default operating point; by seed {', '.join(f'{value:.3f}' for value in values)}; the interval is the range over seeds",
                ", ".join(sorted({run["commit"] for run in runs})),
            )
        )
    record("generalise", entries, whole=True)


def _demonstrate(seed: int) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        demonstration.run(demo, demonstration.Scale("en", demonstration.NOTES["en"], seed), lambda line: None, silent)
        rows = json.loads((demo / "demo.json").read_text(encoding="utf-8"))["rows"]
    [private] = [row for row in rows if row["label"].startswith("(b)")]
    return {name: round(private[name], 4) for name in ("recall", "precision", "hidden")}


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
    "demonstration": demonstrations,
    "speed": speeds,
    "phicon": phicon_full,
    "phicon-table": phicon_table,
    "phicon-quick": phicon_quick,
}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    torch.set_num_threads(1)
    for part in sys.argv[1:] or ("patterns", "rotations", "meddocan", "distant", "demonstration", "speed", "phicon"):
        PARTS[part]()


if __name__ == "__main__":
    main()
