"""Who holds connections to the dashboard and says nothing, against a real server: everybody else gets in all the same."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import pytest
import uvicorn

from aggregator.dashboard import serving
from aggregator.dashboard.options import DashboardOptions
from aggregator.workspace import Workspace
from bench.dashboard.served import make_app
from tests.aggregator.copied import new_world

STRANGER, PERSON, PROXY = "127.0.0.9", "127.0.0.3", "127.0.0.5"
MANY = 200
"""More than there are places."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return new_world(tmp_path_factory.mktemp("desk") / "world").workspace()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is turned away for haste, and nobody waits long for whoever is silent."""
    monkeypatch.setattr(serving, "LIMITS", replace(serving.LIMITS, address_connections_per_s=1e6, first_s=1))


@contextmanager
def port_of(workspace: Workspace, **options: object) -> Iterator[int]:
    given = DashboardOptions("127.0.0.1", 0, **options)  # type: ignore[arg-type]
    with serving.at(given) as listener:
        port = int(listener.getsockname()[1])
        app = make_app(workspace, given.origin(port), given)
        server = uvicorn.Server(serving.configure(app, listener, None))
        thread = threading.Thread(target=lambda: server.run([listener]), daemon=True)
        thread.start()
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join(30)


def connected(port: int, source: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 20, (source, 0))


def asked(port: int, source: str, host: str) -> bytes:
    """The first line of the answer to somebody who asks; b"" where there is none."""
    with closing(connected(port, source)) as connection:
        connection.sendall(f"GET /files/icon.svg HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
        return connection.recv(4096).partition(b"\r\n")[0]


def is_cut(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_attack_a_host_that_holds_all_it_can_and_says_nothing_locks_nobody_out(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIMITS", replace(serving.LIMITS, first_s=60))
    with port_of(workspace) as port, ExitStack() as held:
        for _ in range(MANY):
            held.enter_context(connected(port, STRANGER))
        assert asked(port, PERSON, f"127.0.0.1:{port}") == b"HTTP/1.1 200 OK"
        assert asked(port, STRANGER, f"127.0.0.1:{port}") == b"HTTP/1.1 200 OK"


def test_attack_many_hosts_that_say_nothing_lock_nobody_out(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LIMITS", replace(serving.LIMITS, first_s=60))
    with port_of(workspace) as port, ExitStack() as held:
        for number in range(MANY):
            held.enter_context(connected(port, f"127.0.1.{number + 1}"))
        assert asked(port, PERSON, f"127.0.0.1:{port}") == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n"])
def test_attack_whoever_does_not_end_a_first_header_is_cut(workspace: Workspace, said: bytes) -> None:
    with port_of(workspace) as port, closing(connected(port, STRANGER)) as connection:
        connection.sendall(said)
        began = time.monotonic()
        assert is_cut(connection)
        assert time.monotonic() - began < 15


def test_attack_whoever_comes_past_the_proxy_gets_no_connection(workspace: Workspace) -> None:
    proxied = {"proxies": (PROXY,), "address": "https://dash.example.org"}
    with port_of(workspace, **proxied) as port, ExitStack() as held:
        past = [held.enter_context(connected(port, STRANGER)) for _ in range(MANY)]
        assert all(is_cut(one) for one in past)
        assert asked(port, PROXY, "dash.example.org") == b"HTTP/1.1 200 OK"
        with closing(connected(port, STRANGER)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: dash.example.org\r\n\r\n")
            assert is_cut(connection)
