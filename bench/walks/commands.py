"""Part `commands` of docs/results/show.json: how many commands lead from a clean machine to two hospitals' shares over HTTPS."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.results import Entry
from bench.walks.walk import SHORT, install, prepare, script_of, walk

AHEAD = ("git clone", "make demo", ". .venv/bin/activate")
"""What is typed ahead of the walk: it is how its programs and notes got here, and CI types it."""


def typed(script: str) -> list[str]:
    """Every command that a person types in a script; waiting for a server, which a person does by looking, is none."""
    return [
        line for line in script.splitlines() if re.match(r"[a-z]", line) and not line.startswith(("answers ", "cd "))
    ]


def measure() -> Iterator[Entry]:
    """Walk, then count.

    Raises:
        RuntimeError: the walk ended with a code.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = walk(SHORT, install(folder), folder / "short", prepare(folder))
    if done.code:
        raise RuntimeError(f"expected {SHORT} to end well, got code {done.code} behind: {done.transcript[-500:]}")
    count = len(AHEAD) + len(typed(script_of(SHORT)))
    yield Entry(
        "commands from a clean machine to two hospitals' shares over HTTPS",
        count,
        25,
        "<=",
        "commands",
        None,
        1,
        "generated notes",
        "python -m bench.results_show commands",
        f"{', '.join(AHEAD)}, then bench/walks/{SHORT}; what each prints: docs/first-day.md",
    )
