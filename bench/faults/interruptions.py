"""Ends or disturbs a piece of work at each of its calls into the operating system and the database, in a process of its own.

How: the work runs in a forked process under a profiling function, which Python calls before and after every call of a
function written in C. Those of the modules that reach the disk, the kernel, the network or the database are counted; at the n-th the
process kills itself with SIGKILL, or the call raises instead of being made. So every point is met, in order and again and
again the same, without waiting for luck; and a fork takes milliseconds, since the interpreter is warm. What lies within
one such call (the pages that SQLite writes in one commit) is met by kills after a random time, see `kill_after`.
"""

from __future__ import annotations

import datetime
import errno
import gc
import logging
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Self

import psycopg

Work = Callable[[], bytes]
# Modules of the functions, or of the types of the objects whose methods are called.
_REACHING = {
    "posix",
    "_io",
    "io",
    "fcntl",
    "sqlite3",
    "_sqlite3",
    "_posixsubprocess",
    "_socket",
    "socket",
    "_ssl",
    "ssl",
}
# Every question to PostgreSQL goes through it; what it calls is no function that Python tells of.
_ASKING_POSTGRES = psycopg.Connection.wait.__code__
_WRITING = {
    "write",
    "writelines",
    "flush",
    "close",
    "truncate",
    "open",
    "fsync",
    "replace",
    "rename",
    "mkdir",
    "rmdir",
    "unlink",
    "remove",
    "execute",
    "commit",
}


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended.

    Args:
        said: what it returned and so acknowledged; None if it did not come that far.
        killed: whether it was killed.
        error: name of what it raised; "" for nothing.
        points: calls that were counted, where they are: moments before and after one, or calls that write.
        writes: of all calls, where they were counted, those that write.
    """

    said: bytes | None
    killed: bool
    error: str
    points: int
    writes: int = 0


def run_undisturbed(work: Work) -> Outcome:
    """Runs it, and counts no points: under a profiling function everything takes three times as long."""
    return _forked(work, lambda counter: None)


def kill_at(work: Work, point: int) -> Outcome:
    """Kills it at a point: odd ones are before a call, even ones after it; at 0 it only counts the points, and those of `fail_at`."""

    def act(call: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    return _forked(work, lambda counter: _profiled(counter, act, point))


def fail_at(work: Work, point: int, number: int) -> Outcome:
    """Lets a writing call fail with an errno; SQLite says it in its own words."""

    def act(call: object) -> None:
        if isinstance(getattr(call, "__self__", None), sqlite3.Connection | sqlite3.Cursor):
            full = number == errno.ENOSPC
            raise sqlite3.OperationalError("database or disk is full" if full else "disk I/O error")
        raise OSError(number, os.strerror(number))

    return _forked(work, lambda counter: _profiled(counter, act, point, writing=True))


def kill_after(work: Work, seconds: float) -> Outcome:
    """Kills it after a time, wherever it is, in C too."""

    def arm(counter: list[int]) -> None:
        # Unhandled, SIGALRM ends a process at once, as SIGKILL does.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))

    return _forked(work, arm)


def disturb_after(work: Work, seconds: float, disturb: Callable[[], object]) -> Outcome:
    """Runs it, and after a time does something to what it stands on, from here."""

    def beside() -> None:
        time.sleep(seconds)
        disturb()

    return _forked(work, lambda counter: None, beside)


def clock_off(work: Work, seconds: float) -> Outcome:
    """Runs it under a clock that is ahead by so many seconds, or behind."""

    def arm(counter: list[int]) -> None:
        time_now = time.time

        class ShiftedMoment(datetime.datetime):
            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> Self:
                return cls.fromtimestamp(time_now() + seconds, tz)

        class ShiftedDate(datetime.date):
            @classmethod
            def today(cls) -> Self:
                return cls.fromtimestamp(time_now() + seconds)

        # In this process only, and before the work asks: our modules reach both through the module.
        datetime.datetime, datetime.date, time.time = ShiftedMoment, ShiftedDate, lambda: time_now() + seconds  # type: ignore[misc]

    return _forked(work, arm)


def moments(seconds: float, count: int, seed: int) -> list[float]:
    """Random times within the time that a piece of work takes."""
    chance = random.Random(seed)
    return [chance.uniform(0, seconds) for _ in range(count)]


def _profiled(counter: list[int], act: Callable[[object], None], point: int = 0, *, writing: bool = False) -> None:
    events = ("c_call",) if writing else ("c_call", "c_return", "c_exception")

    def profile(frame: FrameType, event: str, argument: object) -> None:
        asks = not writing and frame.f_code is _ASKING_POSTGRES and event in ("call", "return")
        if asks or (event in events and _reaches(argument, writing)):
            counter[0] += 1
            counter[1] += writing or (event == "c_call" and _reaches(argument, writing=True))
            if counter[0] == point:
                act(argument)

    sys.setprofile(profile)


def _reaches(call: object, writing: bool) -> bool:
    owner = getattr(call, "__self__", None)
    module = getattr(call, "__module__", None) or type(owner).__module__
    return module in _REACHING and (not writing or getattr(call, "__name__", "") in _WRITING)


def _forked(work: Work, arm: Callable[[list[int]], None], beside: Callable[[], object] = lambda: None) -> Outcome:
    """Runs the work in a fork that `arm` prepares, and `beside` meanwhile in this process."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _child(work, arm, reading, writing)
    os.close(writing)
    try:
        beside()
    finally:
        with open(reading, "rb") as pipe:
            told = pipe.read()
        _, status = os.waitpid(child, 0)
    return _outcome(told, os.WIFSIGNALED(status))


def _child(work: Work, arm: Callable[[list[int]], None], reading: int, writing: int) -> None:
    counter = [0, 0]
    error = b""
    # A search for garbage in what the other process has made would copy all of its memory.
    gc.freeze()
    # What libraries say about errors that are made here is of no use to anybody.
    logging.disable()
    try:
        os.close(reading)
        arm(counter)
        said = work()
        # From here on the other side knows.
        os.write(writing, b"said " + said.hex().encode() + b"\n")
    except BaseException as caught:
        error = type(caught).__name__.encode()
    finally:
        sys.setprofile(None)
        os.write(writing, b"end %d %d %s\n" % (counter[0], counter[1], error))
        os._exit(0)


def _outcome(told: bytes, killed: bool) -> Outcome:
    said, points, writes, error = None, 0, 0, ""
    for line in told.decode().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "said":
            said = bytes.fromhex(rest)
        else:
            counted, writing, error = rest.split(" ")
            points, writes = int(counted), int(writing)
    return Outcome(said, killed, error, points, writes)
