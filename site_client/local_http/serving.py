"""Runs an application on this machine's loopback, or at a socket in a folder, until a signal ends it. Nothing is logged."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from foundation.errors import StorageError
from site_client.errors import SiteError

HOST = "127.0.0.1"
_WAITING = 64
_GRACE_S = 5
_CONNECTIONS = 64
SILENCE_S = 15.0


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket that only programs of this machine reach.

    Args:
        port: 0 for any that is free.

    Raises:
        StorageError: another program has it.
    """
    # Its protocol by name: asyncio sends without delay only through a socket that says TCP, and else an answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        raise StorageError(
            "a port of this machine to listen at",
            received=error.strerror or type(error).__name__,
            advice="give another one by --port, or 0 for any that is free",
            place=f"{HOST}:{port}",
        ) from error
    with listener:
        yield listener


@contextmanager
def listening_at(path: Path) -> Iterator[socket.socket]:
    """A socket that only programs of this account reach: a port belongs to whoever takes it first, while this program is down too.

    Args:
        path: where it is made, in a folder of this account that others can't write; what a killed program left there is replaced.

    Raises:
        StorageError: the folder is somebody else's, another program listens there, or a file lies there.
    """

    def refused(found: str) -> StorageError:
        return StorageError(
            "a place for a socket in a folder that this account alone can write",
            received=found,
            advice="give another one by --socket",
            place=path.name,
        )

    try:
        folder = path.absolute().parent.stat()
    except OSError as error:
        raise refused(error.strerror or type(error).__name__) from error
    if folder.st_uid != os.getuid() or folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise refused("one that others can write")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        if path.is_socket() and not _answers(path):
            path.unlink()
        listener.bind(str(path))
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        # Of a path that is too long the system is not asked, so it has no words for it.
        raise refused(error.strerror or "a path that is too long for a socket") from error
    finally:
        os.umask(mask)
    with listener:
        yield listener
    path.unlink(missing_ok=True)


def _answers(path: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.connect(str(path))
        return True
    return False


def serve(app: ASGIApp, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serves until SIGINT or SIGTERM; what runs is answered first.

    Args:
        app: behind its `Guard`.
        listener: from `listening` or `listening_at`.
        ready: is called once it answers.

    Raises:
        SiteError: it did not start.
    """
    # Whatever the library would say of a request, it says to nobody.
    silent = logging.getLogger("uvicorn")
    silent.handlers, silent.propagate = [logging.NullHandler()], False
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = _Server(config, ready)
    with _signals_end_it_once():
        server.run([listener])
    if not server.started:
        raise SiteError("the local server: expected it to start, it did not; try another port by --port")


class _Connection(H11Protocol):
    """Ends where no whole header comes in time: who only connects would hold one of few places for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._answered: Any = None
        self._watch = self.loop.call_later(SILENCE_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle: Any = self.cycle
        if cycle is self._answered and (cycle is None or cycle.response_complete):
            self.transport.close()
        self._answered = cycle
        self._watch = self.loop.call_later(SILENCE_S, self._look)


class _Server(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # What loads at the first use of a thread would keep the first request waiting for half a second.
        await run_in_threadpool(lambda: None)
        await super().startup(sockets)
        if self.started:
            self._ready()


@contextmanager
def _signals_end_it_once() -> Iterator[None]:
    """Uvicorn raises a signal once more after it has obeyed it; that one is not to end the process in disorder."""
    try:
        before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    except ValueError:
        # Not in the main thread: signals are its business.
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
