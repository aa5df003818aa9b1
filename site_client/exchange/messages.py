"""Small signed messages to the provider's server, over HTTPS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from site_client.errors import SiteError
from site_client.exchange.transport import Connection, Transport
from site_client.workspace import Workspace


def connection_of(workspace: Workspace, ca: Path | None, proxy: str | None) -> Connection:
    """The way to the server that the provider's signed record names.

    Raises:
        WorkspaceError: no provider is known yet.
        SiteError: the provider has no server.
    """
    server = workspace.pinned_provider().server
    if not server:
        raise SiteError("expected a provider with a server, found one without; write a file for a stick instead")
    return Connection(server, ca, proxy)


def post(
    workspace: Workspace,
    path: str,
    body: bytes,
    connection: Connection,
    tell: Callable[[str], None] = lambda line: None,
) -> bytes:
    """Send one message and return the answer, which is for the caller to verify.

    Args:
        workspace: of the site.
        path: of the interface.
        body: the message.
        connection: the way there.
        tell: takes lines for the person in front of the machine.

    Raises:
        RefusedError: the server does not take it.
        UnreachableError: no answer, however often it was tried.
    """
    with Transport(connection, workspace.key(), tell=tell) as transport:
        return transport.request("POST", path, body).body
