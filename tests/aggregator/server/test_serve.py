"""`aggregator serve` as it runs: a process with TLS that ends in order; and real shares through it into the real ingest."""

from __future__ import annotations

import datetime
import hashlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from starlette.types import ASGIApp

from aggregator.enrolled.sites import today
from aggregator.errors import RequestError
from aggregator.ingestion.ingest import ingest, receive, resume
from aggregator.server.app import create_app
from aggregator.server.limits import Limits
from aggregator.server.serve import ServeOptions, serve, setup, warn_without_landlock, work
from aggregator.status.served_certificate import read_served
from aggregator.workspace import Workspace
from bench.exchange.certificates import Certificates, make_certificates
from bench.exchange.ports import unused_port
from bench.exchange.world import Sentences, World, invented_terms
from foundation.errors import StorageError
from protocols.http.messages import UploadRequest
from protocols.keys.rotation import Rotation, read_acceptance
from protocols.keys.signing import PrivateKey
from protocols.share.receipt import read_receipt
from protocols.share.sealing import read_manifest
from protocols.share.withdrawal import Withdrawal
from shared.errors import ConfigurationError
from site_client.errors import RefusedError, UnreachableError
from site_client.exchange.transport import Connection, RetryPolicy, Transport
from site_client.exchange.upload import upload
from tests.aggregator.copied import new_workspace, new_world
from tests.aggregator.server.service import answer, bundle, connected, head, listening, provider

QUICK = RetryPolicy(attempts=3, first_s=0.01, most_s=0.02)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"), "localhost", "127.0.0.1")


@contextmanager
def process(workspace: Path, certificates: Certificates, *more: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command, until the block ends; and its port."""
    command = [
        sys.executable,
        "-m",
        "aggregator",
        "serve",
        "--workspace",
        str(workspace),
        "--host",
        "localhost",
        "--port",
        "0",
        "--certificate",
        str(certificates.certificate),
        "--key",
        str(certificates.key),
        *more,
    ]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    try:
        assert running.stdout is not None
        line = running.stdout.readline().split()
        assert line[:1] == ["serving"], running.stderr.read() if running.stderr else ""
        yield running, int(line[1].rsplit(":", 1)[1])
    finally:
        running.kill()
        running.communicate()


def test_the_command_serves_over_tls_and_ends_in_order_with_what_runs(
    tmp_path: Path, certificates: Certificates
) -> None:
    world = new_world(tmp_path / "world")
    key, data = world.keys["north"], bundle(20_000)
    with process(world.provider, certificates) as (running, port):
        address = f"https://localhost:{port}"
        with connected(certificates, port) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            healthy = answer(connection).lower()
            assert healthy.startswith(b"http/1.1 200")
            assert b"server:" not in healthy
            assert b"uvicorn" not in healthy
        announced = UploadRequest(hashlib.sha256(data).hexdigest(), len(data)).to_bytes()
        with connected(certificates, port) as connection:
            connection.sendall(head("POST", f"{address}/v1/uploads", key, announced) + announced)
            created = answer(connection).decode()
            place = next(line.split()[1] for line in created.split("\r\n") if line.startswith("location"))
        with connected(certificates, port) as connection:
            connection.sendall(head("PATCH", f"{address}{place}", key, data, 0) + data[:9_000])
            time.sleep(0.5)
            running.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            # No new one is let in, but this one is heard to its end.
            with pytest.raises(OSError), socket.create_connection(("localhost", port), 5):  # noqa: PT011
                pass
            connection.sendall(data[9_000:])
            assert answer(connection).startswith(b"HTTP/1.1 204")
        assert running.wait(60) == 0
        assert running.stderr is not None
        log = running.stderr.read()
    assert f"PATCH {place} 204" in log
    assert "Traceback" not in log


def test_a_hangup_has_the_certificate_read_anew_and_ends_nothing(tmp_path: Path) -> None:
    world = new_world(tmp_path / "world")
    served, other = (
        make_certificates(tmp_path / name, "localhost", days=days) for name, days in (("served", 30), ("other", 60))
    )
    first, second = served.certificate.read_bytes(), other.certificate.read_bytes()

    def shown(port: int) -> bytes:
        return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("localhost", port), timeout=5))

    # Elsewhere than on loopback the dashboard has TLS too.
    free = unused_port()
    dashboard = ("--dashboard", f"0.0.0.0:{free}", "--dashboard-address", f"https://localhost:{free}")
    with process(world.provider, served, *dashboard) as (running, port):
        assert running.stderr is not None
        assert running.stdout is not None
        # The server waits for the dashboard no moment; this test does.
        assert running.stdout.readline().startswith("dashboard ")
        # Half of a renewal: the key is still that of the certificate before.
        served.certificate.write_bytes(second)
        running.send_signal(signal.SIGHUP)
        assert any("the one before is served on" in line for line in running.stderr)
        assert shown(port) == ssl.PEM_cert_to_DER_cert(first.decode())
        served.key.write_bytes(other.key.read_bytes())
        running.send_signal(signal.SIGHUP)
        assert any("certificate renewed" in line for line in running.stderr)
        assert shown(port) == ssl.PEM_cert_to_DER_cert(second.decode())
        # The dashboard is a process of its own.
        while shown(free) != ssl.PEM_cert_to_DER_cert(second.decode()):
            time.sleep(0.05)
        # `aggregator status` tells of what is served, and not of what lies there.
        told = read_served(world.workspace())
        assert told is not None
        assert (told.ends - told.begins).days == 60
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        assert "Traceback" not in running.stderr.read()


class TestKeyOfTheCertificate:
    """One that others can read, or that nobody is there to unlock, is told as that."""

    @staticmethod
    def serve(tmp_path: Path, files: Certificates) -> None:
        workspace = new_workspace(tmp_path / "provider")
        serve(workspace, ServeOptions("localhost", 0, files.certificate, files.key), lambda _: None)

    @pytest.mark.parametrize("rights", [0o644, 0o604, 0o660])
    def test_one_that_others_can_read_is_refused(self, tmp_path: Path, rights: int) -> None:
        files = make_certificates(tmp_path / "tls", "localhost")
        files.key.chmod(rights)
        with pytest.raises(StorageError, match=r"server\.key.*wider rights; run chmod 600"):
            self.serve(tmp_path, files)

    def test_one_under_a_passphrase_is_not_asked_for(self, tmp_path: Path) -> None:
        files = make_certificates(tmp_path / "tls", "localhost")
        key = load_pem_private_key(files.key.read_bytes(), None)
        files.key.write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"a long passphrase"))
        )
        with pytest.raises(ConfigurationError, match="a private key without a passphrase"):
            self.serve(tmp_path, files)


@pytest.mark.parametrize("said", [b"", b"GET /v1/time HTTP/1.1\r\nhost: local"])
def test_attack_who_connects_and_says_no_more_is_cut_off(
    tmp_path: Path, certificates: Certificates, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aggregator.server.connections.protocol.SILENCE_S", 0.2)
    central = provider(tmp_path)
    with listening(lambda address: central.make_app(address=address), certificates) as address:
        port = int(address.rsplit(":", 1)[1])
        with connected(certificates, port) as connection:
            connection.sendall(said)
            assert connection.recv(1) == b""
        with connected(certificates, port) as connection:
            connection.sendall(b"GET /v1/time HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert answer(connection).startswith(b"HTTP/1.1 200")
            connection.sendall(said)
            while connection.recv(100):
                pass


def test_attack_who_asks_for_a_release_and_does_not_take_it_is_cut_off(
    tmp_path: Path, certificates: Certificates
) -> None:
    central = provider(tmp_path, Limits(piece_s=0.3))
    size = 64 << 20
    (central.setup.releases / "targets" / "representer").write_bytes(bytes(size))
    with listening(lambda address: central.make_app(address=address), certificates) as address:
        port = int(address.rsplit(":", 1)[1])
        with connected(certificates, port) as slow:
            slow.sendall(b"GET /releases/targets/representer HTTP/1.1\r\nhost: localhost\r\n\r\n")
            answer(slow)
            for _ in range(1_000):
                if b"deid_requests_running 1.0" in figures(certificates, port):
                    return
                time.sleep(0.05)
            pytest.fail("expected an end of the answer that nobody takes, it still runs")


def figures(certificates: Certificates, port: int) -> bytes:
    """Of the server, whose own request is one of those that run."""
    with connected(certificates, port) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        found = b""
        while data := connection.recv(4096):
            found += data
        return found


def test_two_servers_cannot_listen_at_one_port(tmp_path: Path, certificates: Certificates) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        options = ServeOptions("127.0.0.1", taken.getsockname()[1], certificates.certificate, certificates.key)
        with pytest.raises(StorageError, match="in use"):
            serve(new_workspace(tmp_path / "provider", "provider", "meddocan"), options, lambda address: None)


def test_a_certificate_that_is_none_is_refused(tmp_path: Path, certificates: Certificates) -> None:
    options = ServeOptions("127.0.0.1", 0, certificates.key, certificates.certificate)
    with pytest.raises(ConfigurationError, match="--certificate"):
        serve(new_workspace(tmp_path / "provider", "provider", "meddocan"), options, lambda address: None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_at_every_address_must_be_told_its_own(tmp_path: Path, certificates: Certificates, host: str) -> None:
    options = ServeOptions(host, 0, certificates.certificate, certificates.key)
    with pytest.raises(ConfigurationError, match="--address"):
        serve(new_workspace(tmp_path / "provider", "provider", "meddocan"), options, lambda address: None)


@pytest.mark.parametrize("limits", [{"burst": 0}, {"bundle_bytes": 1}, {"day_bytes": 1 << 20}, {"piece_s": -1}])
def test_limits_that_let_nothing_through_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        Limits(**limits)


def app_of(workspace: Workspace, address: str) -> ASGIApp:
    """The application with the real ingest, in this process."""
    done = work(workspace, lambda path: ingest(workspace, path), lambda: resume(workspace))
    return create_app(setup(workspace, address, Limits()), done)


class Joined:
    """A world behind a real server, with the real ingest."""

    def __init__(self, world: World, address: str, certificates: Certificates) -> None:
        self.world = world
        self.address = address
        self.certificates = certificates

    def transport(self, site: str = "north", key: PrivateKey | None = None) -> Transport:
        return Transport(
            Connection(self.address, self.certificates.authority, retry_policy=QUICK), key or self.world.keys[site]
        )

    def send(self, path: Path, site: str = "north") -> bytes:
        with self.transport(site) as transport:
            return upload(transport, path, hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def joined(tmp_path: Path, certificates: Certificates) -> Iterator[Joined]:
    world = new_world(tmp_path / "world")
    workspace = world.workspace()
    with (
        invented_terms(sandbox=False),
        listening(lambda address: app_of(workspace, address), certificates) as address,
        closing(workspace.registry()),
    ):
        yield Joined(world, address, certificates)


def test_a_share_is_accepted_and_withdrawn_over_https(joined: Joined) -> None:
    provider = joined.world.workspace().key().public_key
    path = joined.world.bundle("north", 1)
    data = joined.send(path)
    receipt = read_receipt(data, provider)
    assert (receipt.site, receipt.sequence, receipt.state) == ("north", 1, "accepted")
    assert joined.send(path) == data
    taken_back = Withdrawal("north", 1, receipt.manifest_sha256, datetime.date(2026, 2, 1), "").to_bytes(
        joined.world.keys["north"]
    )
    with joined.transport("south") as transport, pytest.raises(RefusedError, match="site that sends it"):
        transport.request("POST", "/v1/withdrawals", taken_back)
    with joined.transport() as transport:
        first = transport.request("POST", "/v1/withdrawals", taken_back).body
        assert read_receipt(first, provider).state == "withdrawn"
        assert transport.request("POST", "/v1/withdrawals", taken_back).body == first
        now_known = transport.request("GET", f"/v1/receipts/{receipt.bundle_sha256}").body
    assert now_known == first


def test_the_same_manifest_sealed_anew_gets_the_same_receipt(joined: Joined) -> None:
    path = joined.world.bundle("north", 1)
    payload = next(path.parent.glob("north-1-*.parquet"))
    assert joined.send(path) == joined.send(joined.world.seal(payload, "north", "again.share"))


def test_a_damaged_key_of_the_provider_is_told_to_no_site(joined: Joined) -> None:
    key, asked = joined.world.workspace().private_key, Withdrawal("north", 1, "ab" * 32, datetime.date(2026, 2, 1), "")
    key.write_bytes(b"junk")
    body = asked.to_bytes(joined.world.keys["north"])
    with joined.transport() as transport, pytest.raises(UnreachableError, match="can't do it now") as caught:
        transport.once("POST", "/v1/withdrawals", body)
    assert key.name not in str(caught.value)


@pytest.mark.parametrize(("version", "lines"), [(-1, 1), (0, 1), (1, 0), (6, 0)])
def test_a_kernel_without_landlock_is_told_of(
    version: int, lines: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("aggregator.server.serve.landlock_version", lambda libc: version)
    warn_without_landlock()
    assert [record.levelname for record in caplog.records] == ["WARNING"] * lines
    assert all("run on Linux 5.13" in record.message for record in caplog.records)


def test_a_withdrawal_of_a_share_that_waits_is_kept_until_it_is_decided(tmp_path: Path) -> None:
    """The site is told to ask again; whether it does or not, the share never counts."""
    with invented_terms(sandbox=False):
        world = new_world(tmp_path / "world")
        workspace, payload = world.workspace(), world.share("north", 1, Sentences())
        receive(workspace, world.seal(payload, "north"))
        manifest = read_manifest(payload).sha256
        asked = Withdrawal("north", 1, manifest, today(), "").to_bytes(world.keys["north"])
        done = work(workspace, lambda path: ingest(workspace, path), lambda: resume(workspace))
        with pytest.raises(RequestError, match="never count") as raised:
            done.withdraw("north", asked)
        assert raised.value.status == 503
        assert [one.state for one in resume(workspace)] == ["withdrawn"]
        assert read_receipt(done.withdraw("north", asked), workspace.key().public_key).state == "withdrawn"


def test_a_withdrawal_of_a_share_that_never_came_is_told_to_its_site(joined: Joined) -> None:
    asked = Withdrawal("north", 1, "ab" * 32, datetime.date(2026, 2, 1), "").to_bytes(joined.world.keys["north"])
    with joined.transport() as transport, pytest.raises(RefusedError, match="found none yet") as caught:
        transport.request("POST", "/v1/withdrawals", asked)
    assert caught.value.code == "conflict"


def test_another_share_of_the_same_number_is_a_conflict(joined: Joined) -> None:
    joined.send(joined.world.bundle("north", 1))
    with pytest.raises(RefusedError) as caught:
        joined.send(joined.world.bundle("north", 1, seed=1))
    assert caught.value.code == "conflict"


def test_attack_a_bundle_with_a_flipped_byte(joined: Joined) -> None:
    path = joined.world.bundle("north", 1)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(RefusedError) as caught:
        joined.send(path)
    assert caught.value.code == "malformed"


def test_eight_uploads_of_one_bundle_at_once_get_one_receipt(joined: Joined) -> None:
    path = joined.world.bundle("north", 1)
    receipts: list[bytes] = []
    threads = [threading.Thread(target=lambda: receipts.append(joined.send(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(receipts) == 8
    assert len(set(receipts)) == 1


def test_a_key_is_rotated_over_https_and_both_sign_during_the_overlap(joined: Joined) -> None:
    old, new = joined.world.keys["north"], PrivateKey.generate()
    day = datetime.datetime.now(datetime.UTC).date()
    asked = Rotation("north", old.public_key, new.public_key, day, day + datetime.timedelta(days=300), 10)
    with joined.transport("south") as transport, pytest.raises(RefusedError, match="site that sends it"):
        transport.request("POST", "/v1/rotations", asked.to_bytes(old, new))
    with joined.transport(key=new) as transport, pytest.raises(RefusedError, match="enrolled"):
        transport.request("POST", "/v1/rotations", asked.to_bytes(old, new))
    with joined.transport() as transport:
        accepted = transport.request("POST", "/v1/rotations", asked.to_bytes(old, new)).body
    assert read_acceptance(accepted, joined.world.workspace().key().public_key).new_key == new.public_key
    for key in (old, new):
        with joined.transport(key=key) as transport, pytest.raises(RefusedError) as caught:
            transport.request("GET", f"/v1/receipts/{'ab' * 32}")
        assert caught.value.code == "not-found"
