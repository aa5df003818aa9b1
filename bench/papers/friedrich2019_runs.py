"""The runs of Friedrich et al. 2019: each is kept as it ends, and the report holds them for good.

`bench/.runs` has what this machine measured, document by document; `friedrich2019.json`, beside the report, has the figures
of every run there ever was, so that a report never depends on files that are not in the repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.outcomes import Outcome
from foundation.files import write_text
from foundation.reading import read_text
from shared.errors import ConfigurationError
from shared.evaluation import bootstrap_f1

ADVERSARIES = ("T1", "T2")
_FILE = "friedrich2019.json"


@dataclass(frozen=True)
class Run:
    """One run of a cell.

    Args:
        budget: its name.
        cell: name of its cell.
        seed: of everything random.
        token_f1: token-binary F1 on dev.
        token_interval: of it, bootstrap over documents.
        entity_f1: the same for entities, exact in span and category.
        entity_interval: of it.
        right: right decisions of each fresh adversary; empty where nothing was attacked.
        trials: decisions of each.
        control: share of right decisions of each adversary on clear word vectors.
        changed: share of PHI tokens that a pseudonym changed; None for other methods.
        commit: state of the code that made it.
    """

    budget: str
    cell: str
    seed: int
    token_f1: float
    token_interval: tuple[float, float]
    entity_f1: float
    entity_interval: tuple[float, float]
    right: dict[str, int]
    trials: int
    control: dict[str, float]
    changed: float | None
    commit: str

    @classmethod
    def read(cls, path: Path, budget: str, cell: str, seed: int) -> Run:
        """A run that was kept in bench/.runs.

        Raises:
            ConfigurationError: the file is not what this command writes.
        """
        try:
            found = json.loads(read_text(path))
            outcome = Outcome.of(found)
            attacks = {finding["attack"].rpartition(" ")[2]: finding for finding in found.get("findings", [])}
            right = {name: round(attacks[name]["value"] * attacks[name]["trials"]) for name in ADVERSARIES if attacks}
            control = {name: float(found["control"][name]) for name in right}
            trials = attacks["T1"]["trials"] if attacks else 0
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{path.name}: expected a kept run; remove it to measure afresh") from error
        return cls(
            budget,
            cell,
            seed,
            round(outcome.token_f1, 4),
            _interval(outcome.tokens),
            round(outcome.entity_f1, 4),
            _interval(outcome.entities),
            right,
            trials,
            control,
            found.get("changed"),
            outcome.commit,
        )

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Run:
        """A run of the report's file."""
        pairs = {name: tuple(item[name]) for name in ("token_interval", "entity_interval")}
        return cls(**{**item, **pairs})


def read_runs(folder: Path) -> list[Run]:
    """The runs that lie beside a report; none where there is no report yet.

    Raises:
        ConfigurationError: the file is not what this command writes.
    """
    path = folder / _FILE
    if not path.exists():
        return []
    try:
        return [Run.of(item) for item in json.loads(read_text(path))]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{_FILE}: expected a list of runs; restore the file from git") from error


def write(runs: Iterable[Run], folder: Path) -> None:
    """Put the runs beside the report, one a line."""
    ordered = sorted(runs, key=lambda run: (run.budget, run.cell, run.seed))
    lines = ",\n".join(json.dumps(asdict(run)) for run in ordered)
    write_text(folder / _FILE, f"[\n{lines}\n]\n", private=False)


def _interval(counts: list[list[int]]) -> tuple[float, float]:
    low, high = bootstrap_f1(np.array(counts, dtype=np.int64), np.random.default_rng(0))
    return round(low, 4), round(high, 4)
