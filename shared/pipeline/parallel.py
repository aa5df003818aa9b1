"""A pipeline on several cores: as many processes as there are cores, each on one thread, with a copy of the pipeline.

Notes go to them in batches and come back in their order, so that what is written does not depend on how many there are. A few notes are read here:
to start a process costs more.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain
from multiprocessing import active_children, get_all_start_methods, get_context, parent_process
from multiprocessing.process import BaseProcess

import torch

from shared.document import Document
from shared.errors import LostReaderError
from shared.pipeline.pipeline import Pipeline

# Characters of a batch: some seconds of one core, so that the last batches end about together.
_BATCH_CHARACTERS = 1 << 17
# Batches that wait for a process, beside the one that it works on.
_WAITING = 2

_ours: Pipeline | None = None


@dataclass(frozen=True)
class ParallelPipeline:
    """Annotates on several cores.

    Args:
        pipeline: of a release.
        jobs: processes at most.
    """

    pipeline: Pipeline
    jobs: int

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """As `Pipeline.annotate` does, in the same order.

        Raises:
            LostReaderError: a process ended before its notes were done, or could not be started.
        """
        batches = _batches(documents)
        first = [batch for _, batch in zip(range(2), batches, strict=False)]
        if self.jobs < 2 or len(first) < 2 or "fork" not in get_all_start_methods():
            yield from self.pipeline.annotate(chain.from_iterable(chain(first, batches)))
            return
        yield from self._spread(chain(first, batches))

    def _spread(self, batches: Iterable[list[Document]]) -> Iterator[Document]:
        # Processes are forked from this one, which has loaded all; a thread of torch's that ran here would be missing there.
        context, others = get_context("fork"), active_children()
        with ProcessPoolExecutor(self.jobs, context, initializer=_take, initargs=(self.pipeline,)) as workers:
            running: deque[Future[list[Document]]] = deque()
            try:
                for batch in batches:
                    running.append(_submitted(workers, batch, others))
                    if len(running) >= _WAITING * self.jobs:
                        yield from running.popleft().result()
                while running:
                    yield from running.popleft().result()
            except BrokenProcessPool as error:
                raise LostReaderError(
                    "expected every process to read its notes, but one was ended, by lack of memory or by somebody; what was not read is not "
                    "written: run the same command again, with fewer --jobs"
                ) from error
            finally:
                workers.shutdown(wait=True, cancel_futures=True)


def _submitted(
    workers: ProcessPoolExecutor, batch: list[Document], others: Sequence[BaseProcess]
) -> Future[list[Document]]:
    """A batch for one of the processes; the first starts them all.

    Args:
        workers: the processes.
        batch: of notes.
        others: processes that were there before them.

    Raises:
        LostReaderError: they can't be started here.
        BrokenProcessPool: one has ended.
    """
    try:
        return workers.submit(_annotate, batch)
    except BrokenProcessPool:
        raise
    except (OSError, RuntimeError, MemoryError) as error:
        # Nobody gives those that have started any work, or ends them, and this one would wait for them at its own end.
        for process in active_children():
            if process not in others:
                process.kill()
                process.join()
        # Nor is there always what would be waited for.
        workers.shutdown(wait=False, cancel_futures=True)
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        raise LostReaderError(
            f"expected to start processes that read notes, got {reason}; nothing is written: run the same command again, with fewer --jobs, or raise the "
            "limits of memory, open files and processes (`ulimit`)"
        ) from error


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _take(pipeline: Pipeline) -> None:
    global _ours  # noqa: PLW0603
    # Who interrupts the command interrupts them all; the first process tells them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_the_command, daemon=True).start()
    _ours = pipeline


def _end_with_the_command() -> None:
    """A command that is killed tells nobody: its processes would wait for ever, with notes, and with its locks on what it left half-written."""
    command = parent_process()
    assert command is not None
    # Those that were forked later hold the pipe by which this is seen, too; the last one sees it first, and they end one after the other.
    command.join()
    os._exit(1)


def _annotate(batch: list[Document]) -> list[Document]:
    assert _ours is not None
    return list(_ours.annotate(batch))


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
