"""Runs the dashboard's application until a signal ends it, at a socket of its own."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from aggregator.dashboard.access.sessions import Sessions
from aggregator.dashboard.access.signing_in import SignIn
from aggregator.dashboard.app import Dashboard
from aggregator.dashboard.jobs.running import Jobs
from aggregator.dashboard.options import DashboardOptions
from aggregator.errors import AggregatorError
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from shared.errors import ConfigurationError

_WAITING = 64
_GRACE_S = 5
_CONNECTIONS = 128
# What uvicorn would log holds addresses and paths.
_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access")


def run(
    workspace: Workspace,
    options: DashboardOptions,
    ready: Callable[[str], None],
    stop: Callable[[uvicorn.Server], None],
) -> None:
    """Serve until a signal ends it; jobs that run end with it.

    Args:
        workspace: of the provider, unlocked.
        options: how.
        ready: takes the address once it answers.
        stop: is given the server, to end it by `should_exit`.

    Raises:
        ConfigurationError: the certificate can't be used.
        StorageError: the port is taken.
    """
    context = _tls(options) if options.uses_tls else None
    jobs = Jobs(workspace.root, workspace.passphrase)
    try:
        with listening(options) as listener:
            origin = options.origin(listener.getsockname()[1])
            app = Dashboard(workspace, jobs, options, origin, Sessions(), SignIn(workspace)).guarded()
            server = _Server(configure(app, context), lambda: ready(origin))
            stop(server)
            server.run([listener])
        if not server.started:
            raise AggregatorError("dashboard: expected it to start, it did not; try another port")
    finally:
        jobs.close()


def configure(app: ASGIApp, context: ssl.SSLContext | None) -> uvicorn.Config:
    """How uvicorn runs the application.

    Args:
        app: it.
        context: for TLS; None for none.
    """
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    tls = {} if context is None else {"ssl_context_factory": lambda config, default: context}
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Who asks is for the guard to say, which knows the proxies.
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
        **tls,  # type: ignore[arg-type]
    )


@contextmanager
def listening(options: DashboardOptions) -> Iterator[socket.socket]:
    """The socket of the dashboard.

    Raises:
        StorageError: the port is taken, or there is no such host.
    """
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listener = socket.create_server((options.host, options.port), family=family, backlog=_WAITING)
    except OSError as error:
        raise StorageError(
            "a host and a port to listen at",
            received=error.strerror or type(error).__name__,
            advice="check --dashboard",
            place=f"{options.host}:{options.port}",
        ) from error
    with listener:
        yield listener


class _Server(uvicorn.Server):
    """Says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def _tls(options: DashboardOptions) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    assert options.certificate is not None
    try:
        context.load_cert_chain(options.certificate, options.key)
    except OSError as error:
        raise ConfigurationError(
            f"{options.certificate.name}: expected a certificate and its private key in PEM, got something else; check "
            "--certificate and --key"
        ) from error
    return context
