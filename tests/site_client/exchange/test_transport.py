"""The site's end of the wire against a real server over TLS: proxies, authorities, clocks, cuts, and a server that fails."""

from __future__ import annotations

import datetime
import hashlib
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.exchange.certificates import Certificates, make_certificates
from bench.exchange.cutting_proxy import connect_proxy
from protocols.errors import BoundsError, SchemaError
from protocols.http.messages import MAX_CHUNK_BYTES
from protocols.http.signatures import new_nonce
from protocols.share.receipt import read_receipt
from site_client.errors import RefusedError, SiteError, UnreachableError
from site_client.exchange.transport import Answer, Connection, RetryPolicy, Transport
from site_client.exchange.upload import LEAST_BYTES, upload
from tests.aggregator.server.service import KEY, OTHER_KEY, PROVIDER, Provider, bundle, listening, provider

QUICK = RetryPolicy(attempts=4, first_s=0.01, most_s=0.02, answer_s=20)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"), "localhost", "127.0.0.1")


class Served:
    """A provider behind a real server.

    Args:
        central: the provider.
        address: of the server.
        certificates: of the server.
    """

    def __init__(self, central: Provider, address: str, certificates: Certificates) -> None:
        self.central = central
        self.address = address
        self.certificates = certificates

    def transport(self, **changes: Any) -> Transport:
        given: dict[str, Any] = {"ca": self.certificates.authority, "retry_policy": QUICK, "server": self.address}
        names = ("ca", "proxy", "retry_policy", "server")
        connection = Connection(**given | {name: changes.pop(name) for name in names if name in changes})
        return Transport(connection, changes.pop("key", KEY), **changes)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[Served]:
    """One server for all tests of this file; each sends its own bundles."""
    central = provider(tmp_path_factory.mktemp("provider"))
    with listening(lambda address: central.make_app(address=address), certificates) as address:
        yield Served(central, address, certificates)


NUMBERS = iter(range(1, 10_000))


def saved(folder: Path, data: bytes) -> tuple[Path, str]:
    path = folder / f"{len(list(folder.iterdir()))}.share"
    path.write_bytes(data)
    return path, hashlib.sha256(data).hexdigest()


def sent(served: Served, folder: Path, size: int = 20_000, **changes: Any) -> bytes:
    """Sends a new bundle and returns it, its receipt verified."""
    data = bundle(size, next(NUMBERS))
    path, digest = saved(folder, data)
    with served.transport(**changes) as transport:
        receipt = read_receipt(upload(transport, path, digest), PROVIDER.public_key)
    assert receipt.bundle_sha256 == digest
    assert served.central.ingest.taken.count(data) == 1
    return data


def test_a_bundle_arrives_over_tls_and_again_is_known(served: Served, tmp_path: Path) -> None:
    path, digest = saved(tmp_path, bundle(2 * MAX_CHUNK_BYTES + 77, next(NUMBERS)))
    arrived: list[int] = []
    with served.transport() as transport:
        first = upload(transport, path, digest, arrived.append)
        assert upload(transport, path, digest) == first
    assert arrived == [0, MAX_CHUNK_BYTES, 2 * MAX_CHUNK_BYTES, path.stat().st_size]


def test_through_a_proxy(served: Served, tmp_path: Path) -> None:
    with connect_proxy() as proxy:
        sent(served, tmp_path, proxy=proxy.url)
        assert set(proxy.tunnels) == {served.address.removeprefix("https://")}


def test_through_the_proxy_of_the_environment(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect_proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        sent(served, tmp_path)
        assert proxy.tunnels
        count = len(proxy.tunnels)
        monkeypatch.setenv("NO_PROXY", "localhost")
        sent(served, tmp_path)
        assert len(proxy.tunnels) == count


@pytest.mark.parametrize(
    ("refusal", "attempts", "words"),
    [
        ("407 Proxy Authentication Required", 1, "name and a password; give the right ones in --proxy"),
        ("403 Forbidden", 1, "lets nobody through to the server; ask"),
        ("502 Bad Gateway", QUICK.attempts, "check --proxy"),
        ("503 hunter2", QUICK.attempts, "check --proxy"),
        ("504 Gateway Timeout", QUICK.attempts, "check --proxy"),
    ],
    ids=lambda value: str(value)[:3],
)
def test_a_proxy_that_refuses_is_named_without_its_password_and_asked_again_where_that_may_help(
    refusal: str, attempts: int, words: str, served: Served
) -> None:
    with (
        connect_proxy(refuses=refusal) as proxy,
        served.transport(proxy=proxy.url.replace("//", "//user:hunter2@")) as transport,
        pytest.raises(UnreachableError, match=f"^proxy: .*{words}") as caught,
    ):
        transport.request("GET", "/v1/time")
    assert "hunter2" not in str(caught.value)
    assert len(proxy.tunnels) == attempts


@pytest.mark.parametrize("proxy", ["nonsense", "ftp://user:hunter2@x", "http://[::1"])
def test_a_proxy_that_is_none_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(SiteError, match="proxy") as caught:
        Transport(Connection("https://localhost", proxy=proxy))
    assert "hunter2" not in str(caught.value)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=3))
def test_an_upload_survives_cuts_at_any_byte(served: Served, tmp_path: Path, cuts: list[int]) -> None:
    with connect_proxy(cuts) as proxy:
        sent(served, tmp_path, size=40_000, proxy=proxy.url)
        assert len(proxy.tunnels) > 0


def test_a_receipt_that_was_cut_on_its_way_is_asked_for_again(served: Served, tmp_path: Path) -> None:
    with connect_proxy() as proxy:
        sent(served, tmp_path, proxy=proxy.url)
        whole = proxy.passed[1]
    with connect_proxy(answer_cuts=[whole - 100]) as proxy:
        sent(served, tmp_path, proxy=proxy.url)
        assert len(proxy.tunnels) == 2


def test_a_line_that_always_dies_early_makes_progress_with_smaller_pieces(served: Served, tmp_path: Path) -> None:
    # No tunnel ever carries a whole piece of the size that one begins with.
    retry_policy = RetryPolicy(attempts=9, first_s=0.001, most_s=0.002)
    with connect_proxy(iter(lambda: 3 * LEAST_BYTES, None)) as proxy:
        sent(served, tmp_path, size=8 * LEAST_BYTES, proxy=proxy.url, retry_policy=retry_policy)
        assert len(proxy.tunnels) > 8


def test_a_server_that_is_away_is_given_up_at_last(served: Served) -> None:
    pauses: list[float] = []
    with (
        served.transport(server="https://localhost:1", sleep=pauses.append) as transport,
        pytest.raises(UnreachableError, match="given up after 4 attempts"),
    ):
        transport.request("GET", "/v1/time")
    assert len(pauses) == QUICK.attempts - 1


def test_pauses_grow_and_vary_and_heed_the_server() -> None:
    retry_policy = RetryPolicy(first_s=1, most_s=10)
    for failures, most in ((1, 1), (2, 2), (4, 8), (30, 10)):
        found = {retry_policy.pause(failures) for _ in range(50)}
        assert len(found) > 1
        assert most / 2 <= min(found) <= max(found) <= most
    assert retry_policy.pause(1, 30) == 30


def test_a_server_that_is_closed_for_the_day_is_not_waited_for() -> None:
    pauses: list[float] = []
    with (
        Transport(Connection("https://localhost", retry_policy=QUICK), KEY, sleep=pauses.append) as transport,
        pytest.raises(UnreachableError, match="in 60 minutes"),
    ):
        transport.pause_after(UnreachableError("too many", passing=True, retry_after_s=3600), 1)
    assert pauses == []


@pytest.mark.parametrize("wrong", ["none", "other"])
def test_attack_a_server_with_a_certificate_of_another_authority(served: Served, tmp_path: Path, wrong: str) -> None:
    other = make_certificates(tmp_path / "other", "localhost")
    ca = None if wrong == "none" else other.authority
    pauses: list[float] = []
    with served.transport(ca=ca, sleep=pauses.append) as transport, pytest.raises(UnreachableError, match="--ca"):
        transport.request("GET", "/v1/time")
    assert pauses == []


def test_attack_a_server_with_a_certificate_for_another_name(served: Served, tmp_path: Path) -> None:
    other = make_certificates(tmp_path / "other", "elsewhere.test")
    with (
        listening(lambda address: served.central.make_app(address=address), other) as address,
        served.transport(ca=other.authority, server=address) as transport,
        pytest.raises(UnreachableError, match="certificate"),
    ):
        transport.request("GET", "/v1/time")


@pytest.mark.parametrize(("starts", "days"), [(-40, 30), (30, 30)])
def test_a_certificate_out_of_its_time_points_at_the_clock(
    served: Served, tmp_path: Path, starts: int, days: int
) -> None:
    other = make_certificates(tmp_path / "other", "localhost", starts=datetime.timedelta(days=starts), days=days)
    with (
        listening(lambda address: served.central.make_app(address=address), other) as address,
        served.transport(ca=other.authority, server=address) as transport,
        pytest.raises(UnreachableError, match="clock of this machine"),
    ):
        transport.request("GET", "/v1/time")


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_file_of_certificates_that_is_none_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SiteError, match="--ca"):
        Transport(Connection("https://localhost", ca=path))


@pytest.mark.parametrize("address", ["http://localhost", "ftp://localhost", "localhost", "https://", "https://a b", ""])
def test_attack_an_address_without_tls(address: str) -> None:
    with pytest.raises(SchemaError):
        Transport(Connection(address))


def test_nothing_older_than_tls_1_2_is_spoken() -> None:
    assert ssl.create_default_context().minimum_version >= ssl.TLSVersion.TLSv1_2


DAY = 86400


@pytest.mark.parametrize("off", [300, 3600, 365 * DAY, -300, -301, -7 * DAY])
def test_a_clock_that_is_off_is_named_once_and_does_not_matter(served: Served, tmp_path: Path, off: int) -> None:
    lines: list[str] = []
    sent(served, tmp_path, tell=lines.append, clock=lambda: time.time() + off)
    assert len(lines) == 1
    assert "clock of this machine" in lines[0]
    assert ("behind" if off < 0 else "ahead of") in lines[0]


def test_a_clock_that_is_right_is_not_mentioned(served: Served, tmp_path: Path) -> None:
    lines: list[str] = []
    sent(served, tmp_path, tell=lines.append, clock=lambda: time.time() + 30)
    assert lines == []


def test_a_clock_that_is_set_in_the_middle_does_not_matter(served: Served, tmp_path: Path) -> None:
    off = [0]
    with served.transport(clock=lambda: time.time() + off[0]) as transport:
        path, digest = saved(tmp_path, bundle(20_000, next(NUMBERS)))
        transport.request("POST", "/v1/withdrawals", b"{}")
        off[0] = 7200
        assert upload(transport, path, digest)


@pytest.mark.parametrize("times", [1, QUICK.attempts - 1, QUICK.attempts])
def test_a_request_that_something_on_the_way_has_sent_before_is_signed_anew(
    times: int, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = new_nonce()
    nonces = iter([used] * (1 + times))
    monkeypatch.setattr("site_client.exchange.transport.new_nonce", lambda: next(nonces, None) or new_nonce())
    with served.transport() as transport:
        assert transport.request("POST", "/v1/withdrawals", b"{}").status == 200
        if times < QUICK.attempts:
            assert transport.request("POST", "/v1/withdrawals", b"{}").status == 200
        else:
            with pytest.raises(UnreachableError, match=f"given up after {QUICK.attempts} attempts"):
                transport.request("POST", "/v1/withdrawals", b"{}")


def test_a_refusal_is_told_and_not_repeated(served: Served) -> None:
    pauses: list[float] = []
    with served.transport(sleep=pauses.append) as transport, pytest.raises(RefusedError, match="receipt") as caught:
        transport.request("GET", f"/v1/receipts/{'ab' * 32}")
    assert caught.value.code == "not-found"
    assert pauses == []


def test_a_revoked_site_is_told_so(tmp_path: Path, certificates: Certificates) -> None:
    central = provider(tmp_path / "provider")
    path, digest = saved(tmp_path, bundle(20_000))
    with listening(lambda address: central.make_app(address=address), certificates) as address:
        own = Served(central, address, certificates)

        def revoke(arrived: int) -> None:
            central.revoke("north")

        with own.transport() as transport, pytest.raises(RefusedError, match="revoked"):
            upload(transport, path, digest, revoke)
    assert central.ingest.taken == []


def test_an_upload_survives_a_server_that_starts_anew(tmp_path: Path, certificates: Certificates) -> None:
    central = provider(tmp_path / "provider")
    data = bundle(2 * MAX_CHUNK_BYTES + 5)
    path, digest = saved(tmp_path, data)
    with ExitStack() as first:
        address = first.enter_context(listening(lambda address: central.make_app(address=address), certificates))
        port = int(address.rsplit(":", 1)[1])
        stopped: list[int] = []

        def stop(arrived: int) -> None:
            if arrived and not stopped:
                stopped.append(arrived)
                first.close()

        restarted: list[Any] = []

        def start(seconds: float) -> None:
            if not restarted:
                again = listening(lambda address: central.make_app(address=address), certificates, port)
                restarted.append(again)
                again.__enter__()

        own = Served(central, address, certificates)
        try:
            with own.transport(sleep=start) as transport:
                assert read_receipt(upload(transport, path, digest, stop), PROVIDER.public_key).bundle_sha256 == digest
        finally:
            for again in restarted:
                again.__exit__(None, None, None)
    assert stopped == [MAX_CHUNK_BYTES]
    assert central.ingest.taken == [data]


class Scripted(Transport):
    """A transport whose server answers as a test says."""

    def __init__(self, answers: list[Callable[[], Answer]]) -> None:
        self.now = 0.0
        connection = Connection("https://localhost", retry_policy=QUICK)
        super().__init__(connection, KEY, sleep=self._pass, monotonic=lambda: self.now)
        self.asked: list[tuple[str, str, int | None]] = []
        self._answers = iter(answers)

    def _pass(self, seconds: float) -> None:
        self.now += seconds

    def once(self, method: str, path: str, body: bytes = b"", *, offset: int | None = None) -> Answer:
        self.asked.append((method, path, offset))
        return next(self._answers)()


def says(status: int, **headers: str) -> Callable[[], Answer]:
    return lambda: Answer(status, {name.replace("_", "-"): text for name, text in headers.items()}, b"receipt")


def refuses(code: str) -> Callable[[], Answer]:
    def answer() -> Answer:
        raise RefusedError("no", code=code)

    return answer


BEGUN = says(201, location="/v1/uploads/x", upload_offset="0")


def scripted(tmp_path: Path, *answers: Callable[[], Answer]) -> tuple[bytes, list[tuple[str, str, int | None]]]:
    path, digest = saved(tmp_path, bytes(100))
    transport = Scripted(list(answers))
    with transport:
        return upload(transport, path, digest), transport.asked


@pytest.mark.parametrize("code", ["offset", "gone", "digest", "slow"])
def test_an_upload_asks_anew_where_it_stands(tmp_path: Path, code: str) -> None:
    again = says(201, location="/v1/uploads/y", upload_offset="40")
    receipt, asked = scripted(tmp_path, BEGUN, refuses(code), again, says(204, upload_offset="100"), says(200))
    assert receipt == b"receipt"
    assert asked[2:] == [
        ("POST", "/v1/uploads", None),
        ("PATCH", "/v1/uploads/y", 40),
        ("POST", "/v1/uploads/y/finish", None),
    ]


def test_an_upload_waits_for_its_receipt(tmp_path: Path) -> None:
    waiting = says(202, retry_after="1")
    receipt, asked = scripted(tmp_path, BEGUN, says(204, upload_offset="100"), waiting, waiting, says(200))
    assert receipt == b"receipt"
    assert len(asked) == 5


def test_the_time_in_which_answers_are_held_back_counts_for_how_long_a_receipt_is_waited_for(tmp_path: Path) -> None:
    """20 seconds each, with a pause of two asked for."""
    path, digest = saved(tmp_path, bytes(100))
    transport = Scripted([])

    def later() -> Answer:
        transport.now += 20
        return says(202, retry_after="2")()

    transport._answers = iter([BEGUN, says(204, upload_offset="100"), *[later] * 2_000])
    with transport, pytest.raises(UnreachableError, match="within 6 hours"):
        upload(transport, path, digest)
    assert 6 * 3600 < transport.now < 6 * 3600 + 60


def test_an_upload_that_never_gets_on_is_given_up(tmp_path: Path) -> None:
    answers = [step for _ in range(QUICK.attempts) for step in (BEGUN, refuses("digest"))]
    with pytest.raises(UnreachableError, match="given up"):
        scripted(tmp_path, *answers)


@pytest.mark.parametrize("code", ["revoked", "conflict", "too-large", "malformed", "full", "unknown-key"])
def test_what_cannot_pass_ends_an_upload_at_once(tmp_path: Path, code: str) -> None:
    with pytest.raises(RefusedError):
        scripted(tmp_path, BEGUN, refuses(code))


@pytest.mark.parametrize("offset", ["", "-1", "x", "9" * 40])
def test_attack_an_offset_that_is_none(tmp_path: Path, offset: str) -> None:
    with pytest.raises(UnreachableError):
        scripted(tmp_path, says(201, location="/v1/uploads/x", upload_offset=offset))


# Fetching.


def published(served: Served, name: str, data: bytes) -> str:
    path = served.central.setup.releases / "targets" / name
    path.write_bytes(data)
    return f"{served.address}/releases/targets/{name}"


def test_a_file_is_fetched_whole(served: Served) -> None:
    data = bytes(range(256)) * 1000
    url = published(served, "whole.bin", data)
    with served.transport(key=None) as transport:
        assert b"".join(transport.fetch(url, len(data))) == data
        assert b"".join(transport.fetch("/releases/targets/whole.bin", len(data))) == data


@pytest.mark.parametrize(("anew", "said"), [(True, "no-cache"), (False, None)])
def test_what_keeps_copies_on_the_way_is_told_to_ask_the_server(
    anew: bool, said: str | None, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    true = httpx.Client.stream

    def noted(client: httpx.Client, *given: Any, **named: Any) -> Any:
        sent.append(named["headers"].get("cache-control"))
        return true(client, *given, **named)

    monkeypatch.setattr(httpx.Client, "stream", noted)
    url = published(served, "anew.bin", b"x")
    with served.transport(key=None) as transport:
        assert b"".join(transport.fetch(url, 1, anew=anew)) == b"x"
    assert sent == [said]


def test_attack_an_endless_file(served: Served) -> None:
    url = published(served, "endless.bin", bytes(300_000))
    with served.transport() as transport, pytest.raises(BoundsError):
        for _ in transport.fetch(url, 100_000):
            pass


def test_a_file_that_is_not_there_is_named(served: Served) -> None:
    with served.transport() as transport, pytest.raises(RefusedError) as caught:
        list(transport.fetch(f"{served.address}/releases/targets/none.bin", 100))
    assert caught.value.code == "not-found"


def test_fetching_resumes_where_it_was_cut(served: Served) -> None:
    data = bytes(range(256)) * 4000
    url = published(served, "cut.bin", data)

    class Cutting(Transport):
        starts: list[int] = []  # noqa: RUF012

        def _pieces(self, url: str, start: int, anew: bool) -> Iterator[bytes]:
            self.starts.append(start)
            for number, piece in enumerate(super()._pieces(url, start, anew)):
                if number == 2:
                    raise UnreachableError("cut", passing=True)
                yield piece

    connection = Connection(served.address, served.certificates.authority, retry_policy=QUICK)
    transport = Cutting(connection, sleep=lambda _: None)
    with transport:
        assert b"".join(transport.fetch(url, len(data))) == data
    assert transport.starts == sorted(set(transport.starts))
    assert len(transport.starts) > 5


def test_another_site_cannot_read_the_receipt(served: Served, tmp_path: Path) -> None:
    data = sent(served, tmp_path)
    with served.transport(key=OTHER_KEY) as transport, pytest.raises(RefusedError):
        transport.request("GET", f"/v1/receipts/{hashlib.sha256(data).hexdigest()}")


@pytest.mark.parametrize(
    "place", ["", ".evil.example/x", "@evil.example/v1/uploads/x", "/v1/uploads/../x", "//evil.example/x"]
)
def test_attack_an_upload_that_is_sent_elsewhere(tmp_path: Path, place: str) -> None:
    with pytest.raises(UnreachableError, match="place of an upload"):
        scripted(tmp_path, says(201, location=place, upload_offset="0"))


def test_attack_a_server_that_takes_pieces_for_ever(tmp_path: Path) -> None:
    same = says(204, upload_offset="0")
    with pytest.raises(UnreachableError, match="as before"):
        scripted(tmp_path, *([BEGUN, same] * 50))


def test_a_check_that_never_ends_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    waiting = says(202, retry_after="3000")
    with pytest.raises(UnreachableError, match="still checks"):
        scripted(tmp_path, BEGUN, says(204, upload_offset="100"), *([waiting] * 50))


def test_a_proxy_of_another_kind_is_refused() -> None:
    with pytest.raises(SiteError, match="proxy"), Transport(Connection("https://deid.example", proxy="socks5://p:1")):
        pass
