"""Part `growth`: memory of a training with 5 and with 20 simulated sites on one machine, and what 500 sites would take.

Run as a module it is one such training: `python -m bench.federated.growth SITES` prints its peak in KiB and the seconds of the provider's own work.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from aggregator.federated.plan import FederatedPlan
from bench.federated.invented import invented_shape, invented_sites
from bench.federated.participants import Participants, train_together
from bench.results import ROOT, Entry
from bench.speed.memory import peak_kib
from shared.federated.aggregation import cap_weights
from shared.federated.local import LocalRecipe
from shared.federated.screening import Limits, Sent, screen
from shared.federated.strategies import find_strategy
from shared.federated.weights import count_weights
from shared.training.tagging import TaggingConfig

COMMAND = "python -m bench.federated growth"
_FEW, _MANY, _PROJECTED = 5, 20, 500
_STRATEGY = "median"
"""The one that looks at all sites' numbers at once, and so takes the most."""
_OF_A_HEAD = 3
"""A head, and the two moments of its optimiser."""


def measure(few: int = _FEW, many: int = _MANY) -> Iterator[Entry]:
    """Growth for each further site, and the projection."""
    numbers = count_weights(invented_shape())
    peaks = {count: _child(count) for count in (few, many)}
    each = (peaks[many][0] - peaks[few][0]) * 1024 / (many - few)
    head = _OF_A_HEAD * 4 * numbers
    data = "invented numbers"
    note = f"{few} sites: {peaks[few][0] >> 10} MiB, {many} sites: {peaks[many][0] >> 10} MiB; a head and its optimiser: {head / 2**20:.1f} MiB; {_STRATEGY}"
    what = f"memory for each further simulated site, {few} to {many} sites"
    yield Entry(what, round(each / head, 3), 1.0, "<=", "heads and optimisers", None, 1, data, COMMAND, note)
    further = _PROJECTED - many
    peak = peaks[many][0] * 1024 + further * each
    seconds = peaks[many][1] / many * _PROJECTED
    why = f"measured with {few} and {many} sites, and drawn on in a straight line"
    yield _projected("peak memory of the provider", round(peak / 2**30, 2), "GiB", f"{why}; {_STRATEGY}")
    yield _projected(
        "the provider's own work in a round", round(seconds, 1), "s of CPU", f"{why}; screening, {_STRATEGY}"
    )
    moved = 2 * 4 * numbers * _PROJECTED
    note = f"{4 * numbers / 1e6:.1f} MB of weights out and back for each of {_PROJECTED}"
    yield _projected("moved in a round", round(moved / 1e9, 2), "GB", note)


def _projected(what: str, value: float, unit: str, note: str) -> Entry:
    return Entry(
        f"projection to {_PROJECTED} sites: {what}", value, None, "", unit, None, 1, "arithmetic", COMMAND, note
    )


def _child(sites: int) -> tuple[int, float]:
    command = (sys.executable, "-m", "bench.federated.growth", str(sites))
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    peak, seconds = done.stdout.split()
    return int(peak), float(seconds)


def main(sites: int) -> None:
    """Two rounds among so many sites; prints the peak, and what screening and combining once took."""
    import torch

    torch.set_num_threads(1)
    shape, plan = invented_shape(), FederatedPlan(_STRATEGY)
    train_together(Participants(invented_sites(sites, 2)), shape, TaggingConfig(epochs=2), plan)
    peak = peak_kib()
    numbers = count_weights(shape)
    start = np.zeros(numbers, dtype=np.float32)
    generator = np.random.default_rng(0)
    came = {f"{number}": generator.normal(size=numbers).astype(np.float32) for number in range(sites)}
    began = time.process_time()
    screen(start, {name: Sent(weights, 1) for name, weights in came.items()}, LocalRecipe(), Limits())
    updates = np.stack([weights - start for weights in came.values()])
    find_strategy(_STRATEGY).combine(updates, cap_weights(np.ones(sites)), 1)
    print(peak, time.process_time() - began)


if __name__ == "__main__":
    main(int(sys.argv[1]))
