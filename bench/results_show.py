"""Measures docs/results/show.json: `python -m bench.results_show [PART]...`, all whole parts where none is named.

A part whose name ends in `-quick` does the same in seconds, prints what it finds, and records nothing. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from bench.dashboard import measuring as dashboard
from bench.results import QUICK, Entry, measure_parts

PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "dashboard": dashboard.measure,
    f"dashboard{QUICK}": dashboard.measure_quick,
}


if __name__ == "__main__":
    sys.exit(measure_parts("show", "bench.results_show", PARTS, sys.argv[1:]))
