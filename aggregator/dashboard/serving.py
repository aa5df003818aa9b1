"""Runs the dashboard's application until a signal ends it, at a socket of its own.

Who holds connections and says nothing locks nobody out: places, and the time for a first header, are those of the server for
hospitals. Where proxies are named, nobody else gets a connection at all.
"""

from __future__ import annotations

import logging
import signal
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from aggregator.binding import AnnouncedServer, ServerCertificate, listening
from aggregator.dashboard.access.sessions import Sessions
from aggregator.dashboard.access.signing_in import SignIn
from aggregator.dashboard.app import Dashboard
from aggregator.dashboard.jobs.running import Jobs, alone
from aggregator.dashboard.options import DashboardOptions
from aggregator.errors import AggregatorError
from aggregator.server.connections.addresses import Proxies
from aggregator.server.connections.listener import Listener
from aggregator.server.connections.places import Places
from aggregator.server.connections.protocol import Connection
from aggregator.server.limits import Limits
from aggregator.workspace import Workspace

_WAITING = 64
_GRACE_S = 5
LIMITS = Limits(connections=128, address_connections=64, address_connections_per_s=20)
"""People are few, but an office, or a proxy on this machine that opens a connection for every request, is one address."""
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
        StorageError: the port is taken, or another dashboard serves the workspace.
    """
    certificate = _certificate(options)
    with alone(workspace.root), closing(Jobs(workspace.root, workspace.passphrase)) as jobs, at(options) as listener:
        origin = options.origin(listener.getsockname()[1])
        app = Dashboard(workspace, jobs, options, origin, Sessions(), SignIn(workspace)).guarded()
        context = None if certificate is None else certificate.context
        server = AnnouncedServer(configure(app, listener, context), lambda: ready(origin), certificate)
        stop(server)
        server.run([listener])
        if not server.started:
            raise AggregatorError("dashboard: expected it to start, it did not; try another port")


def configure(app: ASGIApp, listener: Listener, context: ssl.SSLContext | None) -> uvicorn.Config:
    """How uvicorn runs the application.

    Args:
        app: it.
        listener: decides which connections are let in; no other limit holds beside it.
        context: for TLS; None for none.
    """
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    tls = {} if context is None else {"ssl_context_factory": lambda config, default: context}
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=partial(Connection, listener),  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Who asks is for the guard to say, which knows the proxies.
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
        **tls,  # type: ignore[arg-type]
    )


@contextmanager
def at(options: DashboardOptions) -> Iterator[Listener]:
    """The socket of the dashboard.

    Raises:
        StorageError: the port is taken, or there is no such host.
    """
    places = Places(LIMITS, Proxies(options.proxies), only_proxies=bool(options.proxies))
    with (
        listening(options.host, options.port, waiting=_WAITING, advice="check --dashboard") as plain,
        Listener(plain, places) as listener,
    ):
        yield listener


def _certificate(options: DashboardOptions) -> ServerCertificate | None:
    if not options.uses_tls:
        return None
    assert options.certificate is not None
    assert options.key is not None
    certificate = ServerCertificate(options.certificate, options.key)
    # The server for hospitals sends it on.
    signal.signal(signal.SIGHUP, certificate.ask)
    return certificate
