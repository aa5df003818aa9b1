"""CPU seconds of the tests, of all processes that they start, and minutes of what CI runs."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from bench.results import ROOT, Entry

_TARGETS = {"test": ("the whole suite (make test)", 600), "unit": ("the quick tests (make unit)", 60)}


def measure(command: str) -> list[Entry]:
    """The suite and its quick part, with the last line that pytest printed."""
    entries = []
    for target, (name, most) in _TARGETS.items():
        before = os.times()
        done = subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, check=True)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        told = done.stdout.strip().splitlines()[-1]
        entries.append(
            Entry(name, round(spent), most, "<=", "CPU s", None, 1, f"{os.cpu_count()} cores", command, told)
        )
    return entries


def measure_ci(command: str) -> list[Entry]:
    """`.ci/run` in a clean clone, the installation included."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        began = time.monotonic()
        subprocess.run(
            ["bash", ".ci/run"], cwd=clone, capture_output=True, check=True, env={**os.environ, "CI": "true"}
        )
        minutes = round((time.monotonic() - began) / 60, 1)
    note = "wall clock, packages from a near mirror; measured alone on the machine"
    return [
        Entry(".ci/run in a clean clone", minutes, 30, "<=", "min", None, 1, f"{os.cpu_count()} cores", command, note)
    ]
