"""`--processes N`: this process is the first, and starts the others, on this machine and on its loopback alone.

They run the same command, and learn from their environment who they are, as torchrun's would: so `torchrun` in the place of the option
does the same. It is not what starts them here, for its agent opens a port on every address of the machine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from aggregator.training.processes.group import TIMEOUT_S, Group, Place, joined, listen, name_loopback, open_store
from shared.errors import ConfigurationError, ProcessLostError

_LOOPBACK = "127.0.0.1"
_ENDING_S = 30.0


@contextmanager
def several(count: int, command: Sequence[str]) -> Iterator[Group | None]:
    """The processes of a training; None where this one is alone.

    Args:
        count: how many are wanted, here; 1 where nobody has asked, and torchrun or its like may have started some.
        command: what starts the same as this process does.

    Raises:
        ConfigurationError: torchrun has started others than were asked for, or on a network without an interface.
        ProcessLostError: one of the others ends before its time.
    """
    place = Place.of(os.environ)
    if place is not None and count not in (1, place.count):
        raise ConfigurationError(
            f"--processes {count}: expected as many as torchrun has started, {place.count}; leave the option out"
        )
    if place is not None and place.count > 1:
        with joined(place) as group:
            yield group
    elif count > 1:
        with _started(count, command) as group:
            yield group
    else:
        yield None


@contextmanager
def _started(count: int, command: Sequence[str]) -> Iterator[Group]:
    # Of an interface that somebody has named for torchrun nothing is meant here.
    name_loopback()
    listener = listen(_LOOPBACK, 0)
    first = Place(0, count, _LOOPBACK, listener.getsockname()[1])
    store = open_store(first, listener=listener)
    others = _Others([])
    try:
        for index in range(1, count):
            others.running.append(_start(Place(index, count, first.address, first.port), command))
        with joined(first, others.require_running, store=store) as group:
            yield group
            others.join()
    finally:
        others.end()


def _start(place: Place, command: Sequence[str]) -> subprocess.Popen[bytes]:
    told = {
        "RANK": str(place.index),
        "WORLD_SIZE": str(place.count),
        "MASTER_ADDR": place.address,
        "MASTER_PORT": str(place.port),
    }
    # In a session of its own: who interrupts the command interrupts the first, and that one ends the others.
    return subprocess.Popen(
        command, env=os.environ | told, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )


@dataclass
class _Others:
    """The processes that this one has started, the first of them number 1."""

    running: list[subprocess.Popen[bytes]]

    def require_running(self) -> None:
        """
        Raises:
            ProcessLostError: one has ended, whoever ended it.
        """
        for number, process in enumerate(self.running, start=1):
            if process.poll():
                raise ProcessLostError(_of(number, len(self.running) + 1, process.returncode))

    def join(self) -> None:
        """Wait until all have ended well, which they do about now.

        Raises:
            ProcessLostError: one has not.
        """
        for number, process in enumerate(self.running, start=1):
            try:
                code = process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                code = -signal.SIGKILL
            if code:
                raise ProcessLostError(_of(number, len(self.running) + 1, code))

    def end(self) -> None:
        """End those that run: they keep nothing, and say nothing more."""
        for process in self.running:
            with suppress(OSError):
                process.kill()
        for process in self.running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_ENDING_S)


def _of(number: int, count: int, code: int) -> str:
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    why = " (lack of memory, or somebody)" if code == -signal.SIGKILL else ""
    return (
        f"expected {count} processes to the end, but process {number} {how}{why}; the head here is as it was, and --resume goes on behind the "
        "last pass"
    )


def this_command() -> list[str]:
    """What starts the same as this process does, whatever Python files lie in the folder that it is started in."""
    return [sys.executable, "-P", "-m", "aggregator", *sys.argv[1:]]
