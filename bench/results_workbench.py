"""Measures docs/results/workbench.json: `python -m bench.results_workbench [PART]...`, all whole parts where none is named.

A part whose name ends in `-quick` does the same in seconds, prints what it finds, and records nothing. One torch thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from bench.results import QUICK, Entry, measure_parts
from bench.workbench import fragments, review, worth
from bench.workbench.surrogates import measuring as surrogates

PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "surrogates": lambda: surrogates.measure(surrogates.FULL),
    f"surrogates{QUICK}": lambda: surrogates.measure(surrogates.QUICK),
    "fragments": fragments.measure,
    "fragments-tasks": worth.measure,
    "review": review.measure,
    f"review{QUICK}": lambda: review.measure(review.QUICK),
}


if __name__ == "__main__":
    sys.exit(measure_parts("workbench", "bench.results_workbench", PARTS, sys.argv[1:]))
