"""What every server of the provider does before it answers: takes a port, reads its certificate, and says when it is there."""

from __future__ import annotations

import logging
import os
import socket
import ssl
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from foundation.errors import DeidError, StorageError
from shared.errors import ConfigurationError

_LOG = logging.getLogger("aggregator.server")


@contextmanager
def listening(host: str, port: int, *, waiting: int, advice: str) -> Iterator[socket.socket]:
    """A socket that listens.

    Args:
        host: to listen at.
        port: to listen at; 0 for any that is free.
        waiting: connections that may wait to be taken.
        advice: which options to check where it can't.

    Raises:
        StorageError: the port is taken, or there is no such host.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=waiting)
    except OSError as error:
        raise StorageError(
            "a host and a port to listen at",
            received=error.strerror or type(error).__name__,
            advice=advice,
            place=f"{host}:{port}",
        ) from error
    with listener:
        yield listener


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """TLS of a server, 1.2 at least.

    Args:
        certificate: the server's and what lies between it and its authority, PEM.
        key: its private key, PEM.

    Raises:
        ConfigurationError: they can't be used.
        StorageError: others can read the key.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, certificate, key)
    # Its group may be that of the service, as with a file that holds a passphrase.
    if os.name == "posix" and stat.S_IMODE(key.stat().st_mode) & 0o027:
        raise StorageError(
            "a private key that only its owner, and at most its group, can read",
            received="wider rights",
            advice=f"run chmod 600 {key.name}, and replace the key if others could read it",
            place=key.name,
        )
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    try:
        context.load_cert_chain(certificate, key, _no_passphrase)
    except OSError as error:
        raise ConfigurationError(
            f"{certificate.name}, {key.name}: expected a certificate and its private key in PEM, got something "
            "else; check --certificate and --key"
        ) from error


def _no_passphrase() -> str:
    # Else OpenSSL asks at the terminal, where there may be none.
    raise ConfigurationError(
        "--key: expected a private key without a passphrase, got one with it; take it off with the tools that made it, and keep the file "
        "its owner's alone"
    )


class ServerCertificate:
    """The certificate of a server that runs, which newer files may replace.

    Args:
        certificate, key: as for `tls_context`, which says what is raised.
        served: called once they are served, now and whenever they are read anew.
    """

    def __init__(self, certificate: Path, key: Path, served: Callable[[], None] = lambda: None) -> None:
        self._files, self._served = (certificate, key), served
        self._asked = False
        self.context = tls_context(certificate, key)
        served()

    def ask(self, *_: object) -> None:
        """Has the files read anew soon; made to handle a signal."""
        self._asked = True

    def renew_if_asked(self) -> None:
        """Reads them anew where somebody has asked; the certificate before is served on where they can't be used."""
        if not self._asked:
            return
        self._asked = False
        try:
            # Elsewhere first: of two files that do not fit each other, one would stay in what is served.
            tls_context(*self._files)
            _load(self.context, *self._files)
        except DeidError as error:
            _LOG.error("certificate not renewed, the one before is served on: %s", error)
            return
        _LOG.info("certificate renewed")
        try:
            self._served()
        except DeidError as error:
            _LOG.error("certificate renewed, and not noted: %s", error)


class AnnouncedServer(uvicorn.Server):
    """Says when it answers, and keeps its certificate new.

    Args:
        config: how uvicorn runs the application.
        ready: called once it does.
        certificate: that may be renewed meanwhile; None for none.
    """

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], certificate: ServerCertificate | None = None
    ) -> None:
        super().__init__(config)
        self._ready, self._certificate = ready, certificate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        """See uvicorn, which calls it ten times a second."""
        if self._certificate is not None:
            self._certificate.renew_if_asked()
        return await super().on_tick(counter)
