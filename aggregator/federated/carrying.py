"""The carrier as this process sees it: a local socket to the relay that works for it in a process of Flower's."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from aggregator.errors import FederatedError
from aggregator.federated.remote import Reply
from protocols.errors import ProtocolError
from protocols.federated.frames import receive_pieces, send_pieces

_BEYOND_S = 60.0
_WAIT_S = 1.0
_SENDER = "node "


class RelayCarrier:
    """See `Carrier`.

    Args:
        path: of the socket, in a folder that nobody else can enter.
        least: nodes that a round waits for.
        alive: whether the run still goes on; asked while the relay is waited for.
        starting_s: how long the relay may take to come.
    """

    def __init__(self, path: Path, least: int, alive: Callable[[], bool], starting_s: float = 120.0) -> None:
        self._least, self._alive, self._starting_s = least, alive, starting_s
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(path))
        self._listening.listen(1)
        self._listening.settimeout(_WAIT_S)
        self._relay: socket.socket | None = None

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        """See `Carrier`."""
        relay = self._connected()
        # The relay keeps the time; beyond that it is gone.
        relay.settimeout(timeout_s + _BEYOND_S)
        least = 1 if only else self._least
        asked = json.dumps({"timeout_s": timeout_s, "least": least, "only": only.removeprefix(_SENDER)}).encode()
        try:
            send_pieces(relay, asked, task, weights)
            while True:
                pieces = receive_pieces(relay, (1, 5))
                if pieces is None:
                    raise FederatedError(
                        "expected the relay to answer, it has ended; see flower.log, and go on with --resume"
                    )
                if len(pieces) == 1:
                    return
                _, sender, result, learned, problem = pieces
                yield Reply(
                    f"{_SENDER}{sender.decode('ascii', 'replace')}", result, learned, problem.decode("ascii", "replace")
                )
        except (OSError, ProtocolError) as error:
            raise FederatedError(
                "expected the relay to answer, the connection to it broke; see flower.log, and go on with --resume"
            ) from error

    def _connected(self) -> socket.socket:
        waited = 0.0
        while self._relay is None:
            try:
                self._relay, _ = self._listening.accept()
            except TimeoutError:
                waited += _WAIT_S
                if waited >= self._starting_s or not self._alive():
                    raise FederatedError("expected the run to start, it did not; see flower.log") from None
        return self._relay

    def close(self) -> None:
        """Let the relay end."""
        if self._relay is not None:
            self._relay.close()
        self._listening.close()
