"""What every request passes: the rate of its address, refusals in our form, one line of log, the figures.

No query, header or body is ever logged, and no address.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aggregator.errors import RequestError
from aggregator.server.connections.addresses import FORWARDED_FOR, Proxies
from aggregator.server.connections.protocol import is_proved
from aggregator.server.data_rate import MinimumDataRate
from aggregator.server.limits import Limits, TokenBuckets
from aggregator.server.metrics import Metrics
from foundation.errors import DeidError
from protocols.errors import DigestError, ProtocolError
from protocols.http.messages import MAX_CHUNK_BYTES, MAX_MESSAGE_BYTES, Problem

LOG = logging.getLogger("aggregator.server")
# Where the application notes the site of a request, once it is proved.
SITE = "deid.site"
_CLOSED_BY_CLIENT = 499
# Nobody writes lines of their own into the log.
_UNPRINTABLE = re.compile(r"[^!-~]")
_DRAIN_S = 10
_METHOD_CHARACTERS = 16
_SAID_WITH_A_STATUS = ("allow", "content-range")
_WHY = {
    400: "expected a range like bytes=0-99, got another; correct it",
    405: "expected a method of this address, got another; see the header Allow",
    416: "expected a range within the file, got one beyond its end; ask for less",
}


class Middleware:
    """The middleware around the application.

    Args:
        app: answers.
        metrics: counts.
        limits: say how slowly an answer may be taken, and how often an address may ask what no site has signed.
        proxies: say which address.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, limits: Limits, proxies: Proxies) -> None:
        self._app = app
        self._metrics = metrics
        self._limits = limits
        self._proxies = proxies
        self._unsigned = TokenBuckets(limits.address_per_s, limits.address_burst, time.monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, exchange = time.monotonic(), _Exchange(scope, receive, send, MinimumDataRate(self._limits))
        self._metrics.running.inc()
        try:
            await self._answer(scope, exchange)
        finally:
            self._metrics.running.dec()
            self._note(scope, exchange, time.monotonic() - began)

    async def _answer(self, scope: Scope, exchange: _Exchange) -> None:
        try:
            with self._rate_of_address(scope):
                await self._app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            exchange.status = _CLOSED_BY_CLIENT
        except (Exception, asyncio.CancelledError) as error:
            refusal = _refusal(error)
            self._metrics.refusals.labels(refusal.code).inc()
            if exchange.status == 0:
                await exchange.drain()
                with suppress(ClientDisconnect, OSError):
                    await _response(refusal)(scope, exchange.receive, exchange.send)

    @contextmanager
    def _rate_of_address(self, scope: Scope) -> Iterator[None]:
        """Lets a request pass that a site signs, or its address may make besides: who signs is known when it has run."""
        if is_proved(scope):
            yield
            return
        client = self._client(scope)
        self._unsigned.take(client)
        try:
            yield
        finally:
            if SITE in scope:
                self._unsigned.give_back(client)

    def _client(self, scope: Scope) -> str:
        lines = [value.decode("latin-1") for name, value in scope["headers"] if name == FORWARDED_FOR]
        return self._proxies.client(scope["client"][0], lines) if scope.get("client") else ""

    def _note(self, scope: Scope, exchange: _Exchange, seconds: float) -> None:
        route = getattr(scope.get("endpoint"), "__name__", "none")
        self._metrics.requests.labels(route, str(exchange.status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        # Any letters make a method, 64 KiB of them.
        method = _UNPRINTABLE.sub("?", scope["method"][:_METHOD_CHARACTERS])
        path = _UNPRINTABLE.sub("?", scope.get("raw_path", b"").partition(b"?")[0][:200].decode("latin-1"))
        site = scope.get(SITE, "-")
        LOG.info("%s %s %d %d bytes %d ms %s", method, path, exchange.status, exchange.sent, seconds * 1000, site)


class _Exchange:
    """Watches how far an answer and a body have got."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, rate: MinimumDataRate) -> None:
        self.status = 0
        self.sent = 0
        self._scope = scope
        self._receive = receive
        self._send = send
        self._rate = rate
        # To read is to answer "100 Continue": who waits for that is refused without it.
        self._more = all(name != b"expect" for name, _ in scope["headers"])

    async def receive(self) -> Message:
        message = await self._receive()
        self._more = message["type"] == "http.request" and message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            _check_form(message)
            self.status = message["status"]
        body_bytes = len(message.get("body", b""))
        self.sent += body_bytes
        try:
            await self._rate.wait(self._send(message))
        except TimeoutError as error:
            # Who does not take the answer is as good as gone; the server closes a connection whose answer is not whole.
            raise ClientDisconnect from error
        self._rate.earn(body_bytes)

    async def drain(self) -> None:
        """Reads what is left of a body, within limits: who is cut off while sending does not see why."""
        left = MAX_CHUNK_BYTES if SITE in self._scope else MAX_MESSAGE_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                while self._more and left > 0:
                    left -= len((await self.receive()).get("body", b""))


def _check_form(message: Message) -> None:
    """Refuses anew, in our form, what the framework refuses by itself: a method, a range.

    Raises:
        RequestError: it does.
    """
    status, headers = message["status"], {name.decode(): value.decode() for name, value in message.get("headers", ())}
    if status >= 400 and "problem" not in headers:
        kept = {name: text for name, text in headers.items() if name in _SAID_WITH_A_STATUS}
        raise RequestError(_WHY.get(status, "expected another request; correct it"), status=status, headers=kept)


def _refusal(error: BaseException) -> RequestError:
    """The error as the site may see it: what is wrong here is no business of its own.

    An error of the format is about the request: what the server calls raises another kind about its own files.
    """
    if isinstance(error, RequestError):
        return error
    if isinstance(error, asyncio.CancelledError):
        return RequestError("the server ends; repeat it later", status=503, code="internal", retry_after_s=5)
    if isinstance(error, ProtocolError):
        return RequestError(str(error), status=422, code="digest" if isinstance(error, DigestError) else "malformed")
    if isinstance(error, DeidError):
        LOG.error("failed: %s", " ".join(str(error).split()))
        return RequestError(
            "the server can't do it now; repeat it later", status=503, code="internal", retry_after_s=30
        )
    # The text of an error that nobody foresaw could hold anything.
    LOG.error("a fault in the program: %s", type(error).__name__)
    return RequestError("a fault in the server; tell the provider", status=500, code="internal")


def _response(refusal: RequestError) -> Response:
    problem = Problem.about(refusal.code, str(refusal))
    headers = {**refusal.headers, "problem": problem.code, "connection": "close"}
    if refusal.retry_after_s is not None:
        headers["retry-after"] = str(refusal.retry_after_s)
    return Response(problem.to_bytes(), refusal.status, headers, "application/json")
