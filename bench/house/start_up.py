"""What the light commands cost before they do anything: CPU seconds of a process, and whether it imported torch."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.results import ROOT, Entry

TURNS = 7
# What the console script does, and then a word on what that imported.
_PROBE = """
import sys
from site_client.commands.cli import main
try:
    main(prog_name="site-client")
finally:
    print("torch" in sys.modules, file=sys.stderr)
"""


def cpu_seconds(arguments: list[str]) -> tuple[float, bool]:
    """CPU seconds, system time included, of one `site-client` process, and whether torch was imported in it."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, done.stderr.split()[-1] == "True"


def measure(command: str) -> list[Entry]:
    """Medians over turns, the commands in turn."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            (cpu_seconds(["--help"]), cpu_seconds(["init", str(Path(folder) / str(turn)), "--site", "st-anne"]))
            for turn in range(TURNS)
        ]
    entries = []
    for name, taken in zip(("--help", "init"), zip(*runs, strict=True), strict=True):
        seconds = [spent for spent, _ in taken]
        torch = any(imported for _, imported in taken)
        interval = (round(min(seconds), 3), round(max(seconds), 3))
        note = f"median of {TURNS}, the interval is their range; {'imports torch' if torch else 'without torch'}"
        median = round(float(np.median(seconds)), 3)
        entries.append(
            Entry(f"site-client {name}", median, 0.5, "<=", "CPU s", interval, TURNS, "an empty folder", command, note)
        )
    return entries
