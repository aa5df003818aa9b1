"""Measures docs/results/papers.json on corpora that need a licence: `python -m bench.papers [PART]...`, all parts where none is named."""

from __future__ import annotations

import sys

from bench.papers import i2b2
from bench.results import measure_parts

PARTS = {"phicon": i2b2.phicon, "taggers": i2b2.taggers}


if __name__ == "__main__":
    sys.exit(measure_parts("papers", "bench.papers", PARTS, sys.argv[1:]))
