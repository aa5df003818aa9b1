"""`site-client deid --part` by two programs, against `deid` by one: whole commands, turn by turn, with the same bytes at the end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.results import Entry
from bench.scale import world
from bench.scale.busy import median_of, state_of_machine
from shared.text.tokens import cut_tokens

COMMAND = "python -m bench.results_show scale"
# So many that the start of a program, seconds, weighs as little as it does beside millions.
TURNS, NOTES = 5, 3200


@dataclass(frozen=True)
class Sharding:
    """What was measured.

    Args:
        tokens_a_second: of one program, a CPU second.
        entries: for the record.
    """

    tokens_a_second: float
    entries: tuple[Entry, ...]


def measure(folder: Path) -> Sharding:
    """Both ratios.

    Args:
        folder: of `world.build`.
    """
    notes = folder / "notes.jsonl"
    characters = world.write_notes(notes, NOTES)
    tokens = sum(len(cut_tokens(text)[0]) for text in _texts(notes))
    walls, spent, speeds = [], [], []
    for turn in range(TURNS):
        out = folder / f"out-{turn}"
        ((one, took),) = _run(folder, [[str(notes), "--out", str(out / "whole")]])
        parts = [[str(notes), "--out", str(out / str(number)), "--part", f"{number}/2"] for number in (1, 2)]
        two = _run(folder, parts)
        _merge(out)
        walls.append(took / max(wall for _, wall in two))
        spent.append(one / max(cpu for cpu, _ in two))
        speeds.append(tokens / one)
    note = f"{NOTES} notes, {characters} characters, whole commands of one process each, the same bytes merged; median and range of {TURNS} turns, one program and two in turn"
    entries = (
        _entry(
            "deid by two programs that share the notes, over one", walls, f"by the clock; {note}; {state_of_machine()}"
        ),
        _entry(
            "deid by two programs that share the notes, over one, each on a core of its own",
            spent,
            f"by CPU seconds of the slower one; {note}",
        ),
    )
    return Sharding(median_of(speeds)[0], entries)


def _texts(notes: Path) -> Iterator[str]:
    from shared.corpus import read_corpus

    return (note.text for note in read_corpus(notes))


def _run(folder: Path, commands: list[list[str]]) -> list[tuple[float, float]]:
    """CPU seconds and wall clock of commands that run at the same time, each one process."""
    before = os.environ | {"OMP_NUM_THREADS": "1"}
    begin = time.monotonic()
    rest = ["--jobs", "1", "--workspace", str(folder / "user")]
    running = {
        process.pid: index
        for index, command in enumerate(commands)
        for process in [
            subprocess.Popen(
                [sys.executable, "-m", "site_client", "deid", *command, *rest], env=before, stdout=subprocess.DEVNULL
            )
        ]
    }
    found = [(0.0, 0.0)] * len(commands)
    while running:
        pid, status, used = os.wait3(0)
        if status:
            raise RuntimeError(f"deid: expected it to end well, it ended with {os.waitstatus_to_exitcode(status)}")
        found[running.pop(pid)] = (used.ru_utime + used.ru_stime, time.monotonic() - begin)
    return found


def _merge(out: Path) -> None:
    """Both parts together are the whole.

    Raises:
        RuntimeError: they are not.
    """
    merge = [
        sys.executable,
        "-m",
        "site_client",
        "deid-merge",
        str(out / "1"),
        str(out / "2"),
        "--out",
        str(out / "merged"),
    ]
    subprocess.run(merge, check=True, stdout=subprocess.DEVNULL)
    whole, merged = ({path.name: path.read_bytes() for path in (out / name).iterdir()} for name in ("whole", "merged"))
    if whole != merged or len(whole) != NOTES:
        raise RuntimeError("expected the parts to make what one run writes, they make something else")


def _entry(measure: str, values: list[float], note: str) -> Entry:
    value, interval = median_of(values)
    return Entry(measure, value, 1.8, ">=", "times", interval, len(values), "generated notes", COMMAND, note)
