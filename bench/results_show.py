"""Measures docs/results/show.json: `python -m bench.results_show [PART]...`, all whole parts where none is named.

A part whose name ends in `-quick` does some of the same, prints what it finds, and records nothing. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from bench.dashboard import measuring as dashboard
from bench.release import units
from bench.results import QUICK, Entry, measure_parts
from bench.scale import measuring as scale
from bench.scale import training
from bench.walks import commands

PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "dashboard": dashboard.measure,
    f"dashboard{QUICK}": dashboard.measure_quick,
    "deploy": units.measure,
    "commands": commands.measure,
    "scale": scale.measure,
    f"scale{QUICK}": training.measure,
}


if __name__ == "__main__":
    sys.exit(measure_parts("show", "bench.results_show", PARTS, sys.argv[1:]))
