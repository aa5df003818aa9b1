"""Runs the server: TLS, the workspace behind it, an orderly end.

On SIGTERM or SIGINT it takes no new connection, answers the requests that run, finishes the shares that are being taken in,
and ends; shares that wait behind them are left to the next server. Whatever else happens to it, kill -9 included, what was
acknowledged is on the disk and the rest is sent again. On SIGHUP it reads its certificate anew.
"""

from __future__ import annotations

import ctypes
import logging
import resource
import signal
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import uvicorn
from starlette.types import ASGIApp

from aggregator.binding import AnnouncedServer, ServerCertificate, listening
from aggregator.enrolled import shares, site_rotation
from aggregator.errors import AggregatorError, RegistryError, RequestError, UndecidedError, WorkspaceError
from aggregator.sandbox.landlock import landlock_version
from aggregator.server.app import Setup, Work, create_app
from aggregator.server.connections.addresses import Proxies
from aggregator.server.connections.listener import Listener
from aggregator.server.connections.places import Places
from aggregator.server.connections.protocol import Connection
from aggregator.server.ingest_process import IngestProcess, IngestWorkers
from aggregator.server.intake import TakeIn
from aggregator.server.limits import Limits
from aggregator.server.metrics import Metrics
from aggregator.server.middleware import LOG
from aggregator.status.served_certificate import write_served
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.files import flush
from foundation.os_errors import storage_error
from protocols.errors import ProtocolError
from protocols.http.messages import server_address
from protocols.keys.rotation import parse_rotation
from protocols.share.withdrawal import withdrawal_sender
from shared.errors import ConfigurationError

_GRACE_S = 60
_WAITING = 1000
# Files and databases besides the connections.
_OTHER_FILES = 500
_SWITCH_S = 0.0005
WORKERS = 2


@dataclass(frozen=True)
class ServeOptions:
    """How to serve.

    Args:
        host: to listen at.
        port: to listen at; 0 for any that is free.
        certificate: the server's certificate and what lies between it and its authority, PEM.
        key: its private key, PEM.
        address: as sites write it; None for https://HOST:PORT.
        limits: of each site and each address.
        workers: how many shares are taken in at once, each in a process of its own.
        proxies: addresses of reverse proxies in front, whose X-Forwarded-For is believed.
    """

    host: str
    port: int
    certificate: Path
    key: Path
    address: str | None = None
    limits: Limits = field(default_factory=Limits)
    workers: int = WORKERS
    proxies: tuple[str, ...] = ()


def serve(
    workspace: Workspace,
    options: ServeOptions,
    ready: Callable[[str], None],
    renew: Callable[[], None] = lambda: None,
) -> None:
    """Serves until a signal ends it.

    Args:
        workspace: of the provider.
        options: how.
        ready: takes the address once it answers.
        renew: called on SIGHUP besides, for what else has the certificate.

    Raises:
        ConfigurationError: the certificate can't be used, or the address is missing.
        PassphraseError: the keys are under a passphrase that is not given.
        StorageError: the port is taken, or others can read the certificate's key.
        DatabaseError: the registry does not answer.
    """
    certificate, metrics, proxies = (
        ServerCertificate(options.certificate, options.key, partial(write_served, workspace, options.certificate)),
        Metrics(),
        Proxies(options.proxies),
    )
    limits = _within_open_files(options.limits)
    # Whoever starts the server is there now to give the passphrase, and not later.
    workspace.unlock()
    workspace.remove_ended_keys()
    process = partial(IngestProcess, passphrase=workspace.passphrase)

    def renew_all(*_: object) -> None:
        certificate.ask()
        renew()

    with (
        _handled((signal.SIGHUP,), renew_all),
        listening(options.host, options.port, waiting=_WAITING, advice="check --host and --port") as listener,
        closing(IngestWorkers(workspace.root, options.workers, process)) as ingest,
    ):
        address = _address(options, listener.getsockname()[1])
        app = create_app(
            replace(setup(workspace, address, limits), workers=options.workers, proxies=proxies),
            work(workspace, ingest.take_in, ingest.resume, ingest.stop),
            metrics,
        )
        places = Places(limits, proxies, lambda why: metrics.turned_away.labels(why).inc())
        guarded = Listener(listener, places)
        # A thread that computes lets the event loop have its turn sooner: it asks for one after every read of a socket.
        sys.setswitchinterval(_SWITCH_S)
        _log_to_standard_error()
        warn_without_landlock()
        # Uvicorn raises a signal once more after it has obeyed it; that one is not to end the process in disorder.
        with _handled((signal.SIGTERM, signal.SIGINT), lambda *_: None):
            server = AnnouncedServer(configure(app, guarded, certificate.context), lambda: ready(address), certificate)
            server.run([guarded])
        if not server.started:
            raise AggregatorError("server: expected it to start, it did not; look at its log")


def configure(app: ASGIApp, listener: Listener, context: ssl.SSLContext, *, grace_s: int = _GRACE_S) -> uvicorn.Config:
    """How uvicorn runs the application.

    Args:
        app: it.
        listener: decides which connections are let in; no other limit holds beside it.
        context: for TLS.
        grace_s: for what runs when the server ends.
    """
    # Whoever connects could have it warn of all that is no HTTP; what is worth a line is in our own log.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=partial(Connection, listener),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=grace_s,
        ssl_context_factory=lambda config, default: context,
    )


def setup(workspace: Workspace, address: str, limits: Limits) -> Setup:
    """What the server of a workspace stands on."""
    folder = workspace.uploads
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # What is flushed in it is not there after a loss of power whose own name is not.
        flush(workspace.root)
    except OSError as error:
        raise storage_error(folder, error) from error
    return Setup(workspace.registry(), folder, workspace.releases, address, limits)


def work(
    workspace: Workspace, take_in: TakeIn, resume: Callable[[], object], stop: Callable[[], object] = lambda: None
) -> Work:
    """What the server of a workspace calls. A site speaks for itself only, whoever signed the message in its request.

    Args:
        workspace: of the provider.
        take_in: decides about a bundle.
        resume: finishes what an earlier run of the server left.
        stop: see `Work`.
    """

    def withdraw(site: str, data: bytes) -> bytes:
        _check_own(site, withdrawal_sender(data)[0])
        with _about_the_message(workspace):
            return shares.carry_out(workspace, data, _not_decided)

    def rotate(site: str, data: bytes) -> bytes:
        _check_own(site, parse_rotation(data).site)
        with _about_the_message(workspace):
            return site_rotation.rotate(workspace, data, by_site=True)

    return Work(take_in, withdraw, rotate, resume, stop)


def _not_decided(share: int | None) -> NoReturn:
    """A share that waits is not decided here, where it would hold up other requests: what decides it knows what its site asks."""
    raise RequestError(
        "expected a share that is decided, got one that waits: it will be withdrawn when it is, and never count; ask again for the receipt",
        status=503,
        code="internal",
        retry_after_s=5,
    )


def _check_own(site: str, named: str) -> None:
    if named != site:
        raise RequestError("expected a message about the site that sends it, got one about another", status=403)


@contextmanager
def _about_the_message(workspace: Workspace) -> Iterator[None]:
    """Sees to it that what the registry or the format says against a message is about it, so that its site may read it."""
    try:
        workspace.key()
    except (ProtocolError, StorageError) as error:
        raise WorkspaceError(f"workspace: expected the provider's signing key, got an error: {error}") from error
    try:
        yield
    except UndecidedError:
        _not_decided(None)
    except RegistryError as error:
        raise RequestError(str(error), status=409, code="conflict") from error


def _within_open_files(limits: Limits) -> Limits:
    """The limits with no more connections than this system lets a process have files: each is one."""
    wanted = limits.connections + _OTHER_FILES
    allowed, ceiling = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        allowed = wanted if ceiling == resource.RLIM_INFINITY else min(wanted, ceiling)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, ceiling))
        return replace(limits, connections=min(limits.connections, max(allowed // 2, allowed - _OTHER_FILES)))
    return limits


def _address(options: ServeOptions, port: int) -> str:
    if options.address is not None:
        return server_address(options.address)
    if options.host in ("", "0.0.0.0", "::"):  # noqa: S104 - the question, not a binding
        raise ConfigurationError("--address: expected the address that sites use, since --host names none; give it")
    return server_address(f"https://{options.host}:{port}")


def warn_without_landlock() -> None:
    """Says in the log that checks of payloads could read more here than they need, where that is so: shares are taken in all the same."""
    if landlock_version(ctypes.CDLL(None)) < 1:
        LOG.warning(
            "expected a kernel with Landlock, got one without: a payload that takes its check over could read what the server can read, though "
            "neither change nor send it; run on Linux 5.13 or later with Landlock switched on"
        )


def _log_to_standard_error() -> None:
    if not LOG.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


@contextmanager
def _handled(numbers: tuple[signal.Signals, ...], handler: Callable[..., None]) -> Iterator[None]:
    """Has signals handled so in the block."""
    try:
        before = {number: signal.signal(number, handler) for number in numbers}
    except ValueError:
        # Not in the main thread: signals are its business.
        before = {}
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
