"""Notes read on several cores: as on one, in their order, and nothing is lost in silence."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import process as process_pool
from contextlib import closing, suppress
from multiprocessing import active_children
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, cast

import pytest

from foundation.leftovers import is_held
from shared.document import Document
from shared.errors import LostReaderError
from shared.pipeline import parallel
from shared.pipeline.parallel import ParallelPipeline, usable_cores
from shared.pipeline.pipeline import Pipeline, load_pipeline
from tests.loop import Loop
from tests.tiny_notes import tiny_notes


@pytest.fixture(scope="module")
def notes() -> list[Document]:
    return [Document(one.identifier, one.text) for one in tiny_notes(60, seed=5)]


@pytest.fixture
def pipeline(built_loop: Loop) -> Pipeline:
    [folder] = [path.parent for path in built_loop.site("fourth").rglob("head.json")]
    return load_pipeline(Path(folder))


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_BATCH_CHARACTERS", 800)


def test_it_reads_as_one_process_does(pipeline: Pipeline, notes: list[Document]) -> None:
    alone = list(pipeline.annotate(notes))
    together = list(ParallelPipeline(pipeline, 2).annotate(iter(notes)))
    assert together == alone
    assert [[span.confidence for span in one.annotations] for one in together] == [
        [span.confidence for span in one.annotations] for one in alone
    ]


def test_notes_are_read_as_they_are_needed(pipeline: Pipeline, notes: list[Document]) -> None:
    taken = 0

    def counted() -> Iterator[Document]:
        nonlocal taken
        for one in notes:
            taken += 1
            yield one

    with closing(cast(Any, ParallelPipeline(pipeline, 2).annotate(counted()))) as found:
        next(found)
        assert 0 < taken < len(notes)


def test_a_few_notes_start_no_process(
    pipeline: Pipeline, notes: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "ProcessPoolExecutor", None)
    assert len(list(ParallelPipeline(pipeline, 2).annotate(notes[:1]))) == 1
    assert not list(ParallelPipeline(pipeline, 2).annotate([]))


def test_a_process_that_is_killed_is_told_of_in_one_line(
    pipeline: Pipeline, notes: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_annotate", _die)
    with pytest.raises(
        LostReaderError, match=r"one was ended, by lack of memory or by somebody; .* fewer --jobs"
    ) as caught:
        list(ParallelPipeline(pipeline, 2).annotate(notes))
    assert caught.value.exit_code == 6


@pytest.mark.parametrize("what", ["a process", "the thread that watches them"])
def test_what_cannot_be_started_is_told_and_nothing_that_was_is_left(
    what: str, pipeline: Pipeline, notes: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a command that has told its error waits at its end for processes that wait for work."""
    before = active_children()
    start = ForkProcess.start
    started: list[ForkProcess] = []

    def some(process: ForkProcess) -> None:
        if what == "a process" and len(started) == 2:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        start(process)
        started.append(process)

    def none(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ForkProcess, "start", some)
    if what != "a process":
        monkeypatch.setattr(process_pool._ExecutorManagerThread, "start", none)
    reason = "Too many open files" if what == "a process" else "RuntimeError"
    with pytest.raises(LostReaderError, match=rf"got {reason}; .* fewer --jobs"):
        list(ParallelPipeline(pipeline, 4).annotate(notes))
    assert started
    assert active_children() == before


def _die(batch: list[Document]) -> list[Document]:
    os.kill(os.getpid(), signal.SIGKILL)
    return batch


_COMMAND = """
import sys, time
from pathlib import Path
from foundation.folders import new_folder
from shared.document import Document
from shared.pipeline import parallel

class Slow:
    def annotate(self, documents):
        Path(sys.argv[1], "reads").touch()
        time.sleep(600)

parallel._BATCH_CHARACTERS = 1
with new_folder(Path(sys.argv[1], "safe"), private=True):
    list(parallel.ParallelPipeline(Slow(), 3).annotate(Document(str(one), "text") for one in range(9)))
"""


def test_processes_end_with_the_command_that_was_killed_and_hold_nothing_of_it(tmp_path: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-P", "-c", _COMMAND, str(tmp_path)], start_new_session=True, stderr=subprocess.DEVNULL
    )
    try:
        _until((tmp_path / "reads").exists)
        [half_written] = tmp_path.glob(".safe.*.partial")
        assert is_held(half_written)
        command.kill()
        command.wait()
        # Else it would be nobody's leftover for as long as they live, and so would the notes in their memory.
        _until(lambda: not is_held(half_written))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)
        command.wait()


def _until(true: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_there_is_a_core() -> None:
    assert usable_cores() >= 1
