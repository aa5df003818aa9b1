"""Who holds connections, says nothing, says it slowly, or speaks no HTTP, against a real server over TLS."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
import uvicorn
from uvicorn.server import ServerState

from aggregator.server.connections.addresses import Proxies
from aggregator.server.connections.listener import Listener
from aggregator.server.connections.places import Places
from aggregator.server.connections.protocol import Connection
from aggregator.server.limits import Limits
from aggregator.server.metrics import Metrics
from bench.exchange.certificates import Certificates, make_certificates
from protocols.http.messages import MAX_MESSAGE_BYTES, Problem, UploadRequest
from tests.aggregator.server.service import (
    KEY,
    Provider,
    answer,
    bundle,
    connected,
    head,
    listening,
    problem,
    provider,
    run,
    site,
)
from tests.waiting import until

HOST, OTHER = "127.0.0.9", "127.0.0.3"
TIME = b"GET /v1/time HTTP/1.1\r\nhost: localhost\r\n\r\n"
BODY = UploadRequest("ab" * 32, 6_000).to_bytes()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"), "localhost", "127.0.0.1")


class Served:
    """A server, and what it has turned away."""

    def __init__(self, central: Provider, address: str, certificates: Certificates, turned_away: list[str]) -> None:
        self.central = central
        self.address = address
        self.port = int(address.rsplit(":", 1)[1])
        self.turned_away = turned_away
        self._certificates = certificates

    def connected(self, source: str = "127.0.0.1") -> Any:
        return connected(self._certificates, self.port, source)

    def plain(self, source: str = HOST) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 30, (source, 0))

    def said(self, request: bytes, source: str = "127.0.0.1") -> tuple[int, bytes, bytes]:
        """Status, headers and body of the answer to a request after which the server ends the connection."""
        with self.connected(source) as connection:
            connection.sendall(request)
            return whole(connection)

    def begin(self, extra: bytes = b"") -> bytes:
        """A signed request without its body."""
        return head("POST", f"{self.address}/v1/uploads", KEY, BODY)[:-2] + extra + b"\r\n"


def whole(connection: ssl.SSLSocket) -> tuple[int, bytes, bytes]:
    received = b""
    while data := connection.recv(1 << 16):
        received += data
    start, _, body = received.partition(b"\r\n\r\n")
    return int(start.split()[1]), start.lower(), body


@contextmanager
def serving(folder: Path, certificates: Certificates, **limits: Any) -> Iterator[Served]:
    central, turned_away = provider(folder, Limits(**limits)), list[str]()
    places = Places(central.setup.limits, Proxies(), turned_away.append)
    with listening(lambda address: central.make_app(address=address), certificates, places=places) as address:
        yield Served(central, address, certificates, turned_away)
    central.registry.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("provider"), certificates, address_connections_per_s=1e6) as one:
        (one.central.setup.releases / "targets" / "representer").write_bytes(b"0123456789")
        yield one


def test_attack_one_host_that_holds_all_it_can_locks_nobody_out(tmp_path: Path, certificates: Certificates) -> None:
    limits = {"connections": 30, "address_connections": 8, "site_connections": 4, "address_connections_per_s": 1e6}
    with serving(tmp_path, certificates, **limits) as server, ExitStack() as held:
        for _ in range(60):
            held.enter_context(server.plain())
        with server.connected(OTHER) as connection:
            connection.sendall(server.begin() + BODY)
            assert answer(connection).startswith(b"HTTP/1.1 201")
            # And it stays, whatever comes from its own address or from others.
            for source in (OTHER, *(f"127.0.1.{number}" for number in range(1, 6))):
                for _ in range(12):
                    held.enter_context(server.plain(source))
            connection.sendall(TIME)
            assert answer(connection).startswith(b"HTTP/1.1 200")
        # Also who comes from the same address as the host.
        with server.connected(HOST) as connection:
            connection.sendall(server.begin() + BODY)
            assert answer(connection).startswith(b"HTTP/1.1 201")
        assert set(server.turned_away) == {"address", "full"}


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01"])
def test_attack_who_does_not_finish_tls_is_cut_off(tmp_path: Path, certificates: Certificates, said: bytes) -> None:
    with serving(tmp_path, certificates, first_s=0.3) as server, server.plain() as connection:
        connection.sendall(said)
        assert connection.recv(1) == b""
        assert server.turned_away == ["silent"]


def test_attack_who_trickles_a_first_header_is_cut_off_and_who_works_is_not(
    tmp_path: Path, certificates: Certificates
) -> None:
    with serving(tmp_path, certificates, first_s=0.5) as server, server.connected(OTHER) as honest:
        honest.sendall(server.begin() + BODY[:10])
        with server.connected() as connection, pytest.raises(OSError):  # noqa: PT011 - cut in several ways
            trickle(connection, TIME[:20])
        time.sleep(0.5)
        honest.sendall(BODY[10:])
        assert answer(honest).startswith(b"HTTP/1.1 201")
        assert server.turned_away == ["silent"]


def trickle(connection: ssl.SSLSocket, start: bytes) -> None:
    connection.sendall(start)
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def test_a_connection_that_ends_gives_its_place_back(tmp_path: Path, certificates: Certificates) -> None:
    with serving(tmp_path, certificates, connections=3, address_connections_per_s=1e6) as server:
        for number in range(10):
            with server.plain() if number % 2 else server.connected() as connection:
                connection.sendall(b"junk\r\n\r\n")
        for _ in range(200):
            with server.connected() as connection:
                connection.sendall(TIME)
                assert answer(connection).startswith(b"HTTP/1.1 200")
            if not server.turned_away:
                return
            server.turned_away.clear()
        pytest.fail("expected places that were given back")


def test_a_connection_whose_body_nobody_reads_is_cut_all_the_same() -> None:
    """Who waits for the end of a socket that it does not read waits for ever."""

    async def work() -> None:
        theirs, ours = socket.socketpair()
        place = Places(Limits(), Proxies()).take(HOST, lambda: ours.shutdown(socket.SHUT_RDWR))
        listener, ended = cast(Listener, SimpleNamespace(place=lambda descriptor: place)), asyncio.Event()

        class Watched(Connection):
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                ended.set()

        def made() -> Watched:
            return Watched(
                listener,
                config=uvicorn.Config(served_nothing, log_config=None),
                server_state=ServerState(),
                app_state={},
            )

        transport, _ = await asyncio.get_running_loop().connect_accepted_socket(made, ours)
        transport.pause_reading()
        assert place is not None
        place.cut()
        await asyncio.wait_for(ended.wait(), 5)
        theirs.close()

    run(work)


async def served_nothing(scope: Any, receive: Any, send: Any) -> None:
    """An application that nobody asks."""


def test_who_begins_connections_too_quickly_is_turned_away_before_tls(
    tmp_path: Path, certificates: Certificates
) -> None:
    with serving(tmp_path, certificates, address_connections=3, address_connections_per_s=0.001) as server:
        for _ in range(3):
            server.plain().close()
        with pytest.raises(OSError), server.connected(HOST):  # noqa: PT011 - the end may come in several ways
            pass
        assert server.turned_away == ["rate"]
        with server.connected(OTHER) as connection:
            connection.sendall(TIME)
            assert answer(connection).startswith(b"HTTP/1.1 200")


REQUESTS = {
    "a method of another address": (b"POST /v1/time HTTP/1.1\r\nhost: x\r\n\r\n", 405),
    "an unknown method": (b"BREW /v1/uploads HTTP/1.1\r\nhost: x\r\n\r\n", 405),
    "a tunnel": (b"CONNECT elsewhere:443 HTTP/1.1\r\nhost: x\r\n\r\n", 404),
    "a range that is none": (b"GET /releases/targets/representer HTTP/1.1\r\nhost: x\r\nrange: x\r\n\r\n", 400),
    "a range beyond": (b"GET /releases/targets/representer HTTP/1.1\r\nhost: x\r\nrange: bytes=99-\r\n\r\n", 416),
    "a slash too many": (b"GET /v1/time/ HTTP/1.1\r\nhost: elsewhere\r\n\r\n", 404),
    "nothing of this interface": (b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", 404),
    "no HTTP": (b"\x00\x01\x02\r\n\r\n", 400),
    "no host": (b"GET /v1/time HTTP/1.1\r\n\r\n", 400),
    "a header without end": (b"GET /v1/time HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * 20_000, 400),
    "two lengths": (b"POST /v1/uploads HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_whatever_is_refused_is_refused_in_one_form(served: Served, name: str) -> None:
    request, status = REQUESTS[name]
    # Each from an address of its own, so that none uses up what another may ask.
    found, headers, body = served.said(request, f"127.0.2.{list(REQUESTS).index(name) + 1}")
    code = Problem.from_bytes(body).code
    assert found == status
    assert f"problem: {code}".encode() in headers
    assert b"content-type: application/json" in headers
    assert (b"\r\nallow: " in headers) == (status == 405)
    assert (b"content-range: bytes */10" in headers) == (status == 416)


def test_attack_what_is_no_http_writes_no_line_into_the_log(
    served: Served, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with served.connected() as connection:
        connection.sendall(REQUESTS["no HTTP"][0])
        assert whole(connection)[0] == 400
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("letter", "A~")
def test_attack_a_method_that_is_long_fills_no_log(
    letter: str, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="aggregator.server")
    # One record of TLS: it comes in one piece, or the bound of what is no request yet would refuse it before the application.
    with served.connected() as connection:
        connection.sendall(f"{letter * 15_000} /v1/time HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert whole(connection)[0] == 405
    # The line is written when the answer has gone.
    until(lambda: any("/v1/time" in record.getMessage() for record in caplog.records))
    assert all(letter * 100 not in record.getMessage() for record in caplog.records)


def test_a_body_whose_frame_breaks_is_refused_in_the_same_form(served: Served) -> None:
    request = served.begin().replace(f"content-length: {len(BODY)}".encode(), b"transfer-encoding: chunked")
    with served.connected() as connection:
        connection.sendall(request + b"5\r\nabcde\r\n")
        time.sleep(0.2)
        connection.sendall(b"no number\r\n")
        status, headers, body = whole(connection)
    assert (status, Problem.from_bytes(body).code) == (400, "malformed")
    assert b"problem: malformed" in headers


def test_a_refusal_of_head_says_why_in_its_header(served: Served) -> None:
    status, headers, body = served.said(b"HEAD /releases/nothing HTTP/1.1\r\nhost: x\r\n\r\n")
    assert (status, body) == (404, b"")
    assert b"problem: not-found" in headers


EXPECT = b"expect: 100-continue\r\n"


def test_who_signs_is_told_to_go_on(served: Served) -> None:
    with served.connected() as connection:
        connection.sendall(served.begin(EXPECT))
        assert answer(connection).startswith(b"HTTP/1.1 100")
        connection.sendall(BODY)
        assert answer(connection).startswith(b"HTTP/1.1 201")


@pytest.mark.parametrize("path", [b"/v1/uploads", b"/v1/uploads/x", b"/v1/withdrawals", b"/v1/time", b"/nothing"])
@pytest.mark.parametrize("expect", [EXPECT, b"EXPECT: 100-Continue\r\n"])
def test_attack_who_does_not_sign_is_refused_and_not_told_to_go_on(served: Served, path: bytes, expect: bytes) -> None:
    method = b"PATCH" if path.endswith(b"x") else b"POST"
    request = method + b" " + path + b" HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000000\r\n" + expect + b"\r\n"
    status, _, body = served.said(request)
    assert 400 <= status < 500
    assert Problem.from_bytes(body).code in ("unsigned", "malformed", "not-found")


def test_attack_a_replay_is_not_told_to_go_on(served: Served) -> None:
    request = served.begin(EXPECT)
    with served.connected() as connection:
        connection.sendall(request)
        assert answer(connection).startswith(b"HTTP/1.1 100")
        connection.sendall(BODY)
        assert answer(connection).startswith(b"HTTP/1.1 201")
    status, _, body = served.said(request)
    assert (status, Problem.from_bytes(body).code) == (401, "replayed")


def test_attack_a_long_body_that_nobody_signed_is_not_read(tmp_path: Path) -> None:
    central, taken = provider(tmp_path), [0]

    class Long:
        async def __aiter__(self) -> Any:
            for _ in range(1000):
                taken[0] += 10_000
                yield bytes(10_000)

    async def work() -> None:
        async with site(central.app) as north:
            answered = await north.client.request("POST", "/v1/uploads", content=Long())
            assert problem(answered) == "unsigned"

    run(work)
    assert taken[0] <= MAX_MESSAGE_BYTES + 20_000


def test_an_address_may_ask_so_often_without_a_signature_and_its_sites_are_not_held_back(tmp_path: Path) -> None:
    central = provider(tmp_path, Limits(address_burst=5, address_per_s=0.01))

    async def work() -> None:
        async with site(central.app) as north:
            for _ in range(10):
                assert (await north.begin(bundle(6_000))).status_code == 201
            for _ in range(5):
                assert (await north.client.get("/v1/time")).status_code == 200
            answered = await north.client.get("/v1/time")
            assert (answered.status_code, problem(answered)) == (429, "too-many")
            assert int(answered.headers["retry-after"]) > 0

    run(work)


@pytest.mark.parametrize("trusted", [True, False])
def test_attack_an_address_that_is_made_up_counts_only_if_a_trusted_proxy_says_it(
    tmp_path: Path, trusted: bool
) -> None:
    central = provider(tmp_path, Limits(address_burst=3, address_per_s=0.01))
    app = central.make_app(proxies=Proxies(["127.0.0.1"] if trusted else []))

    async def work() -> list[int]:
        async with site(app) as north:
            headers = [{"x-forwarded-for": f"192.0.2.{number}"} for number in range(8)]
            return [(await north.client.get("/v1/time", headers=one)).status_code for one in headers]

    assert run(work) == ([200] * 8 if trusted else [200] * 3 + [429] * 5)


def test_a_server_that_gives_up_what_runs_says_so(tmp_path: Path) -> None:
    central = provider(tmp_path)
    central.ingest.gate.clear()

    async def work() -> httpx.Response:
        async with site(central.app) as north:
            data = bundle(6_000)
            place = (await north.begin(data)).headers["location"]
            await north.send("PATCH", place, data, offset=0)
            asked = asyncio.create_task(north.send("POST", f"{place}/finish"))
            while not central.ingest.asked:
                await asyncio.sleep(0.01)
            asked.cancel()
            central.ingest.gate.set()
            return await asked

    answered = run(work)
    assert (answered.status_code, problem(answered)) == (503, "internal")


def test_figures_say_what_was_turned_away() -> None:
    metrics = Metrics()
    places = Places(
        Limits(address_connections=1, address_connections_per_s=1e9),
        Proxies(),
        lambda why: metrics.turned_away.labels(why).inc(),
    )
    for _ in range(3):
        places.take("192.0.2.1", lambda: None)
    assert b'deid_connections_turned_away_total{why="address"} 2.0' in metrics.page()
    assert b"192.0.2.1" not in metrics.page()
