"""`python -m bench [--record]`: speeds as ratios, in one run on one torch thread; a few minutes.

--record also writes them into docs/results/loop.json.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import torch

from bench.results import Entry, record
from bench.speed import crf as speed_crf
from bench.speed import encode as speed_encode
from bench.speed import material as speed_material
from bench.speed import memory as speed_memory
from bench.speed import tagger as speed_tagger

COMMAND = "python -m bench --record"
_LSTM_NOTES = 200


def measure_speeds() -> list[Entry]:
    """Every speed, each printed as it is known."""
    vectors = speed_material.word_vectors()
    sentences = speed_material.embedded_notes(_LSTM_NOTES, vectors)
    entries = _shown(speed_crf.measure(sentences, COMMAND))
    entries += _shown(speed_tagger.measure(sentences, COMMAND))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = speed_material.site_workspace(folder, vectors)
        for source in speed_encode.sources(folder):
            found, stages = speed_encode.measure(source, site, vectors, COMMAND)
            entries += _shown(found)
            print(stages, flush=True)
        entries += _shown(speed_memory.measure(folder, site, COMMAND))
    return entries


def _shown(entries: list[Entry]) -> list[Entry]:
    for entry in entries:
        interval = "" if entry.interval is None else f"({entry.interval[0]:.2f} to {entry.interval[1]:.2f})"
        aim = (
            ""
            if entry.target is None
            else f"{entry.direction} {entry.target:g} {'reached' if entry.reached else 'MISSED'}"
        )
        print(f"{entry.value:7.2f} {interval:16} {aim:16} {entry.measure}", flush=True)
    return entries


def main(arguments: list[str]) -> int:
    """Measure, print, and with --record write; returns the exit code."""
    if arguments not in ([], ["--record"]):
        print("usage: python -m bench [--record]", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    began = time.monotonic()
    entries = measure_speeds()
    print(f"in {time.monotonic() - began:.0f} s")
    if arguments:
        record("loop", entries)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
