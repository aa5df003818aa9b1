"""Encoding with the default construction today beside encoding as it was when a share held a vector for each token.

The code of then comes from the history of the repository, and runs with the packages of today. Then nothing was kept of what a hospital had
shared, nothing looked for PHI that nobody had labelled, and where a text was cut depended on its PHI.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.results import Entry
from bench.speed.material import DATA, SCHEME, notes
from bench.speed.ratio import ratio
from shared.corpus import write_corpus

COMMAND = "python -m bench.results_privacy encode-then"
THEN = "64948acc"
NOTES, PUBLIC, TURNS = 2400, 200, 5
_ROOT = Path(__file__).parents[2]
_PROGRAM = Path(__file__).with_name("encode_once.py")
_UNCHECKED = "hide_above"


def measure() -> list[Entry]:
    """How much faster encoding is than then, whole and in parts; in turns, so that whatever slows the machine slows all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(notes(PUBLIC, 1000), folder / "public", SCHEME)
        write_corpus(notes(NOTES, 1), folder / "notes", SCHEME)
        then, today = _Code(folder, "then"), _Code(folder, "today")
        turns = [(then.encode(), today.encode(), today.encode(_UNCHECKED), today.cut()) for _ in range(TURNS)]
    before, now, unchecked, cut = zip(*turns, strict=True)
    sizes = f"bytes of the share: {before[0][2]:.0f} then, {now[0][2]:.0f} today"
    rows = (
        ("tokens a CPU second over those of then", 0, now, 3.0),
        ("tokens a CPU second over those of then, not looking for what nobody labelled", 0, unchecked, None),
        ("making and writing what leaves: tokens a CPU second over those of then", 1, now, None),
        ("reading and cutting the notes alone: tokens a CPU second over those of all of encoding then", 0, cut, None),
    )
    entries = []
    for what, part, after, target in rows:
        found = ratio([one[part] for one in before], [one[part] for one in after])
        seconds = f"CPU seconds in the first turn {before[0][part]:.1f} then, {after[0][part]:.1f} today"
        entries.append(
            Entry(
                f"encode with the default construction: {what}",
                found.value,
                target,
                ">=" if target else "",
                "times",
                (found.low, found.high),
                TURNS,
                DATA,
                COMMAND,
                f"{NOTES} notes, {seconds}; {sizes}; then: commit {THEN}; interval: bootstrap over {TURNS} turns",
            )
        )
    return entries


class _Code:
    """A state of the code, with a provider and a hospital of its own.

    Args:
        folder: holds public/ and notes/.
        name: "then" or "today".
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder / name
        self._folder.mkdir()
        self._root = _ROOT
        if name == "then":
            self._root = folder / "code"
            self._root.mkdir()
            packed = subprocess.run(["git", "archive", THEN], cwd=_ROOT, check=False, capture_output=True)
            if packed.returncode:
                sys.exit(f"expected commit {THEN} in the history of this checkout, found none; fetch the whole history")
            subprocess.run(["tar", "-x", "-C", str(self._root)], input=packed.stdout, check=True)
        self._run("prepare", "../public")

    def encode(self, *without: str) -> tuple[float, ...]:
        """CPU seconds, those of making and writing, and bytes."""
        return tuple(map(float, self._run("encode", "../notes", *without).split()))

    def cut(self) -> tuple[float]:
        """CPU seconds of reading the notes and cutting them."""
        return (float(self._run("cut", "../notes")),)

    def _run(self, *arguments: str) -> str:
        command = [sys.executable, str(_PROGRAM), *arguments]
        environment = os.environ | {"PYTHONPATH": str(self._root), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=self._folder, env=environment, check=True, stdout=subprocess.PIPE, encoding="utf-8"
        )
        return done.stdout.strip()
