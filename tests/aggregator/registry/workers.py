"""What other processes do to a registry, for tests; they are started afresh, so that they share no connection."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from aggregator.registry import audit_log, open_registry
from tests.aggregator.registry.rows import site

ROOT = Path(__file__).parents[3]


def start(work: str, url: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A process that does one of the works below."""
    command = [sys.executable, "-m", __name__, work, url, *map(str, arguments)]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def append(url: str, worker: str, count: str) -> None:
    """Adds events, each in a transaction of its own."""
    registry = open_registry(url)
    for number in range(int(count)):
        with registry.transaction() as session:
            audit_log.append(session, worker, "test", {"number": number})


def hang(url: str) -> None:
    """Writes, says so, and never commits."""
    with open_registry(url).transaction() as session:
        session.add(site("lost"))
        audit_log.append(session, "lost", "test", {})
        print("written", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    works: dict[str, Callable[..., None]] = {"append": append, "hang": hang}
    works[sys.argv[1]](*sys.argv[2:])
