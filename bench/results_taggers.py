"""Measures docs/results/taggers.json: `python -m bench.results_taggers [PART]...`, all whole parts where none is named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from bench.results import Entry, measure_parts
from bench.taggers import transformer

PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "transformer": transformer.measure,
}


if __name__ == "__main__":
    sys.exit(measure_parts("taggers", "bench.results_taggers", PARTS, sys.argv[1:]))
