"""Runs the dashboard's application until a signal ends it, at a socket of its own."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import AbstractContextManager

import uvicorn
from starlette.types import ASGIApp

from aggregator.binding import AnnouncedServer, listening, tls_context
from aggregator.dashboard.access.sessions import Sessions
from aggregator.dashboard.access.signing_in import SignIn
from aggregator.dashboard.app import Dashboard
from aggregator.dashboard.jobs.running import Jobs
from aggregator.dashboard.options import DashboardOptions
from aggregator.errors import AggregatorError
from aggregator.workspace import Workspace

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
    context = _tls(options)
    jobs = Jobs(workspace.root, workspace.passphrase)
    try:
        with at(options) as listener:
            origin = options.origin(listener.getsockname()[1])
            app = Dashboard(workspace, jobs, options, origin, Sessions(), SignIn(workspace)).guarded()
            server = AnnouncedServer(configure(app, context), lambda: ready(origin))
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


def at(options: DashboardOptions) -> AbstractContextManager[socket.socket]:
    """The socket of the dashboard.

    Raises:
        StorageError: the port is taken, or there is no such host.
    """
    return listening(options.host, options.port, waiting=_WAITING, advice="check --dashboard")


def _tls(options: DashboardOptions) -> ssl.SSLContext | None:
    if not options.uses_tls:
        return None
    assert options.certificate is not None
    assert options.key is not None
    return tls_context(options.certificate, options.key)
