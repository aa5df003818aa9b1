"""A listening socket that asks for a place before it lets a connection in.

asyncio calls `accept` of the socket it is given, and `close` of what that returns, so nothing of asyncio has to be replaced,
and what is turned away costs neither a TLS state nor a task.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from aggregator.server.connections.places import Place, Places

# Then others of the event loop have their turn.
_TURNED_AWAY_AT_ONCE = 100


class Listener(socket.socket):
    """Takes over a listening socket.

    Args:
        plain: it; not to be used any more.
        places: for its connections.
    """

    def __init__(self, plain: socket.socket, places: Places) -> None:
        super().__init__(fileno=plain.detach())
        self._places = places
        self._held: dict[int, Place] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that has a place; see socket.socket. In an event loop only.

        Raises:
            BlockingIOError: there is none at the moment.
        """
        for _ in range(_TURNED_AWAY_AT_ONCE):
            plain, address = super().accept()
            accepted = _Accepted(self, plain)
            place = self._places.take(address[0], accepted.cut)
            if place is None:
                accepted.close()
                continue
            self._held[accepted.fileno()] = place
            accepted.hold(place, self._places.limits.first_s)
            return accepted, address
        raise BlockingIOError

    def place(self, descriptor: int) -> Place:
        """That of a connection which is open."""
        return self._held[descriptor]

    def forget(self, descriptor: int) -> None:
        """Knows a connection no more."""
        del self._held[descriptor]


class _Accepted(socket.socket):
    """A connection that gives its place back when it is closed."""

    def __init__(self, listener: Listener, plain: socket.socket) -> None:
        super().__init__(plain.family, plain.type, plain.proto, fileno=plain.detach())
        self._listener = listener
        self._place: Place | None = None

    def hold(self, place: Place, first_s: float) -> None:
        self._place = place
        # For TLS and the first header together.
        self._late = asyncio.get_running_loop().call_later(first_s, place.end_late)

    def cut(self) -> None:
        with suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._place is not None and self.fileno() >= 0:
            self._listener.forget(self.fileno())
            self._late.cancel()
            self._place.leave()
        super().close()
