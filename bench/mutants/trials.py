"""Tries breaks, and remembers what became of them for as long as nothing changes that could decide it.

A break is tried after its tests have passed without it. What was found is kept under the break and a digest of all that its
tests depend on, so that a run that was cut goes on where it was, and the next one tries only what has changed.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from bench.mutants.breaks import Break
from bench.mutants.copies import Copy, TestRun, copied_files
from foundation.errors import StorageError
from foundation.files import write_text
from foundation.reading import read_text
from shared.errors import ConfigurationError

_UNBROKEN_LIMIT_S = 900.0
# A break has so many times as long as the tests take without it, and a minute at least.
_SLOWER, _LEAST_LIMIT_S = 10, 60.0


class Verdict(StrEnum):
    """What became of a break."""

    KILLED = "killed"
    HUNG = "killed by the time limit"
    SURVIVED = "SURVIVED"
    ERROR = "ERROR"


@dataclass(frozen=True)
class Outcome:
    """A break that was tried.

    Args:
        verdict: what became of it.
        detail: the test that noticed it, or what is wrong with the break.
        seconds: by the clock, the tests without the break not included.
    """

    verdict: Verdict
    detail: str = ""
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        """Whether a test noticed it."""
        return self.verdict in (Verdict.KILLED, Verdict.HUNG)


class Trials:
    """Tries breaks in copies of a checkout.

    Args:
        root: the checkout.
        folder: for the copies, one a worker.
        memory: file of what was found before; made where there is none.
        workers: breaks that are tried at once.
        modules: of other packages, imported once for all tests.
    """

    def __init__(self, root: Path, folder: Path, memory: Path, workers: int = 1, modules: Sequence[str] = ()) -> None:
        self._root, self._memory = root, memory
        # Once, and now: the checkout may change while its copies are at work.
        self._digests = {path: hashlib.sha256((root / path).read_bytes()).hexdigest() for path in copied_files(root)}
        self._copies = [Copy(root, folder / str(number), modules) for number in range(workers)]
        self._idle: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for copy in self._copies:
            self._idle.put(copy)
        self._lock = threading.Lock()
        self._unbroken_runs: dict[tuple[str, ...], TestRun] = {}
        self._running: dict[tuple[str, ...], threading.Lock] = {}
        self._known = _remembered(memory)

    def outcomes(self, breaks: Sequence[Break], say: Callable[[Break, Outcome], None]) -> list[Outcome]:
        """Tries all breaks, in order.

        Args:
            breaks: what to try.
            say: is told of each, from any thread.
        """
        pool = ThreadPoolExecutor(len(self._copies))
        try:
            return list(pool.map(partial(self._outcome, say=say), breaks))
        finally:
            # Who interrupts waits for the breaks that are being tried, and for no others.
            pool.shutdown(cancel_futures=True)
            for copy in self._copies:
                copy.close()

    def _outcome(self, one: Break, say: Callable[[Break, Outcome], None]) -> Outcome:
        key = self._key(one)
        known = self._known.get(key)
        outcome = self._tried(one) if known is None else known
        if outcome.verdict is not Verdict.ERROR and known is None:
            self._remember(key, outcome)
        say(one, outcome)
        return outcome

    def _tried(self, one: Break) -> Outcome:
        try:
            one.apply_to(read_text(self._root / one.file))
        except (ConfigurationError, StorageError) as error:
            return Outcome(Verdict.ERROR, str(error))
        with self._copy() as copy:
            unbroken = self._unbroken(copy, one.tests)
            if not unbroken.all_passed:
                return Outcome(Verdict.ERROR, f"its tests do not pass without it: {unbroken.last_line}")
            with copy.apply_break(one):
                run = copy.run(one.tests, max(_LEAST_LIMIT_S, _SLOWER * unbroken.seconds))
        if run.code is None:
            return Outcome(Verdict.HUNG, "", run.seconds)
        if run.all_passed:
            return Outcome(Verdict.SURVIVED, "", run.seconds)
        if run.some_failed:
            return Outcome(Verdict.KILLED, run.failed, run.seconds)
        return Outcome(Verdict.ERROR, f"its tests can't even be collected with it: {run.last_line}")

    def _unbroken(self, copy: Copy, tests: tuple[str, ...]) -> TestRun:
        """The tests without any break, run once."""
        with self._lock:
            running = self._running.setdefault(tests, threading.Lock())
        with running:
            if tests not in self._unbroken_runs:
                self._unbroken_runs[tests] = copy.run(tests, _UNBROKEN_LIMIT_S)
            return self._unbroken_runs[tests]

    @contextmanager
    def _copy(self) -> Iterator[Copy]:
        copy = self._idle.get()
        try:
            yield copy
        finally:
            self._idle.put(copy)

    def _key(self, one: Break) -> str:
        own = {Path(test.partition("::")[0]) for test in one.tests}
        decisive = [f"{path} {digest}" for path, digest in self._digests.items() if path in own or _decides_all(path)]
        return hashlib.sha256(json.dumps([asdict(one), decisive]).encode()).hexdigest()

    def _remember(self, key: str, outcome: Outcome) -> None:
        with self._lock:
            self._known[key] = outcome
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._memory, json.dumps({key: asdict(one) for key, one in self._known.items()}, indent=1))


def _remembered(memory: Path) -> dict[str, Outcome]:
    if not memory.exists():
        return {}
    try:
        found = json.loads(read_text(memory))
        return {key: Outcome(Verdict(one["verdict"]), one["detail"], one["seconds"]) for key, one in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"{memory}: expected what earlier runs found, got something else; remove it"
        ) from error


def _decides_all(path: Path) -> bool:
    """Whether a file can decide any break: all code and documents but the tests, of which each break names its own.

    What the measurements wrote decides none, and the list of breaks each for itself.
    """
    parts = path.parts
    return not (
        len(parts) == 1
        or parts[:2] in (("docs", "results"), ("bench", "mutants"))
        or (parts[0] == "tests" and path.name.startswith("test_"))
    )
