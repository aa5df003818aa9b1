"""The ingest in a process of its own, when the server ends: what may be cut is cut, what may not be is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from aggregator.errors import AggregatorError
from aggregator.server import ingest_process
from aggregator.server.ingest_process import IngestProcess, IngestWorkers
from bench.exchange.world import World

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


# Says which process answers, and answers to a bundle once no file of its name with .wait is there.
_SIDE_BY_SIDE = """
import json, os, pathlib, sys, time
for line in sys.stdin:
    path = pathlib.Path(json.loads(line).get("bundle", "resume"))
    path.with_suffix(".begun").touch()
    while path.with_suffix(".wait").exists():
        time.sleep(0.01)
    print(json.dumps({"state": "accepted", "receipt": str(os.getpid())}), flush=True)
"""


class Waiting(IngestProcess):
    """With a child that answers when it is let."""

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _CHILD, str(self._root)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self._process


class SideBySide(IngestProcess):
    """With a child that is kept waiting by a file beside a bundle."""

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _SIDE_BY_SIDE]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self._root
        )
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


@pytest.mark.parametrize("question", ["a share", "a resume"])
def test_a_process_that_does_not_answer_is_killed_and_the_next_question_has_another(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Waiting(tmp_path)
    ask = {"a share": lambda: process.take_in(tmp_path / "a.part"), "a resume": process.resume}[question]
    # It runs: what it takes to start on a busy machine is longer than it is waited for below.
    (tmp_path / "go").touch()
    process.take_in(tmp_path / "a.part")
    for name in ("asked", "go"):
        (tmp_path / name).unlink()
    with monkeypatch.context() as patch:
        for name in ("_ANSWER_S", "_RESUMED_S"):
            patch.setattr(ingest_process, name, 0.3)
        with pytest.raises(AggregatorError, match="did not come for hours"):
            ask()
    assert (tmp_path / "asked").exists()
    (tmp_path / "go").touch()
    assert process.take_in(tmp_path / "a.part").state == "accepted"
    process.close()


def test_a_large_bundle_is_waited_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process, large = Waiting(tmp_path), tmp_path / "large.part"
    with large.open("wb") as file:
        file.truncate(16 << 30)
    monkeypatch.setattr(ingest_process, "_ANSWER_S", 0.0)
    thread, outcome = begun(tmp_path, lambda: process.take_in(large).state)
    (tmp_path / "go").touch()
    thread.join(60)
    assert outcome == ["accepted"]
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


def ask_all(workers: IngestWorkers, bundles: list[Path]) -> tuple[list[threading.Thread], dict[str, bytes]]:
    """Asks for all at once; the receipts by the name of the bundle, as they come."""
    receipts: dict[str, bytes] = {}

    def ask(path: Path) -> None:
        receipts[path.name] = workers.take_in(path).receipt

    threads = [threading.Thread(target=ask, args=(path,), daemon=True) for path in bundles]
    for thread in threads:
        thread.start()
    return threads, receipts


def wait_for(*paths: Path) -> None:
    while not all(path.exists() for path in paths):
        time.sleep(0.01)


def test_a_share_that_takes_long_keeps_no_other_waiting(tmp_path: Path) -> None:
    with closing(IngestWorkers(tmp_path, 2, SideBySide)) as workers:
        slow, quick = tmp_path / "slow.part", [tmp_path / f"{number}.part" for number in range(3)]
        slow.with_suffix(".wait").touch()
        held, late = ask_all(workers, [slow])
        wait_for(slow.with_suffix(".begun"))
        threads, receipts = ask_all(workers, quick)
        for thread in threads:
            thread.join(60)
        assert len(receipts) == 3
        assert not late
        # The others share one process: there are no more than were asked for.
        assert len(set(receipts.values())) == 1
        slow.with_suffix(".wait").unlink()
        held[0].join(60)
        assert late["slow.part"] not in receipts.values()


def test_no_more_are_taken_in_at_once_than_there_are_workers(tmp_path: Path) -> None:
    with closing(IngestWorkers(tmp_path, 2, SideBySide)) as workers:
        bundles = [tmp_path / f"{number}.part" for number in range(4)]
        for path in bundles:
            path.with_suffix(".wait").touch()
        threads, receipts = ask_all(workers, bundles)
        while len(list(tmp_path.glob("*.begun"))) < 2:
            time.sleep(0.01)
        threads[0].join(0.1)
        assert len(list(tmp_path.glob("*.begun"))) == 2
        for path in bundles:
            path.with_suffix(".wait").unlink()
        for thread in threads:
            thread.join(60)
        assert len(set(receipts.values())) == 2


def test_what_an_earlier_run_left_is_finished_beside_them(tmp_path: Path) -> None:
    with closing(IngestWorkers(tmp_path, 1, SideBySide)) as workers:
        (tmp_path / "resume.wait").touch()
        finishing = threading.Thread(target=workers.resume, daemon=True)
        finishing.start()
        wait_for(tmp_path / "resume.begun")
        assert workers.take_in(tmp_path / "new.part").state == "accepted"
        (tmp_path / "resume.wait").unlink()
        finishing.join(60)
        assert not finishing.is_alive()


@pytest.mark.parametrize("asked", ['{"resume": "all"}\n', '{"resume": "a'], ids=["while it works", "while it asks"])
def test_a_server_that_dies_leaves_no_traceback(asked: str, small: World) -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "aggregator.server.ingest_process", str(small.provider)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    os.close(reading)
    _, complaint = child.communicate(asked)
    assert (child.returncode, complaint) == (0, "")
