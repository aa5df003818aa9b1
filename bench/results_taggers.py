"""Measures docs/results/taggers.json: `python -m bench.results_taggers [PART]...`, all whole parts where none is named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from bench.generalise import adaptation, meddocan
from bench.results import Entry, measure_parts
from bench.taggers import khin2018, kinds, more_notes, parts, pooling, self_distilled, training_time, transformer

PARTS: dict[str, Callable[[], Iterable[Entry]]] = {
    "parts": parts.measure,
    "lm": lambda: khin2018.measure_language(khin2018.REDUCED),
    "khin": lambda: khin2018.measure(khin2018.REDUCED),
    "khin-full": lambda: khin2018.measure(khin2018.FULL),
    "meddocan": lambda: meddocan.measure_side("raw notes", 0.965, "python -m bench.results_taggers meddocan"),
    "more-notes": more_notes.measure,
    "training-time": training_time.measure,
    "transformer": transformer.measure,
    "transformer-table": lambda: transformer.measure(train=False),
    "pooling": pooling.measure,
    "pooling-table": lambda: pooling.measure(train=False),
    "self-distilled": self_distilled.measure,
    "self-distilled-table": lambda: self_distilled.measure(train=False),
    "kinds": kinds.measure,
    "kinds-table": lambda: kinds.measure(train=False),
    "adaptation": adaptation.measure,
    "adaptation-table": lambda: adaptation.measure(train=False),
}


if __name__ == "__main__":
    sys.exit(measure_parts("taggers", "bench.results_taggers", PARTS, sys.argv[1:]))
