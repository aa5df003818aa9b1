"""HTTP on one connection: uvicorn's, with an end for who says nothing, refusals in our form, and a place that is known.

uvicorn would wait for a first request, or the end of a header, for ever, and answers what is no HTTP in words of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from aggregator.server.connections.listener import Listener
from aggregator.server.connections.places import Place, Rank
from protocols.http.messages import Problem

SILENCE_S = 30
# In the state of a request's scope.
_PLACE = "deid.place"
_NO_HTTP = Problem.about("malformed", "expected a request of HTTP/1.1, got something else; correct it").to_bytes()


class Connection(H11Protocol):
    """One connection.

    Args:
        listener: that let it in.
        given: by uvicorn.
    """

    def __init__(self, listener: Listener, **given: Any) -> None:
        super().__init__(**given)
        self._listener = listener
        self._last: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection, TLS stands; see asyncio.Protocol."""
        super().connection_made(transport)
        self._place = self._listener.place(transport.get_extra_info("socket").fileno())
        # The socket alone could not end a connection whose reading is paused.
        self._place.cut = transport.abort
        self.app_state = {**self.app_state, _PLACE: self._place}
        self._watch = self.loop.call_later(SILENCE_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Its end; see asyncio.Protocol."""
        # The timer would keep all of this, TLS included, for its whole time.
        self._watch.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """See uvicorn; notes that a first header has come."""
        super().handle_events()
        self._place.asked = self._place.asked or self.cycle is not None

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP.

        Args:
            msg: uvicorn's, which is not in our form.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            # Whoever answers the request meanwhile is not to write any more.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = {"content-type": "application/json", "problem": "malformed", "connection": "close"}
            sizes = {"content-length": str(len(_NO_HTTP))}
            response = h11.Response(status_code=400, headers=list({**headers, **sizes}.items()), reason=b"Bad Request")
            for event in (response, h11.Data(data=_NO_HTTP), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _look(self) -> None:
        cycle = self.cycle
        if self.transport.is_closing():
            # The other end does not say goodbye.
            self.transport.abort()
            return
        if cycle is self._last and (cycle is None or cycle.response_complete):
            self.transport.close()
        self._last = cycle
        self._watch = self.loop.call_later(SILENCE_S, self._look)


def prove(scope: MutableMapping[str, Any], site: str) -> None:
    """Notes on the connection of a request that a site has proved itself there."""
    place = _place(scope)
    if place is not None:
        place.prove(site)


def holder(scope: MutableMapping[str, Any]) -> str:
    """The site that the connection of a request belongs to, or the network of its address; "" where there is none."""
    place = _place(scope)
    return "" if place is None else place.owner.name


def is_proved(scope: MutableMapping[str, Any]) -> bool:
    """Whether a site has proved itself on the connection of a request before."""
    place = _place(scope)
    return place is not None and place.owner.rank == Rank.SITE


def _place(scope: MutableMapping[str, Any]) -> Place | None:
    found: Place | None = scope.get("state", {}).get(_PLACE)
    return found
