"""The gate: all that the node and the provider say to each other passes here, and what is not known to be needed does not.

Calls outward only, over TLS to one address, and only those of a node; answers only as a link gives them, and never a way elsewhere; an app
only if it is, byte for byte, the one that this program makes; so many bytes and no more. Flower's control calls share their port with the node's, so an open way to it would let whoever answers there
run code here; through the gate there is no such way. It listens on loopback, under a certificate of its own.
"""

from __future__ import annotations

import http.client
import re
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CALLS = frozenset(
    f"/v1/fleet/{name}"
    for name in (
        "register-node",
        "unregister-node",
        "activate-node",
        "deactivate-node",
        "send-node-heartbeat",
        "pull-messages",
        "push-messages",
        "get-run",
        "get-fab",
        "push-object",
        "pull-object",
        "confirm-message-received",
    )
)
"""The calls of a node; whatever else there is or will be is refused."""
GET_APP = "/v1/fleet/get-fab"
_OWN_HEADERS = frozenset(
    {
        "host",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "upgrade",
        "accept-encoding",
        "content-length",
        "expect",
    }
)
# The node's client takes every status from 200 to 299 for an answer, and goes where a redirect sends it. A link gives 200 or an error.
_FIRST_ERROR = 400
# All that is handed on of an answer's headers: others could lead the node elsewhere, or be kept by it.
_KIND = re.compile(r"[a-zA-Z0-9/.+;= -]{1,100}")
_MOST_BODY = 512 << 20
_TIMEOUT_S = 60.0
_LOOK_S = 0.1


@dataclass
class GateRules:
    """What passes.

    Args:
        allows_app: whether the answer to a call for the app holds the one that may run.
        most_bytes: that may leave through the gate in all.
        closed: whether nothing passes at the moment.
        refused: is told what was refused, once for each reason.
        sent: bytes that left.
        full: whether something did not fit; nothing passes from then on, since what would still fit brings rounds whose answers don't.
    """

    allows_app: Callable[[bytes], bool]
    most_bytes: int
    closed: Callable[[], bool] = lambda: False
    refused: Callable[[str], None] = lambda reason: None
    sent: int = 0
    full: bool = False
    told: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refuse(self, reason: str) -> None:
        """Tell of a refusal, the first time."""
        with self.lock:
            new = reason not in self.told
            self.told.add(reason)
        if new:
            self.refused(reason)

    def take(self, count: int) -> bool:
        """Whether so many bytes more may leave; counted if so. Where they may not, nothing may any more."""
        with self.lock:
            self.full = self.full or self.sent + count > self.most_bytes
            if not self.full:
                self.sent += count
            return not self.full


class Gate:
    """A server on loopback that forwards to one address.

    Args:
        rules: what passes.
        host: of the provider.
        port: of it.
        outward: how its certificate is verified.
        inward: with the gate's own certificate.
    """

    def __init__(self, rules: GateRules, host: str, port: int, outward: ssl.SSLContext, inward: ssl.SSLContext) -> None:
        def connect() -> http.client.HTTPSConnection:
            return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=outward)

        handler = type("Handler", (_Handler,), {"rules": rules, "connect": staticmethod(connect)})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.socket = inward.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_LOOK_S,), name="gate", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def __enter__(self) -> Gate:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing is printed: whoever breaks off has done so."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _TIMEOUT_S
    rules: GateRules
    connect: Callable[[], http.client.HTTPSConnection]
    _outward: http.client.HTTPSConnection | None = None
    """To the provider, for as long as the node holds its own connection: a handshake for every call would be most of the work."""

    def do_POST(self) -> None:
        """Forward a call of a node."""
        length = self.headers.get("content-length", "")
        if not length.isascii() or not length.isdecimal() or int(length) > _MOST_BODY:
            self._refuse("a body of unknown or unbounded length", 411)
            return
        body = self.rfile.read(int(length))
        if self.rules.closed():
            self._answer(503, b"", {})
        elif self.path not in CALLS:
            self._refuse("a call that no node makes", 403)
        elif not self.rules.take(len(body)):
            self._refuse("more bytes than may leave", 403)
        else:
            self._forward(body)

    def _other(self) -> None:
        self._refuse("a call that no node makes", 403)

    do_GET = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_CONNECT = do_TRACE = _other  # noqa: N815 - names of the library

    def _forward(self, body: bytes) -> None:
        # What is compressed can't be looked at.
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN_HEADERS}
        try:
            response = self._call(body, headers | {"Accept-Encoding": "identity"})
            answer = response.read(_MOST_BODY + 1)
        except (OSError, http.client.HTTPException):
            self._hang_up()
            self._answer(502, b"", {})
            return
        if len(answer) > _MOST_BODY:
            # What is left of it is not waited for.
            self._hang_up()
        if len(answer) > _MOST_BODY or response.getheader("content-encoding", "identity") != "identity":
            self._refuse("an answer of unknown or unbounded length", 502)
        elif response.status != http.client.OK and response.status < _FIRST_ERROR:
            self._refuse("an answer that no link gives", 502)
        elif self.path == GET_APP and response.status < _FIRST_ERROR and not self.rules.allows_app(answer):
            self._refuse("an app that this program does not make", 403)
        else:
            kind = response.getheader("content-type", "")
            self._answer(response.status, answer, {"Content-Type": kind} if _KIND.fullmatch(kind) else {})

    def _call(self, body: bytes, headers: dict[str, str]) -> http.client.HTTPResponse:
        kept, self._outward = self._outward, self._outward or self.connect()
        try:
            self._outward.request("POST", self.path, body, headers)
            return self._outward.getresponse()
        except (ConnectionError, ssl.SSLEOFError):
            self._hang_up()
            # One that was kept may have been closed meanwhile, without an answer; a fresh one was not.
            if kept is None or not self.rules.take(len(body)):
                raise
            self._outward = self.connect()
            self._outward.request("POST", self.path, body, headers)
            return self._outward.getresponse()

    def _hang_up(self) -> None:
        if self._outward is not None:
            self._outward.close()
        self._outward = None

    def finish(self) -> None:
        """The node has hung up, and so do we."""
        self._hang_up()
        super().finish()

    def _refuse(self, reason: str, status: int) -> None:
        self.rules.refuse(reason)
        # What is left of the call is not looked for.
        self.close_connection = True
        self._answer(status, b"", {})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged of a call that passes."""
