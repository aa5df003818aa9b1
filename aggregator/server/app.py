"""The HTTP interface: routes from requests to what does the work. Signed by sites but for time, releases, health, figures.

    POST  /v1/uploads               201 with Location and Upload-Offset, or 200 with the receipt where the bundle is known
    HEAD  /v1/uploads/ID            204 with Upload-Offset
    PATCH /v1/uploads/ID            204 with Upload-Offset, once the piece is on the disk
    POST  /v1/uploads/ID/finish     200 with the receipt, or 202 while the share is being checked
    GET   /v1/receipts/SHA256       200 with the receipt as it stands
    POST  /v1/withdrawals           200 with the receipt
    POST  /v1/rotations             200 with the acceptance
    GET   /v1/time, /releases/NAME, /healthz, /metrics

A refusal has a body like `protocols.http.messages.Problem` and its code in the header Problem. Every request may be repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from aggregator.errors import RequestError
from aggregator.registry import Registry
from aggregator.registry.tables import UploadRow
from aggregator.server.authentication import Authenticator, Caller
from aggregator.server.connections.addresses import Proxies
from aggregator.server.connections.protocol import holder, prove
from aggregator.server.data_rate import MinimumDataRate
from aggregator.server.intake import WAIT_S, Intake, TakeIn
from aggregator.server.limits import Limits, Running, TokenBuckets
from aggregator.server.metrics import CONTENT_TYPE, Metrics
from aggregator.server.middleware import LOG, SITE, Middleware
from aggregator.server.release_files import release_file
from aggregator.server.uploads import Uploads
from aggregator.server.waiting import Gathering, Turns
from protocols.fields import SHA256
from protocols.http.messages import MAX_CHUNK_BYTES, MAX_MESSAGE_BYTES, ServerTime, UploadRequest

_TIDY_S = 600
_FORGIVEN_BYTES = 1 << 20
# Nothing of this interface belongs into a browser or a cache.
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True)
class Work:
    """What the server calls; each but `stop` blocks and runs in a thread.

    Args:
        take_in: decides about a bundle.
        withdraw: carries out a signed withdrawal of a site; returns the receipt.
        rotate: takes a new key of a site; returns the acceptance.
        resume: finishes what an earlier run of the server left.
        stop: lets nothing new begin and gives up `resume`, so that the server can end; returns at once.
    """

    take_in: TakeIn
    withdraw: Callable[[str, bytes], bytes]
    rotate: Callable[[str, bytes], bytes]
    resume: Callable[[], object] = lambda: None
    stop: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Setup:
    """What a server stands on.

    Args:
        registry: of the workspace.
        uploads: folder for bundles on their way in.
        releases: folder of the release repository.
        address: as sites write it.
        limits: of each site and each address.
        proxies: in front of the server, whose word on their clients is taken.
        clock: seconds since 1970.
        wait_s: how long a request waits for a receipt.
        workers: how many shares are taken in at once.
    """

    registry: Registry
    uploads: Path
    releases: Path
    address: str
    limits: Limits = field(default_factory=Limits)
    proxies: Proxies = field(default_factory=Proxies)
    clock: Callable[[], float] = time.time
    wait_s: float = WAIT_S
    workers: int = 1


def create_app(setup: Setup, work: Work, metrics: Metrics | None = None) -> ASGIApp:
    """The ASGI application; its figures may be shared with what accepts its connections."""
    metrics = metrics or Metrics()
    turns = Turns()
    uploads = Uploads(setup.registry, setup.uploads, setup.limits, setup.clock, turns)
    interface = _Interface(setup, work, metrics, uploads, turns)
    # No redirection: its answer would repeat what the request says of its host.
    router = Router(interface.routes(), redirect_slashes=False, default=_nothing, lifespan=interface.lifespan)
    return Middleware(router, metrics, setup.limits, setup.proxies)


class _Interface:
    def __init__(self, setup: Setup, work: Work, metrics: Metrics, uploads: Uploads, turns: Turns) -> None:
        self._setup = setup
        self._work = work
        self._metrics = metrics
        self._uploads = uploads
        self._turns = turns
        # A withdrawal deletes in a store that may be slow, and nobody's signature is to wait for that.
        self._changes = Turns()
        self._authenticator = Authenticator(setup.registry, setup.address, setup.clock)
        self._nonces = Gathering(self._authenticator.use_up)
        # Nobody signs these: while the database is silent they hold one thread, and not all that releases need.
        self._health = Gathering(self._look)
        self._buckets = TokenBuckets(setup.limits.requests_per_s, setup.limits.burst, time.monotonic)
        self._requests = Running(setup.limits)
        self._intake = Intake(
            uploads, work.take_in, lambda state: metrics.decided.labels(state).inc(), setup.wait_s, setup.workers
        )

    def routes(self) -> list[Route]:
        return [
            Route("/v1/uploads", self._signed(self.begin), methods=["POST"]),
            Route("/v1/uploads/{name}", self._signed(self.offset), methods=["HEAD"]),
            Route("/v1/uploads/{name}", self._signed(self.append), methods=["PATCH"]),
            Route("/v1/uploads/{name}/finish", self._signed(self.finish), methods=["POST"]),
            Route("/v1/receipts/{digest}", self._signed(self.receipt), methods=["GET"]),
            Route("/v1/withdrawals", self._signed(self.withdraw), methods=["POST"]),
            Route("/v1/rotations", self._signed(self.rotate), methods=["POST"]),
            Route("/v1/time", self.time, methods=["GET"]),
            Route("/releases/{name:path}", self.release, methods=["GET"]),
            Route("/healthz", self.health, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    def lifespan(self, app: object) -> AbstractAsyncContextManager[None]:
        return self._running()

    async def begin(self, request: Request, caller: Caller) -> Response:
        asked = UploadRequest.from_bytes(await self._message(request, caller))
        found = await self._turns.run(caller.site, self._uploads.begin, caller.site, asked)
        if isinstance(found, bytes):
            return _json(found)
        headers = {"location": f"/v1/uploads/{found.id}", "upload-offset": str(found.offset)}
        return Response(b"", 201, {**_HEADERS, **headers})

    async def offset(self, request: Request, caller: Caller) -> Response:
        await self._message(request, caller)
        upload = await self._turns.run(caller.site, self._uploads.find, caller.site, request.path_params["name"])
        return _offset(upload.offset)

    async def append(self, request: Request, caller: Caller) -> Response:
        pieces = self._pieces(request, MAX_CHUNK_BYTES)
        end = await self._uploads.append(caller, request.path_params["name"], pieces)
        arrived = end - (caller.parts.offset or 0)
        self._metrics.received.inc(arrived)
        # Small pieces are paid for in full: with them, a site could ask without end.
        if arrived >= _FORGIVEN_BYTES:
            self._turns.forgive(caller.site)
        return _offset(end)

    async def finish(self, request: Request, caller: Caller) -> Response:
        await self._message(request, caller)
        upload = await self._turns.run(caller.site, self._uploads.find, caller.site, request.path_params["name"])
        receipt = await self._intake.finish(upload)
        return Response(b"", 202, {**_HEADERS, "retry-after": "2"}) if receipt is None else _json(receipt)

    async def receipt(self, request: Request, caller: Caller) -> Response:
        await self._message(request, caller)
        digest = request.path_params["digest"]
        found = None
        if SHA256.fullmatch(digest):
            found = await self._turns.run(caller.site, self._uploads.receipt, caller.site, digest)
        if found is None:
            raise RequestError("expected a bundle with a receipt, got another; submit it", status=404, code="not-found")
        return _json(found)

    async def withdraw(self, request: Request, caller: Caller) -> Response:
        message = await self._message(request, caller)
        return _json(await self._changes.run(caller.site, self._work.withdraw, caller.site, message))

    async def rotate(self, request: Request, caller: Caller) -> Response:
        message = await self._message(request, caller)
        return _json(await self._changes.run(caller.site, self._work.rotate, caller.site, message))

    async def time(self, request: Request) -> Response:
        return _json(ServerTime(int(self._setup.clock())).to_bytes())

    async def release(self, request: Request) -> Response:
        # Several lines of a header are one list.
        ranges = ",".join(request.headers.getlist("range"))
        return await asyncio.to_thread(release_file, self._setup.releases, request.path_params["name"], ranges)

    async def health(self, request: Request) -> Response:
        await self._health.ask(None)
        return _json(b'{"healthy":true}')

    def _look(self, asked: Sequence[None]) -> Sequence[None]:
        """Asks the database something, once for all who want to know whether it answers."""
        with self._setup.registry.reading() as session:
            session.execute(select(UploadRow.id).limit(1))
        return asked

    async def metrics(self, request: Request) -> Response:
        return Response(self._metrics.page(), headers={**_HEADERS, "content-type": CONTENT_TYPE})

    def _signed(
        self, answer: Callable[[Request, Caller], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """An answer to those alone who have signed their request and are within the limits of their site."""

        @wraps(answer)
        async def answer_to_caller(request: Request) -> Response:
            caller = await self._caller(request)
            request.scope[SITE] = caller.site
            with self._requests.one(caller.site):
                self._buckets.take(caller.site)
                refusal = await self._nonces.ask(caller)
                if refusal is not None:
                    raise refusal
                prove(request.scope, caller.site)
                return await answer(request, caller)

        return answer_to_caller

    async def _caller(self, request: Request) -> Caller:
        headers: dict[str, str] = {}
        for name, value in request.headers.items():
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        query = request.scope.get("query_string", b"")
        target = (request.scope["raw_path"] + (b"?" + query if query else b"")).decode("ascii", "replace")
        return await self._turns.run(
            holder(request.scope), self._authenticator.authenticate, request.method, target, headers
        )

    async def _message(self, request: Request, caller: Caller) -> bytes:
        """The whole body of a short message, the one that was signed."""
        body = b"".join([piece async for piece in self._pieces(request, MAX_MESSAGE_BYTES)])
        caller.parts.check_body(hashlib.sha256(body).digest())
        return body

    async def _pieces(self, request: Request, max_bytes: int) -> AsyncIterator[bytes]:
        stream, rate, left = request.stream(), MinimumDataRate(self._setup.limits), max_bytes
        while True:
            try:
                piece = await rate.wait(anext(stream))
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise RequestError(
                    "expected the body, got silence or a trickle; send it again", status=408, code="slow"
                ) from error
            rate.earn(len(piece))
            left -= len(piece)
            if left < 0:
                raise RequestError(
                    f"expected at most {max_bytes} bytes at once, got more", status=413, code="too-large"
                )
            yield piece

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        # What an earlier run left may take hours, and the rest must not wait for it.
        keepers = [
            asyncio.create_task(self._keep_tidy(self._uploads.tidy, self._authenticator.forget_nonces)),
            asyncio.create_task(self._keep_tidy(self._work.resume)),
        ]
        try:
            yield
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            self._work.stop()
            await self._intake.close()
            for turns in (self._turns, self._changes):
                turns.close()

    async def _keep_tidy(self, *steps: Callable[[], object]) -> None:
        while True:
            for step in steps:
                try:
                    await asyncio.to_thread(step)
                except Exception as error:
                    # The server goes on: what failed is tried again.
                    LOG.error("tidying failed: %s", type(error).__name__)
            await asyncio.sleep(_TIDY_S)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise RequestError("expected an address of this interface, got another; check it", status=404, code="not-found")


def _json(body: bytes) -> Response:
    return Response(body, headers={**_HEADERS, "content-type": "application/json"})


def _offset(offset: int) -> Response:
    return Response(status_code=204, headers={**_HEADERS, "upload-offset": str(offset)})
