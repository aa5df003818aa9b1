"""How requests wait for what there is little of: threads, and flushes to the disk.

Who has used threads least of late comes first, and what a piece of a bundle has used is forgiven once the piece is on the disk:
so a site that uploads waits behind nobody who asks without end and brings nothing, however many they are. What costs as much for many as for one is done for all who wait together.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, ParamSpec, TypeVar

_SLOTS = 2
# What was used longer ago than some of these counts little.
_HALVED_EVERY_S = 10
_FORGOTTEN_S = 0.001
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Asked = TypeVar("_Asked")
_Found = TypeVar("_Found")


class Turns:
    """Threads for work of one kind, the same few for everybody and for nothing else; used in one event loop.

    Args:
        slots: how much runs at once. More would not be quicker, since the database has one writer and Python one lock.
        clock: monotonic seconds.
    """

    def __init__(self, slots: int = _SLOTS, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = slots
        self._clock = clock
        self._used_s: defaultdict[str, float] = defaultdict(float)
        self._halved_at = clock()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        # Of its own: work of another kind that takes long takes no thread from this one.
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="turns")

    async def run(
        self, who: str, work: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
    ) -> _Result:
        """What the work gives, run in a thread when it is the turn of `who`, a site or an address."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((who, turn))
        self._next()
        try:
            await turn
        except asyncio.CancelledError:
            # The turn may have come at the same moment.
            if turn.done() and not turn.cancelled():
                self._end()
            raise
        began = self._clock()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *given, **named))
        finally:
            self._used_s[who] += self._clock() - began
            self._end()

    def close(self) -> None:
        """Takes no more work; what runs is finished."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def forgive(self, who: str) -> None:
        """Forgets what was used, since something came of it."""
        self._used_s.pop(who, None)

    def _end(self) -> None:
        self._free += 1
        self._next()

    def _next(self) -> None:
        self._waiting = [one for one in self._waiting if not one[1].done()]
        while self._free and self._waiting:
            self._halve()
            first = min(self._waiting, key=lambda one: self._used_s.get(one[0], 0))
            self._waiting.remove(first)
            self._free -= 1
            first[1].set_result(None)

    def _halve(self) -> None:
        while self._clock() - self._halved_at > _HALVED_EVERY_S:
            self._halved_at += _HALVED_EVERY_S
            kept = {who: used / 2 for who, used in self._used_s.items() if used > _FORGOTTEN_S}
            self._used_s = defaultdict(float, kept)


class Gathering(Generic[_Asked, _Found]):
    """Calls one function for all who wait; used in one event loop.

    Args:
        work: blocks, and runs in a thread; takes what was asked and gives one result for each, in order. An error is everybody's.
    """

    def __init__(self, work: Callable[[Sequence[_Asked]], Sequence[_Found]]) -> None:
        self._work = work
        self._waiting: list[tuple[_Asked, asyncio.Future[_Found]]] = []
        self._runner: asyncio.Task[None] | None = None

    async def ask(self, asked: _Asked) -> _Found:
        """The result for one."""
        answer: asyncio.Future[_Found] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, answer))
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            served, self._waiting = self._waiting, []
            try:
                found = await asyncio.to_thread(self._work, [asked for asked, _ in served])
            except Exception as error:
                for _, answer in served:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for (_, answer), one in zip(served, found, strict=True):
                    if not answer.done():
                        answer.set_result(one)
