"""Parts `matrix` and `deployment`: what it costs to try everything, in one process and with real ones on loopback."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import product

from aggregator.federated.plan import FederatedPlan
from bench.federated.invented import invented_shape, invented_sites
from bench.federated.participants import Participants, train_together
from bench.results import ROOT, Entry
from shared.errors import ConfigurationError
from shared.federated.private import NoteNoise
from shared.federated.strategies import STRATEGIES
from shared.training.tagging import TaggingConfig

COMMAND, DEPLOYMENT_COMMAND = "python -m bench.federated matrix", "python -m bench.federated deployment"
_TEST = "tests/e2e/test_federated_flower.py"
_MOST_MATRIX_S, _MOST_DEPLOYMENT_S = 60.0, 90.0
# As many steps as with six notes in batches of eight, before batches of four were chosen.
_ROUNDS, _NOTES, _HIDDEN = 2, 3, 32
_SITES, _LIARS = (2, 5, 20), (0, 1)
_ADOPT_ORPHANS = 36


def matrix(rounds: int = _ROUNDS) -> Iterator[Entry]:
    """Every strategy, for 2, 5 and 20 sites, for none and one that may lie, with and without noise; as far as sites suffice."""
    began, trainings = time.process_time(), 0
    shape, noise = invented_shape(_HIDDEN), NoteNoise(1.0, steps=4, rate=0.25)
    for count, name, liars, drawn in product(_SITES, STRATEGIES, _LIARS, (None, noise)):
        if STRATEGIES[name].least_results(liars) > count:
            continue
        taking = Participants(invented_sites(count, _NOTES), drawn)
        course = train_together(taking, shape, TaggingConfig(epochs=rounds), FederatedPlan(name, liars=liars))
        assert len(course.history) == rounds
        trainings += 1
    note = f"{trainings} trainings of {rounds} rounds; {_NOTES} invented notes a site, a head of {_HIDDEN} units a direction"
    measure = "the matrix of strategies, sites, liars and noise in one process"
    spent = time.process_time() - began
    yield Entry(measure, round(spent, 1), _MOST_MATRIX_S, "<=", "s of CPU", None, 1, "invented numbers", COMMAND, note)


def deployment() -> Iterator[Entry]:
    """The test of a real deployment, with all processes that it starts, whoever ends them.

    Raises:
        ConfigurationError: Flower is not here, or the test fails.
    """
    if find_spec("flwr") is None:
        raise ConfigurationError(
            "expected an environment with Flower, got one without; run this part in that of `make federated`"
        )
    # What is left behind by a process that was killed is handed to this one, so that its time counts.
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-n", "0", _TEST]
    done = subprocess.run(command, env=os.environ | {"DEID_COMMONS_EXPECT": "flower"}, cwd=ROOT, check=False)
    waited = time.monotonic() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()
    if done.returncode:
        raise ConfigurationError(f"expected {_TEST} to pass, it failed; see above")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    note = f"link, three hospitals' nodes, gates, a kill and all refusals; {waited:.0f} s on the clock, of which a minute is waited for the killed node"
    measure = "a real deployment on loopback, its test"
    yield Entry(
        measure,
        round(spent, 1),
        _MOST_DEPLOYMENT_S,
        "<=",
        "s of CPU",
        None,
        1,
        "generated notes",
        DEPLOYMENT_COMMAND,
        note,
    )
