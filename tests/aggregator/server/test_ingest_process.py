"""The ingest in a process of its own, when the server ends: what may be cut is cut, what may not be is waited for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregator.errors import AggregatorError
from aggregator.server.ingest_process import IngestProcess

# Takes a question, shows it by a file, and answers once there is another file.
_CHILD = """
import pathlib, sys, time
root = pathlib.Path(sys.argv[1])
for line in sys.stdin:
    (root / "asked").touch()
    while not (root / "go").exists():
        time.sleep(0.01)
    print('{"state":"accepted","receipt":"signed"}', flush=True)
"""


class Waiting(IngestProcess):
    """With a child that answers when it is let."""

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _CHILD, str(self._root)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self._process


def begun(root: Path, work: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """A question that has reached the child, and what came or will come of it."""
    outcome: list[object] = []

    def ask() -> None:
        try:
            outcome.append(work())
        except AggregatorError as error:
            outcome.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    while not (root / "asked").exists():
        thread.join(0.01)
    return thread, outcome


def test_a_server_that_ends_cuts_a_resume(tmp_path: Path) -> None:
    process = Waiting(tmp_path)
    thread, outcome = begun(tmp_path, process.resume)
    process.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert isinstance(outcome[0], AggregatorError)
    process.close()


def test_a_server_that_ends_waits_for_the_share_that_is_taken_in_but_begins_no_other(tmp_path: Path) -> None:
    process = Waiting(tmp_path)
    thread, outcome = begun(tmp_path, lambda: process.take_in(tmp_path / "a.part").state)
    waiting, refused = begun(tmp_path, lambda: process.take_in(tmp_path / "b.part").state)
    process.stop()
    (tmp_path / "go").touch()
    thread.join(60)
    waiting.join(60)
    assert outcome == ["accepted"]
    assert isinstance(refused[0], AggregatorError)
    with pytest.raises(AggregatorError, match="ends"):
        process.resume()
    process.close()


def test_a_resume_that_is_over_is_no_reason_to_cut_the_share_after_it(tmp_path: Path) -> None:
    process = Waiting(tmp_path)
    (tmp_path / "go").touch()
    process.resume()
    for name in ("asked", "go"):
        (tmp_path / name).unlink()
    thread, outcome = begun(tmp_path, lambda: process.take_in(tmp_path / "a.part").state)
    process.stop()
    (tmp_path / "go").touch()
    thread.join(60)
    assert outcome == ["accepted"]
    process.close()
