"""What passes the gate of a hospital, and what its provider never hears of."""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bench.exchange.certificates import Certificates, make_certificates
from site_client.federated.gate import CALLS, GET_APP, Gate, GateRules
from site_client.federated.node_key import make_gate_certificate

PULL = "/v1/fleet/pull-messages"


@dataclass
class Provider:
    """Answers everything, and remembers it."""

    port: int = 0
    heard: list[tuple[str, str, bytes, str]] = field(default_factory=list)
    answer: bytes = b"an answer"
    headers: dict[str, str] = field(
        default_factory=lambda: {"Content-Type": "application/protobuf", "X-Other": "yes", "Set-Cookie": "a=b"}
    )
    status: int = 200
    connections: int = 0
    hangs_up: bool = False


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("tls"), "127.0.0.1")


@pytest.fixture
def provider(tls: Certificates) -> Iterator[Provider]:
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            made.connections += 1
            super().setup()

        def do_POST(self) -> None:
            self.close_connection = made.hangs_up
            body = self.rfile.read(int(self.headers["content-length"]))
            made.heard.append((self.command, self.path, body, self.headers.get("X-Node", "")))
            self.send_response(made.status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(made.answer)))
            self.end_headers()
            self.wfile.write(made.answer)

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    made.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


@dataclass
class Site:
    """A gate, and what may be asked of it."""

    rules: GateRules
    refused: list[str]
    port: int
    trusted: ssl.SSLContext

    def call(self, path: str, body: bytes = b"", method: str = "POST", **headers: str) -> tuple[int, bytes, Any]:
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.trusted, timeout=10)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = response.read(), response.headers
        connection.close()
        return response.status, *answer


@contextmanager
def gate(folder: Path, port: int, authority: Path | None, **rules: Any) -> Iterator[Site]:
    refused: list[str] = []
    made = GateRules(lambda answer: answer == b"ours", rules.pop("most_bytes", 1000), **rules)
    made.refused = refused.append
    certificate, key = make_gate_certificate(folder)
    inward = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inward.load_cert_chain(certificate, key)
    outward = ssl.create_default_context(cafile=None if authority is None else str(authority))
    with Gate(made, "127.0.0.1", port, outward, inward) as running:
        yield Site(made, refused, running.port, ssl.create_default_context(cafile=str(certificate)))


def test_a_call_of_a_node_passes_as_it_is(provider: Provider, tls: Certificates, tmp_path: Path) -> None:
    with gate(tmp_path, provider.port, tls.authority) as site:
        for path in sorted(CALLS - {GET_APP}):
            status, answer, headers = site.call(path, b"message", **{"X-Node": "signed"})
            assert (status, answer, headers["Content-Type"]) == (200, b"an answer", "application/protobuf")
            # What the provider says beside its answer is said to nobody.
            assert headers["X-Other"] is None
        assert provider.heard == [("POST", path, b"message", "signed") for path in sorted(CALLS - {GET_APP})]
        assert site.rules.sent == len(provider.heard) * len(b"message")
        assert not site.refused


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/control/start-run"),
        ("POST", "/v1/control/register-node"),
        ("POST", PULL + "/"),
        ("POST", PULL + "?to=elsewhere"),
        ("POST", "/v1/fleet/../control/start-run"),
        ("POST", "http://elsewhere.example" + PULL),
        ("POST", PULL.upper()),
        ("GET", PULL),
        ("PUT", PULL),
        ("DELETE", PULL),
        ("OPTIONS", "*"),
    ],
)
def test_nothing_else_is_heard_outside(
    method: str, path: str, provider: Provider, tls: Certificates, tmp_path: Path
) -> None:
    with gate(tmp_path, provider.port, tls.authority) as site:
        for _ in range(2):
            assert site.call(path, b"x", method)[0] == 403
        assert site.refused == ["a call that no node makes"]
    assert not provider.heard


@pytest.mark.parametrize(("app", "status"), [(b"ours", 200), (b"ours, and more", 403), (b"", 403)])
def test_an_app_passes_only_if_it_is_ours(
    app: bytes, status: int, provider: Provider, tls: Certificates, tmp_path: Path
) -> None:
    provider.answer = app
    with gate(tmp_path, provider.port, tls.authority) as site:
        assert site.call(GET_APP, b"which")[:2] == (status, app if status == 200 else b"")
        assert site.refused == ([] if status == 200 else ["an app that this program does not make"])


NO_LINK = "an answer that no link gives"


@pytest.mark.parametrize("status", [201, 202, 203, 206, 226, 300, 302, 307])
def test_attack_another_app_under_another_status(
    status: int, provider: Provider, tls: Certificates, tmp_path: Path
) -> None:
    """The node's client takes any status from 200 to 299 for an answer."""
    provider.answer, provider.status = b"another app", status
    with gate(tmp_path, provider.port, tls.authority) as site:
        assert site.call(GET_APP, b"which")[:2] == (502, b"")
        assert site.refused == [NO_LINK]


@pytest.mark.parametrize("path", [GET_APP, PULL, "/v1/fleet/get-run"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_attack_a_redirect_out_of_the_gate(
    status: int, path: str, provider: Provider, tls: Certificates, tmp_path: Path
) -> None:
    """The node's client goes wherever it is sent."""
    provider.answer, provider.status = b"", status
    provider.headers = {"Location": "http://elsewhere.example" + path}
    with gate(tmp_path, provider.port, tls.authority) as site:
        answered, body, headers = site.call(path, b"message")
        assert (answered, body, headers["Location"]) == (502, b"", None)
        assert site.refused == [NO_LINK]


@pytest.mark.parametrize("path", [GET_APP, PULL])
@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_an_error_passes_as_one_and_sends_nobody_elsewhere(
    status: int, path: str, provider: Provider, tls: Certificates, tmp_path: Path
) -> None:
    provider.status, provider.headers = status, {"Location": "http://elsewhere.example" + path}
    with gate(tmp_path, provider.port, tls.authority) as site:
        answered, body, headers = site.call(path, b"message")
        assert (answered, body, headers["Location"]) == (status, b"an answer", None)
        assert not site.refused


def test_a_kind_of_content_holds_no_second_line(provider: Provider, tls: Certificates, tmp_path: Path) -> None:
    provider.headers = {"Content-Type": "a\r\n Location: http://elsewhere.example"}
    with gate(tmp_path, provider.port, tls.authority) as site:
        status, _, headers = site.call(PULL, b"message")
        assert (status, headers["Content-Type"], headers["Location"]) == (200, None, None)


def test_what_is_compressed_does_not_pass(provider: Provider, tls: Certificates, tmp_path: Path) -> None:
    provider.headers = {"Content-Encoding": "gzip"}
    with gate(tmp_path, provider.port, tls.authority) as site:
        assert site.call(PULL)[0] == 502


def test_no_more_bytes_leave_than_may(provider: Provider, tls: Certificates, tmp_path: Path) -> None:
    with gate(tmp_path, provider.port, tls.authority, most_bytes=10) as site:
        # What would still fit is refused, too: it would bring rounds whose answers don't.
        assert [site.call(PULL, bytes(count))[0] for count in (6, 5, 4, 0)] == [200, 403, 403, 403]
        assert site.refused == ["more bytes than may leave"]
        assert site.rules.full
    assert [len(body) for _, _, body, _ in provider.heard] == [6]


def test_while_a_hospital_pauses_nothing_passes(provider: Provider, tls: Certificates, tmp_path: Path) -> None:
    paused = [True]
    with gate(tmp_path, provider.port, tls.authority, closed=lambda: paused[0]) as site:
        assert site.call(PULL)[0] == 503
        assert not provider.heard
        paused[0] = False
        assert site.call(PULL)[0] == 200


def test_a_provider_whose_certificate_is_another_hears_nothing(provider: Provider, tmp_path: Path) -> None:
    with gate(tmp_path, provider.port, None) as site:
        assert site.call(PULL, b"message")[0] == 502
    assert not provider.heard


@pytest.mark.parametrize(("hangs_up", "connections"), [(False, 1), (True, 3)])
def test_a_node_that_stays_takes_one_connection_as_long_as_the_provider_keeps_it(
    hangs_up: bool, connections: int, provider: Provider, tls: Certificates, tmp_path: Path
) -> None:
    provider.hangs_up = hangs_up
    with gate(tmp_path, provider.port, tls.authority) as site:
        connection = http.client.HTTPSConnection("127.0.0.1", site.port, context=site.trusted, timeout=10)
        for number in range(3):
            connection.request("POST", PULL, b"call %d" % number)
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, b"an answer")
        connection.close()
    assert [body for _, _, body, _ in provider.heard] == [b"call 0", b"call 1", b"call 2"]
    assert provider.connections == connections


def test_a_body_of_unknown_length_is_refused(provider: Provider, tls: Certificates, tmp_path: Path) -> None:
    with gate(tmp_path, provider.port, tls.authority) as site:
        connection = http.client.HTTPSConnection("127.0.0.1", site.port, context=site.trusted, timeout=10)
        connection.putrequest("POST", PULL)
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        assert connection.getresponse().status == 411
        connection.close()
    assert not provider.heard
