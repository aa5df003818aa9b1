"""What every server of the provider does before it answers: takes a port, reads its certificate, and says when it is there."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from foundation.errors import StorageError
from shared.errors import ConfigurationError


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
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise ConfigurationError(
            f"{certificate.name}, {key.name}: expected a certificate and its private key in PEM, got something "
            "else; check --certificate and --key"
        ) from error
    return context


class AnnouncedServer(uvicorn.Server):
    """Says when it answers.

    Args:
        config: how uvicorn runs the application.
        ready: called once it does.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        if self.started:
            self._ready()
