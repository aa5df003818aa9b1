"""How long the other end of a connection is waited for: while it sends a body, and while it takes an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from aggregator.server.limits import Limits

_Result = TypeVar("_Result")


class MinimumDataRate:
    """Some seconds that waiting uses up and bytes earn back, never more than at first.

    So one silence has its limit, and so has a peer that sends or takes a byte a minute to hold its connection for ever.
    Time that the server itself needs does not count.

    Args:
        limits: the seconds, and the bytes that earn one.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left_s = limits.piece_s

    async def wait(self, step: Awaitable[_Result]) -> _Result:
        """The outcome of a step that depends on the peer.

        Raises:
            TimeoutError: the seconds are used up.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self._left_s):
                return await step
        finally:
            self._left_s -= clock() - began

    def earn(self, passed_bytes: int) -> None:
        """Grows with what has passed."""
        self._left_s = min(self._limits.piece_s, self._left_s + passed_bytes / self._limits.least_bytes_per_s)
