"""The HTTP interface without a network: uploads in pieces, receipts, limits, and everything that is to be refused."""

from __future__ import annotations

import asyncio
import datetime
import errno
import hashlib
import itertools
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from aggregator.enrolled.reserved import reserved_bytes
from aggregator.errors import DatabaseError, RegistryError, UnconfinedError, WorkspaceError
from aggregator.registry.states import ShareState, SiteState, UploadState
from aggregator.registry.tables import NonceRow, ShareRow, SiteRow, UploadRow
from aggregator.registry.times import as_text
from aggregator.server.authentication import Authenticator
from aggregator.server.intake import Intake
from aggregator.server.limits import Limits
from aggregator.server.uploads import Upload, Uploads
from aggregator.server.waiting import Turns
from foundation.errors import StorageError
from protocols.errors import ConflictError, MismatchError
from protocols.http.messages import MAX_CHUNK_BYTES, MAX_MESSAGE_BYTES, ServerTime, UploadRequest
from protocols.http.signatures import MAX_AGE_S, new_nonce
from protocols.keys.signing import PrivateKey
from protocols.share.receipt import read_receipt
from tests.aggregator.registry.rows import share
from tests.aggregator.server.service import ADDRESS, PROVIDER, Provider, bundle, problem, provider, run, site

BUNDLE = bundle(20_000)
NUMBERS = itertools.count(1)
DIGEST = hashlib.sha256(BUNDLE).hexdigest()


@pytest.fixture
def central(tmp_path: Path) -> Iterator[Provider]:
    made = provider(tmp_path)
    yield made
    made.registry.close()


def part_files(central: Provider) -> list[Path]:
    return list(central.setup.uploads.iterdir())


def refused(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, problem(answer)) == (status, code), answer.text


def test_a_bundle_arrives_in_pieces_and_its_receipt_returns(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            answer = await north.upload(BUNDLE, step=7_000)
            assert answer.status_code == 200
            assert read_receipt(answer.content, PROVIDER.public_key).bundle_sha256 == DIGEST
            assert (await north.send("GET", f"/v1/receipts/{DIGEST}")).content == answer.content
            again = await north.begin(BUNDLE)
            assert (again.status_code, again.content) == (200, answer.content)

    run(work)
    assert central.ingest.taken == [BUNDLE]
    assert part_files(central) == []


def test_finishing_twice_gives_the_same_receipt(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE, offset=0)
            first = await north.send("POST", f"{place}/finish")
            second = await north.send("POST", f"{place}/finish")
            assert (first.status_code, second.status_code) == (200, 200)
            assert first.content == second.content

    run(work)
    assert len(central.ingest.taken) == 1


def test_finishing_many_times_at_once_takes_the_share_in_once(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE, offset=0)
            central.ingest.gate.clear()
            asked = [asyncio.create_task(north.send("POST", f"{place}/finish")) for _ in range(5)]
            await asyncio.sleep(0.2)
            central.ingest.gate.set()
            assert {(answer.status_code, answer.content) for answer in await asyncio.gather(*asked)} == {
                (200, central_receipt(central))
            }

    run(work)
    assert len(central.ingest.taken) == 1


def central_receipt(central: Provider) -> bytes:
    with central.registry.reading() as session:
        receipt = session.scalar(select(ShareRow.receipt))
    assert receipt
    return receipt


def test_a_share_that_takes_long_is_asked_for_again(central: Provider) -> None:
    async def work() -> None:
        async with site(central.make_app(wait_s=0.05)) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE, offset=0)
            central.ingest.gate.clear()
            waiting = await north.send("POST", f"{place}/finish")
            assert (waiting.status_code, waiting.content) == (202, b"")
            assert int(waiting.headers["retry-after"]) > 0
            central.ingest.gate.set()
            while (answer := await north.send("POST", f"{place}/finish")).status_code == 202:
                pass
            assert answer.status_code == 200

    run(work)
    assert len(central.ingest.taken) == 1


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, len(BUNDLE) - 1), unique=True, max_size=4), restart=st.booleans())
def test_an_upload_goes_on_from_any_byte_also_after_a_restart(
    central: Provider, cuts: list[int], restart: bool
) -> None:
    data = bundle(len(BUNDLE), next(NUMBERS))

    async def part(start: int, end: int, app: Any) -> None:
        async with site(app) as north:
            begun = await north.begin(data)
            place = begun.headers["location"]
            assert int(begun.headers["upload-offset"]) == start
            head = await north.send("HEAD", place)
            assert (head.status_code, head.headers["upload-offset"]) == (204, str(start))
            answer = await north.send("PATCH", place, data[start:end], offset=start)
            assert answer.headers["upload-offset"] == str(end)
            if end == len(data):
                assert (await north.send("POST", f"{place}/finish")).status_code == 200

    for start, end in itertools.pairwise([0, *sorted(cuts), len(data)]):
        asyncio.run(part(start, end, central.make_app() if restart else central.app))
    assert data in central.ingest.taken


def test_two_uploads_of_one_bundle_at_once_are_one(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            answers = await asyncio.gather(*(north.begin(BUNDLE) for _ in range(4)))
            assert len({answer.headers["location"] for answer in answers}) == 1
            results = await asyncio.gather(*(north.upload(BUNDLE) for _ in range(2)), return_exceptions=True)
            good = [one for one in results if isinstance(one, httpx.Response) and one.status_code == 200]
            assert good
            assert (await north.begin(BUNDLE)).content == good[0].content

    run(work)
    assert central.ingest.taken == [BUNDLE]


class Halting:
    """A body that stops in its middle until it is let go, or for good."""

    def __init__(self, data: bytes, at: int) -> None:
        self.halted, self.go = asyncio.Event(), asyncio.Event()
        self._data, self._at = data, at

    async def __aiter__(self) -> Any:
        yield self._data[: self._at]
        self.halted.set()
        await self.go.wait()
        yield self._data[self._at :]


def test_of_two_writers_the_later_one_wins_and_the_earlier_one_spoils_nothing(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            # The same piece twice: once by a connection that hangs, once by the one that followed it.
            slow = Halting(BUNDLE[:9_000], 4_000)
            first = asyncio.create_task(
                north.send("PATCH", place, BUNDLE[:9_000], offset=0, sent=slow)  # type: ignore[arg-type]
            )
            await slow.halted.wait()
            second = await north.send("PATCH", place, BUNDLE[:6_000], offset=0)
            assert second.headers["upload-offset"] == "6000"
            slow.go.set()
            refused(await first, 409, "offset")
            rest = await north.send("PATCH", place, BUNDLE[6_000:], offset=6_000)
            assert rest.status_code == 204
            assert (await north.send("POST", f"{place}/finish")).status_code == 200

    run(work)
    assert central.ingest.taken == [BUNDLE]


@pytest.mark.parametrize(
    ("signed", "late"), [(BUNDLE[:9_000], BUNDLE[:9_000]), (BUNDLE[:9_000], bytes(9_000)), (bytes(9_000), bytes(9_000))]
)
def test_attack_a_late_piece_at_an_old_server_spoils_nothing_that_a_new_one_acknowledged(
    central: Provider, signed: bytes, late: bytes
) -> None:
    async def work() -> None:
        # Two servers on one workspace: the old one is ending, the new one has begun.
        async with site(central.app) as old, site(central.make_app()) as new:
            place = (await old.begin(BUNDLE)).headers["location"]
            slow = Halting(late, 4_000)
            first = asyncio.create_task(
                old.send("PATCH", place, signed, offset=0, sent=slow)  # type: ignore[arg-type]
            )
            await slow.halted.wait()
            for start, end in itertools.pairwise((0, 9_000, 16_000)):
                assert (await new.send("PATCH", place, BUNDLE[start:end], offset=start)).status_code == 204
            slow.go.set()
            assert (await first).status_code in (409, 422)
            assert part_files(central)[0].read_bytes() == BUNDLE[:16_000]
            assert (await new.send("PATCH", place, BUNDLE[16_000:], offset=16_000)).status_code == 204
            assert (await new.send("POST", f"{place}/finish")).status_code == 200

    run(work)
    assert central.ingest.taken == [BUNDLE]


def test_of_many_servers_that_write_one_piece_at_once_one_does(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            sites = [site(central.make_app()) for _ in range(6)]
            async with asyncio.TaskGroup() as group:
                sent = [group.create_task(piece(one, place)) for one in sites]
            assert sorted(task.result() for task in sent) == [204, 409, 409, 409, 409, 409]

    async def piece(other: Any, place: str) -> int:
        async with other as north:
            answer: httpx.Response = await north.send("PATCH", place, BUNDLE, offset=0)
            return answer.status_code

    run(work)
    assert part_files(central)[0].read_bytes() == BUNDLE


@pytest.mark.parametrize("change", [{"state": "aborted"}, {"offset": 9_000}])
def test_a_piece_does_not_count_at_an_upload_that_has_ended_or_gone_on_while_it_was_written(
    central: Provider, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    """By another server's hand, which the lock of a file need not hold off where the folder is on another machine."""
    flush = os.fsync

    def meanwhile(descriptor: int) -> None:
        flush(descriptor)
        with central.registry.transaction() as session:
            session.execute(update(UploadRow).values(**change))

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            with monkeypatch.context() as disk:
                disk.setattr("os.fsync", meanwhile)
                refused(await north.send("PATCH", place, BUNDLE[:5_000], offset=0), 409, "offset")

    run(work)
    with central.registry.reading() as session:
        row = session.scalars(select(UploadRow)).one()
    assert (row.state, row.offset) == (change.get("state", "open"), change.get("offset", 0))


def test_a_piece_that_was_cut_counts_for_nothing(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE[:5_000], offset=0)
            cut = await north.send("PATCH", place, BUNDLE[5_000:9_000], offset=5_000, sent=BUNDLE[5_000:8_000])
            refused(cut, 422, "digest")
            assert (await north.send("HEAD", place)).headers["upload-offset"] == "5000"
            assert (await north.upload(BUNDLE, step=100_000)).status_code == 200

    run(work)
    assert central.ingest.taken == [BUNDLE]


@pytest.mark.parametrize("offset", [1, 4_999, 5_001, 10_000, 10**15])
def test_a_piece_at_another_offset_is_refused(central: Provider, offset: int) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE[:5_000], offset=0)
            refused(await north.send("PATCH", place, BUNDLE[5_000:6_000], offset=offset), 409, "offset")
            assert (await north.send("HEAD", place)).headers["upload-offset"] == "5000"

    run(work)


def test_a_piece_needs_an_offset(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            refused(await north.send("PATCH", place, BUNDLE), 409, "offset")

    run(work)


def test_more_than_was_announced_is_refused(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            refused(await north.send("PATCH", place, BUNDLE + b"x", offset=0), 413, "too-large")
            assert (await north.send("HEAD", place)).headers["upload-offset"] == "0"

    run(work)


def test_a_piece_beyond_the_limit_is_refused(central: Provider) -> None:
    data = bundle(MAX_CHUNK_BYTES + 10_000)

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(data)).headers["location"]
            refused(await north.send("PATCH", place, data[: MAX_CHUNK_BYTES + 1], offset=0), 413, "too-large")
            whole = await north.send("PATCH", place, data[:MAX_CHUNK_BYTES], offset=0)
            assert whole.headers["upload-offset"] == str(MAX_CHUNK_BYTES)

    run(work)


def test_finishing_too_early_is_refused(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE[:-1], offset=0)
            refused(await north.send("POST", f"{place}/finish"), 409, "offset")

    run(work)
    assert central.ingest.taken == []


def test_other_bytes_than_announced_are_refused_and_can_be_sent_anew(central: Provider) -> None:
    other = BUNDLE[:-1] + bytes([BUNDLE[-1] ^ 1])

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, other, offset=0)
            refused(await north.send("POST", f"{place}/finish"), 422, "digest")
            refused(await north.send("POST", f"{place}/finish"), 410, "gone")
            assert part_files(central) == []
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)
    assert central.ingest.taken == [BUNDLE]


def test_attack_a_site_sends_the_bundle_of_another(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app, "south") as south:
            refused(await south.upload(BUNDLE), 403, "malformed")

    run(work)
    assert central.ingest.taken == []


def test_attack_a_site_asks_for_the_upload_and_the_receipt_of_another(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            place = (await north.begin(BUNDLE)).headers["location"]
            assert (await south.send("HEAD", place)).status_code == 404
            refused(await south.send("PATCH", place, BUNDLE, offset=0), 404, "not-found")
            refused(await south.send("POST", f"{place}/finish"), 404, "not-found")
            assert (await south.begin(BUNDLE)).headers["location"] != place
            await north.upload(BUNDLE)
            refused(await south.send("GET", f"/v1/receipts/{DIGEST}"), 404, "not-found")
            assert (await south.begin(BUNDLE)).status_code == 201

    run(work)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ConflictError("share 1", received="another"), 409, "conflict"),
        (MismatchError("this", received="that"), 422, "malformed"),
    ],
)
def test_what_ingest_refuses_is_told_to_the_site(central: Provider, error: Exception, status: int, code: str) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            central.ingest.error = error
            refused(await north.upload(BUNDLE), status, code)

    run(work)
    assert part_files(central) == []


@pytest.mark.parametrize("error", [StorageError("room", received="a full disk"), ZeroDivisionError("Brunhilda")])
def test_a_failure_of_the_server_keeps_the_upload_and_tells_nothing(
    central: Provider, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            central.ingest.error = error
            answer = await north.upload(BUNDLE)
            assert (answer.status_code, problem(answer)) in ((503, "internal"), (500, "internal"))
            assert "disk" not in answer.text
            assert "Brunhilda" not in answer.text + caplog.text
            central.ingest.error = None
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)


@pytest.mark.parametrize(
    "error",
    [
        RegistryError("audit log, event 7 of Brunhilda"),
        WorkspaceError("keys/provider.pem of Brunhilda"),
        UnconfinedError("no sandbox for Brunhilda"),
        DatabaseError("registry Brunhilda"),
    ],
)
def test_what_is_wrong_at_the_provider_is_no_refusal_of_a_share(central: Provider, error: Exception) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            central.ingest.error = error
            answer = await north.upload(BUNDLE)
            refused(answer, 503, "internal")
            assert "Brunhilda" not in answer.text
            central.ingest.error = None
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)


def test_a_server_that_ends_finishes_the_shares_that_are_taken_in_and_no_others(central: Provider) -> None:
    names = ("north", "south", "north", "south")
    bundles = [bundle(4_000, number, site=name) for number, name in enumerate(names, 1)]
    uploads = Uploads(central.registry, central.setup.uploads, Limits(), time.time)

    async def work() -> None:
        sent = []
        for name, one in zip(names, bundles, strict=True):
            async with site(central.app, name) as sender:
                place = (await sender.begin(one)).headers["location"]
                await sender.send("PATCH", place, one, offset=0)
                sent.append(uploads.find(name, place.rsplit("/", 1)[1]))
        central.ingest.gate.clear()
        ending = Intake(uploads, central.ingest, lambda state: None, wait_s=30)
        asked = [asyncio.create_task(ending.finish(upload)) for upload in sent]
        while central.ingest.asked < 2:
            await asyncio.sleep(0.01)
        closed = asyncio.create_task(ending.close())
        await asyncio.sleep(0)
        central.ingest.gate.set()
        await closed
        answers = [await one for one in asked]
        # Who waited in vain asks again.
        assert [answer is None for answer in answers] == [False, False, True, True]
        assert [uploads.find(upload.site, upload.id).state for upload in sent] == ["finished"] * 2 + ["open"] * 2
        async with site(central.make_app(), "south") as south:
            assert (await south.upload(bundles[3])).status_code == 200

    run(work)
    assert sorted(central.ingest.taken) == sorted([bundles[0], bundles[1], bundles[3]])


def test_attack_a_site_whose_shares_take_long_keeps_no_other_waiting(central: Provider) -> None:
    """However many it sends, it keeps one place busy; another's share is taken in meanwhile."""
    slow = [bundle(4_000, number) for number in range(1, 5)]
    uploads = Uploads(central.registry, central.setup.uploads, Limits(), time.time)
    began: list[bytes] = []
    gate = threading.Event()

    def take_in(path: Path) -> Any:
        began.append(path.read_bytes())
        if began[-1] in slow:
            gate.wait(30)
        return central.ingest(path)

    async def whole(name: str, one: bytes) -> Any:
        async with site(central.app, name) as sender:
            place = (await sender.begin(one)).headers["location"]
            await sender.send("PATCH", place, one, offset=0)
            return uploads.find(name, place.rsplit("/", 1)[1])

    async def work() -> None:
        intake = Intake(uploads, take_in, lambda state: None, wait_s=30, workers=2)
        asked = [asyncio.create_task(intake.finish(await whole("north", one))) for one in slow]
        while not began:
            await asyncio.sleep(0.01)
        other = await whole("south", bundle(4_000, 9, site="south"))
        assert await intake.finish(other) is not None
        assert began[0] in slow
        assert len(began) == 2
        gate.set()
        assert all([await one is not None for one in asked])
        await intake.close()

    run(work)
    assert sorted(began[2:] + began[:1]) == sorted(slow)


def test_the_registry_that_is_gone_is_a_failure_that_passes(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            path = central.folder / "registry.sqlite"
            path.rename(path.with_suffix(".away"))
            refused(await north.send("PATCH", place, BUNDLE, offset=0), 503, "internal")
            assert (await north.client.get("/healthz")).status_code == 503
            path.with_suffix(".away").rename(path)
            assert (await north.client.get("/healthz")).status_code == 200
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)


# Who is let in.


def test_attack_a_request_is_repeated_also_after_a_restart(central: Provider) -> None:
    nonce, body = new_nonce(), UploadRequest(DIGEST, len(BUNDLE)).to_bytes()

    async def first() -> None:
        async with site(central.app) as north:
            assert (await north.send("POST", "/v1/uploads", body, nonce=nonce)).status_code == 201
            refused(await north.send("POST", "/v1/uploads", body, nonce=nonce), 401, "replayed")

    async def second() -> None:
        async with site(central.make_app()) as north:
            refused(await north.send("POST", "/v1/uploads", body, nonce=nonce), 401, "replayed")
        async with site(central.app, "south") as south:
            # A nonce belongs to its key: nobody can use up another's.
            assert (await south.send("POST", "/v1/uploads", body, nonce=nonce)).status_code == 201

    run(first)
    run(second)


def nonces(central: Provider) -> int:
    with central.registry.reading() as session:
        return len(session.scalars(select(NonceRow)).all())


@pytest.mark.parametrize("limits", [{"requests_per_s": 0.001, "burst": 1}, {"running": 1}])
def test_a_request_beyond_the_limits_of_its_site_writes_nothing(tmp_path: Path, limits: dict[str, Any]) -> None:
    central = limited(tmp_path, **limits)

    async def work() -> None:
        async with site(central.app) as north:
            halted = Halting(b"{}", 1)
            first = asyncio.create_task(
                north.send("POST", "/v1/withdrawals", b"{}", sent=halted)  # type: ignore[arg-type]
            )
            await halted.halted.wait()
            for _ in range(3):
                refused(await north.send("GET", f"/v1/receipts/{DIGEST}"), 429, "too-many")
            halted.go.set()
            assert (await first).status_code == 200

    run(work)
    assert nonces(central) == 1


def test_attack_a_replay_uses_up_nothing_that_its_site_may_ask(tmp_path: Path) -> None:
    central, nonce = limited(tmp_path, requests_per_s=0.001, burst=2), new_nonce()

    async def work() -> None:
        async with site(central.app) as north:
            path = f"/v1/receipts/{DIGEST}"
            assert (await north.send("GET", path, nonce=nonce)).status_code == 404
            for _ in range(5):
                refused(await north.send("GET", path, nonce=nonce), 401, "replayed")
            assert (await north.send("GET", path)).status_code == 404

    run(work)


def test_attack_a_request_and_its_replay_at_once(central: Provider) -> None:
    nonce, body = new_nonce(), UploadRequest(DIGEST, len(BUNDLE)).to_bytes()

    async def work() -> None:
        async with site(central.app) as north:
            sent = (north.send("POST", "/v1/uploads", body, nonce=nonce) for _ in range(8))
            assert sorted([answer.status_code for answer in await asyncio.gather(*sent)]) == [201, *[401] * 7]

    run(work)
    assert nonces(central) == 1


@pytest.mark.parametrize("age", [MAX_AGE_S + 5, -MAX_AGE_S - 5, 365 * 86400])
def test_attack_a_stale_request(central: Provider, age: int) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            refused(await north.send("GET", f"/v1/receipts/{DIGEST}", created=time.time() - age), 401, "stale")

    run(work)


def test_nonces_are_forgotten_no_earlier_than_their_signatures_are_stale(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            await north.send("GET", f"/v1/receipts/{DIGEST}")

    run(work)
    for later, left in ((0, 1), (86400, 1), (86400 + 2 * MAX_AGE_S, 0)):
        now = time.time() + later
        Authenticator(central.registry, ADDRESS, lambda now=now: now).forget_nonces()  # type: ignore[misc]
        with central.registry.reading() as session:
            assert len(session.scalars(select(NonceRow)).all()) == left


def test_attack_a_site_that_nobody_enrolled(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            north.key = PrivateKey.generate()
            refused(await north.begin(BUNDLE), 401, "unknown-key")

    run(work)


@pytest.mark.parametrize(
    ("changes", "status", "code", "said"),
    [
        ({"state": "revoked"}, 403, "revoked", "ask the provider"),
        ({"valid_until": "2020-12-31T23:59:59Z"}, 401, "unknown-key", "valid until 2020-12-31; run"),
        # A new key would help nobody.
        ({"valid_from": "2099-01-01T00:00:00Z"}, 401, "unknown-key", "valid from 2099-01-01; set the provider's clock"),
    ],
)
def test_attack_a_key_that_does_not_count(
    central: Provider, changes: dict[str, str], status: int, code: str, said: str
) -> None:
    key = PrivateKey.generate()
    central.enrol("west", key, **changes)

    async def work() -> None:
        async with site(central.app) as west:
            west.key = key
            answer = await west.begin(BUNDLE)
            refused(answer, status, code)
            assert said in answer.json()["message"]

    run(work)


def test_a_retired_key_still_counts_until_its_last_day(central: Provider) -> None:
    key = PrivateKey.generate()
    central.enrol("west", key, state="retired")

    async def work() -> None:
        async with site(central.app) as west:
            west.key = key
            assert (await west.begin(BUNDLE)).status_code == 201

    run(work)


def test_a_revoked_site_gets_no_further_than_its_next_request(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE[:5_000], offset=0)
            central.revoke("north")
            refused(await north.send("PATCH", place, BUNDLE[5_000:], offset=5_000), 403, "revoked")
            refused(await north.send("POST", f"{place}/finish"), 403, "revoked")
            refused(await north.begin(BUNDLE), 403, "revoked")

    run(work)
    assert central.ingest.taken == []


@pytest.mark.parametrize("address", ["https://other.test", "http://provider.test", "https://provider.test:444"])
def test_attack_a_request_for_another_server(central: Provider, address: str) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            north.address = address
            refused(await north.begin(BUNDLE), 401, "unsigned")

    run(work)


def test_attack_the_host_header_says_what_the_signature_says(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            north.address = "https://other.test"
            headers = {"host": "other.test", "x-forwarded-host": "other.test"}
            refused(await north.send("GET", f"/v1/receipts/{DIGEST}", headers=headers), 401, "unsigned")

    run(work)


def test_attack_another_body_header_or_path_than_was_signed(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            refused(await north.send("POST", "/v1/withdrawals", b"{}", sent=b"[]"), 422, "digest")
            refused(await north.send("PATCH", place, BUNDLE, offset=0, sent=BUNDLE[::-1]), 422, "digest")
            refused(await north.send("PATCH", place, BUNDLE, offset=0, headers={"upload-offset": "1"}), 401, "unsigned")
            signed = await north.send("PATCH", place, BUNDLE, offset=0, headers={"signature": "deid=:AA==:"})
            refused(signed, 401, "unsigned")
            assert (await north.send("HEAD", place)).headers["upload-offset"] == "0"

    run(work)
    assert central.messages == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/uploads"),
        ("HEAD", "/v1/uploads/x"),
        ("PATCH", "/v1/uploads/x"),
        ("POST", "/v1/uploads/x/finish"),
        ("GET", f"/v1/receipts/{DIGEST}"),
        ("POST", "/v1/withdrawals"),
        ("POST", "/v1/rotations"),
    ],
)
def test_attack_no_signature(central: Provider, method: str, path: str) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            answer = await north.client.request(method, path, content=b"{}")
            assert (answer.status_code, answer.headers["problem"]) == (401, "unsigned")

    run(work)


# Limits.


def limited(folder: Path, **limits: Any) -> Provider:
    return provider(folder, Limits(**limits))


def test_a_bundle_that_is_too_large_is_refused_at_once(tmp_path: Path) -> None:
    central = limited(tmp_path, bundle_bytes=19_999)

    async def work() -> None:
        async with site(central.app) as north:
            refused(await north.begin(BUNDLE), 413, "too-large")
            assert (await north.begin(BUNDLE[:19_999])).status_code == 201

    run(work)


def test_uploads_at_once_are_limited_for_each_site_by_itself(tmp_path: Path) -> None:
    central = limited(tmp_path, open_uploads=2)
    bundles = [bundle(4_000, number) for number in (1, 2, 3)]

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            assert [(await north.begin(one)).status_code for one in bundles[:2]] == [201, 201]
            answer = await north.begin(bundles[2])
            refused(answer, 429, "too-many")
            assert int(answer.headers["retry-after"]) > 0
            assert (await north.begin(bundles[0])).status_code == 201
            assert (await south.begin(bundles[2])).status_code == 201
            await north.upload(bundles[0])
            assert (await north.begin(bundles[2])).status_code == 201

    run(work)


def test_bytes_a_day_are_limited_whatever_becomes_of_them(tmp_path: Path) -> None:
    clock = [time.time()]
    central = provider(tmp_path, Limits(bundle_bytes=10_000, day_bytes=10_000), clock=lambda: clock[0])

    async def work() -> None:
        async with site(central.app) as north:
            await north.upload(bundle(6_000))
            refused(await north.begin(bundle(6_000, 2)), 429, "too-many")
            clock[0] += 86400 + 1
            answer = await north.send(
                "POST", "/v1/uploads", UploadRequest("ab" * 32, 6_000).to_bytes(), created=clock[0]
            )
            assert answer.status_code == 201

    run(work)


def test_attack_what_a_site_leaves_by_refused_bundles_a_day_is_limited(tmp_path: Path) -> None:
    clock = [time.time()]
    central = provider(tmp_path, Limits(day_refused=2), clock=lambda: clock[0])
    with central.registry.transaction() as session:
        session.add(share(7, "north", state=ShareState.REJECTED))
        session.add(share(7, "south", state=ShareState.REJECTED))
    central.ingest.error = MismatchError("another")

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            refused(await north.upload(bundle(6_000)), 422, "malformed")
            answer = await north.begin(bundle(6_000, 2))
            refused(answer, 429, "too-many")
            assert int(answer.headers["retry-after"]) > 0
            assert (await south.begin(bundle(6_000, 3, site="south"))).status_code == 201
            clock[0] += 86400 + 1
            asked = UploadRequest("ab" * 32, 6_000).to_bytes()
            assert (await north.send("POST", "/v1/uploads", asked, created=clock[0])).status_code == 201

    run(work)


def with_free_disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """Makes the disk one with so much room, beside what is always kept free."""
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=(256 << 20) + free))


def test_attack_uploads_that_are_only_announced_cannot_fill_the_disk_together(
    central: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = bundle(10_000, 1), bundle(10_000, 2, site="south")
    # A bundle, its object, the copy that is read and what is decrypted from it, and a little more.
    with_free_disk(monkeypatch, 45_000)

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            place = (await north.begin(first)).headers["location"]
            refused(await south.begin(second), 507, "full")
            await north.send("PATCH", place, first[:6_000], offset=0)
            assert (await south.begin(second)).status_code == 201

    run(work)


def test_attack_a_site_that_announces_and_sends_nothing_keeps_no_other_out(
    central: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_free_disk(monkeypatch, 80_000)

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            for number in range(4):
                announced = UploadRequest(f"{number:064x}", 11_000).to_bytes()
                assert (await north.send("POST", "/v1/uploads", announced)).status_code == 201
            # Of the half that is south's nothing is reserved.
            answer = await south.begin(bundle(10_001, 1, site="south"))
            refused(answer, 507, "full")
            assert "reserved" in answer.text
            assert "full disk" not in answer.text
            assert (await south.begin(bundle(10_000, 2, site="south"))).status_code == 201

    run(work)


def test_what_a_site_has_announced_itself_counts_in_full(central: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    with_free_disk(monkeypatch, 80_000)

    async def work() -> None:
        async with site(central.app) as north:
            for number in range(3):
                announced = UploadRequest(f"{number:064x}", 18_000).to_bytes()
                answer = await north.send("POST", "/v1/uploads", announced)
                assert answer.status_code == (201, 507, 507)[number]

    run(work)


def test_uploads_that_are_over_or_of_a_revoked_site_reserve_nothing(tmp_path: Path) -> None:
    clock = [time.time()]
    central = provider(tmp_path, clock=lambda: clock[0])

    def found(hours: int) -> dict[str, int]:
        with central.registry.reading() as session:
            at = as_text(datetime.datetime.fromtimestamp(clock[0] + hours * 3600, datetime.UTC))
            return {name: one.bytes for name, one in reserved_bytes(session, at).items()}

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            await north.begin(bundle(6_000))
            await south.begin(bundle(7_000, 1, site="south"))

    run(work)
    assert found(0) == {"north": 6_000, "south": 7_000}
    with central.registry.transaction() as session:
        session.get_one(SiteRow, "south").state = SiteState.REVOKED
    assert found(0) == {"north": 6_000}
    assert found(73) == {}


def test_a_bundle_needs_room_for_all_that_is_made_of_it(central: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            with_free_disk(monkeypatch, 4 * len(BUNDLE) - 1)
            refused(await north.begin(BUNDLE), 507, "full")
            with_free_disk(monkeypatch, 4 * len(BUNDLE))
            assert (await north.begin(BUNDLE)).status_code == 201

    run(work)


def test_a_piece_is_refused_once_the_disk_is_nearly_full(central: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            with_free_disk(monkeypatch, 0)
            refused(await north.send("PATCH", place, BUNDLE, offset=0), 507, "full")
            with_free_disk(monkeypatch, len(BUNDLE))
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)


def test_a_disk_that_fills_up_under_a_piece_is_told_to_the_site(
    central: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no room for Brunhilda")

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            with monkeypatch.context() as disk:
                disk.setattr("os.fsync", full)
                answer = await north.send("PATCH", place, BUNDLE, offset=0)
            refused(answer, 507, "full")
            assert "Brunhilda" not in answer.text
            assert (await north.send("HEAD", place)).headers["upload-offset"] == "0"
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)


def test_requests_are_limited_for_each_site_by_itself(tmp_path: Path) -> None:
    central = limited(tmp_path, requests_per_s=0.1, burst=3)

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            codes = [(await north.send("GET", f"/v1/receipts/{DIGEST}")).status_code for _ in range(4)]
            assert codes == [404, 404, 404, 429]
            assert (await south.send("GET", f"/v1/receipts/{DIGEST}")).status_code == 404

    run(work)


def test_attack_others_cannot_use_up_the_requests_of_a_site(tmp_path: Path) -> None:
    central = limited(tmp_path, requests_per_s=0.1, burst=1)

    async def work() -> None:
        async with site(central.app) as north:
            for _ in range(3):
                answer = await north.send(
                    "GET", f"/v1/receipts/{DIGEST}", headers={"signature": f"deid=:{'A' * 86}==:"}
                )
                refused(answer, 401, "unsigned")
            assert (await north.send("GET", f"/v1/receipts/{DIGEST}")).status_code == 404

    run(work)


def test_an_upload_ends_with_its_time_and_leaves_nothing(tmp_path: Path) -> None:
    clock = [time.time()]
    central = provider(tmp_path, Limits(upload_hours=1), clock=lambda: clock[0])

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            clock[0] += 3601
            gone = await north.send("PATCH", place, BUNDLE, offset=0, created=clock[0])
            refused(gone, 410, "gone")

    run(work)
    assert len(part_files(central)) == 1
    (central.setup.uploads / "of-a-crash.part").write_bytes(b"x")
    Uploads(central.registry, central.setup.uploads, Limits(), lambda: clock[0]).tidy()
    assert part_files(central) == []
    with central.registry.reading() as session:
        assert session.scalars(select(UploadRow.state)).all() == ["aborted"]


def test_tidying_keeps_open_uploads(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE[:5_000], offset=0)
            Uploads(central.registry, central.setup.uploads, Limits(), time.time).tidy()
            assert (await north.upload(BUNDLE)).status_code == 200

    run(work)


def test_an_upload_whose_database_goes_when_its_share_is_decided_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    central = limited(tmp_path, open_uploads=2)
    first, second, third = (bundle(4_000, number) for number in (1, 2, 3))

    def gone(uploads: Uploads, upload: Upload, state: UploadState) -> None:
        raise DatabaseError("a database that answers")

    async def work() -> None:
        async with site(central.app) as north:
            with monkeypatch.context() as patch:
                patch.setattr(Uploads, "end", gone)
                for data in (first, second):
                    place = (await north.begin(data)).headers["location"]
                    await north.send("PATCH", place, data, offset=0)
                    assert (await north.send("POST", f"{place}/finish")).status_code == 503
            # Its bundle has a receipt, whoever asks; yet for three days it would count as one that goes on.
            assert (await north.begin(first)).status_code == 200
            Uploads(central.registry, central.setup.uploads, Limits(), time.time).tidy()
            assert part_files(central) == []
            assert (await north.begin(third)).status_code == 201

    run(work)


def test_uploads_of_long_ago_are_forgotten_but_not_what_counts_for_the_day(tmp_path: Path) -> None:
    clock = [time.time()]
    limits = Limits(bundle_bytes=10_000, day_bytes=10_000, upload_hours=1)
    central = provider(tmp_path, limits, clock=lambda: clock[0])
    uploads = Uploads(central.registry, central.setup.uploads, limits, lambda: clock[0])

    def kept() -> int:
        uploads.tidy()
        with central.registry.reading() as session:
            return len(session.scalars(select(UploadRow)).all())

    async def work() -> None:
        async with site(central.app) as north:
            await north.upload(bundle(6_000))
            clock[0] += 86_000
            assert kept() == 1
            body = UploadRequest("ab" * 32, 6_000).to_bytes()
            refused(await north.send("POST", "/v1/uploads", body, created=clock[0]), 429, "too-many")

    run(work)
    clock[0] += 400 + 3_600 + 1
    assert kept() == 0


def test_silence_in_the_middle_of_a_body_ends_the_request(tmp_path: Path) -> None:
    central = limited(tmp_path, piece_s=0.05)

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            sending = north.send("PATCH", place, BUNDLE, offset=0, sent=Halting(BUNDLE, 4_000))  # type: ignore[arg-type]
            refused(await sending, 408, "slow")
            assert (await north.send("HEAD", place)).headers["upload-offset"] == "0"

    run(work)


class Trickle:
    """A body that comes byte by byte."""

    def __init__(self, data: bytes) -> None:
        self.sent = 0
        self._data = data

    async def __aiter__(self) -> Any:
        for byte in self._data:
            await asyncio.sleep(0.01)
            self.sent += 1
            yield bytes([byte])


@pytest.mark.parametrize(("method", "offset"), [("PATCH", 0), ("POST", None)])
def test_attack_a_body_that_trickles_holds_no_connection(tmp_path: Path, method: str, offset: int | None) -> None:
    central = limited(tmp_path, piece_s=0.5, least_bytes_per_s=1_000_000)

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            body, path = BUNDLE[:1_000], place if method == "PATCH" else "/v1/withdrawals"
            slow = Trickle(body)
            refused(await north.send(method, path, body, offset=offset, sent=slow), 408, "slow")  # type: ignore[arg-type]
            assert slow.sent < len(body)

    run(work)


@pytest.mark.parametrize("pause_s", [0.02, 3600])
def test_attack_an_answer_that_is_taken_slowly_holds_no_connection(tmp_path: Path, pause_s: float) -> None:
    central = limited(tmp_path, piece_s=0.3, least_bytes_per_s=1 << 30)
    (central.setup.releases / "targets" / "representer").write_bytes(bytes(20 << 20))
    path, taken = "/releases/targets/representer", []
    asked = 0

    async def receive() -> Any:
        nonlocal asked
        asked += 1
        if asked > 1:
            # As a server has it: after the body nothing comes until somebody hangs up.
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        taken.append(message)
        if len(taken) > 3:
            await asyncio.sleep(pause_s)

    async def work() -> None:
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [],
            "http_version": "1.1",
            "scheme": "https",
            "server": ("provider.test", 443),
            "client": None,
            "root_path": "",
        }
        async with asyncio.timeout(60):
            await central.app(scope, receive, send)

    run(work)
    # Cut off in the middle, without an end that would make a part look like the whole.
    assert all(message.get("more_body", True) for message in taken)


def test_requests_of_a_site_that_run_at_once_are_limited_for_each_by_itself(tmp_path: Path) -> None:
    central = limited(tmp_path, running=2)

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            place = (await north.begin(BUNDLE)).headers["location"]
            slow = [Halting(BUNDLE, 4_000) for _ in range(2)]
            sent = [
                asyncio.create_task(north.send("PATCH", place, BUNDLE, offset=0, sent=one))  # type: ignore[arg-type]
                for one in slow
            ]
            for one in slow:
                await one.halted.wait()
            answer = await north.send("HEAD", place)
            assert (answer.status_code, answer.headers["problem"]) == (429, "too-many")
            assert int(answer.headers["retry-after"]) > 0
            assert (await south.begin(BUNDLE)).status_code == 201
            for one in slow:
                one.go.set()
            assert sorted([answer.status_code for answer in await asyncio.gather(*sent)]) == [204, 409]
            assert (await north.send("HEAD", place)).headers["upload-offset"] == str(len(BUNDLE))

    run(work)


def test_a_message_that_is_too_long_is_refused(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            refused(await north.send("POST", "/v1/withdrawals", bytes(MAX_MESSAGE_BYTES + 1)), 413, "too-large")

    run(work)


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b"\xff", b'{"bundle_sha256":"x","bytes":1}', b"[" * 1000])
def test_a_message_of_another_shape_is_refused(central: Provider, body: bytes) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            refused(await north.send("POST", "/v1/uploads", body), 422, "malformed")

    run(work)


# The rest of the interface.


def test_withdrawals_and_rotations_reach_those_who_carry_them_out(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            assert (await north.send("POST", "/v1/withdrawals", b"{1}")).content == b"withdrawal"
            assert (await south.send("POST", "/v1/rotations", b"{2}")).content == b"rotation"

    run(work)
    assert central.messages == [("withdrawal", "north", b"{1}"), ("rotation", "south", b"{2}")]


@pytest.mark.parametrize("path", ["/v1/withdrawals", "/v1/rotations"])
def test_attack_who_rotates_and_withdraws_without_end_waits_behind_others_as_with_all_work(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[str] = []

    class Noted(Turns):
        async def run(self, who: str, *work: Any, **named: Any) -> Any:
            turns.append(who)
            return await super().run(who, *work, **named)

    monkeypatch.setattr("aggregator.server.app.Turns", Noted)
    central = provider(tmp_path)

    async def work() -> None:
        async with site(central.app) as north:
            await north.send("POST", path, b"{1}")

    run(work)
    assert turns.count("north") == 1


def test_the_time_is_the_servers(tmp_path: Path) -> None:
    central = provider(tmp_path, clock=lambda: 1_234_567_890.9)

    async def work() -> None:
        async with site(central.app) as north:
            assert ServerTime.from_bytes((await north.client.get("/v1/time")).content).seconds == 1_234_567_890

    run(work)


@pytest.mark.parametrize(
    "path",
    [
        "/releases/../registry.sqlite",
        "/releases/metadata/../../registry.sqlite",
        "/releases/metadata/%2e%2e/%2e%2e/registry.sqlite",
        "/releases/metadata/..%2f..%2fregistry.sqlite",
        "/releases/metadata/%2e%2e%5cregistry.sqlite",
        "/releases//etc/passwd",
        "/releases/%2fetc%2fpasswd",
        "/releases/metadata//etc/passwd",
        "/releases/metadata/link.json",
        "/releases/linked/secret.json",
        "/releases/targets/folder/secret.json",
        "/releases/metadata/.hidden.json",
        "/releases/metadata/fifo.json",
        "/releases/metadata/nul%00.json",
        "/releases/metadata",
        "/releases/metadata/",
        "/releases/targets/a",
        "/releases/secret.json",
        "/releases/",
    ],
)
def test_attack_a_way_out_of_the_releases(central: Provider, path: str) -> None:
    releases = central.setup.releases
    for folder in (releases, releases / "targets" / "a", central.folder / "outside"):
        folder.mkdir(exist_ok=True)
        (folder / "secret.json").write_bytes(b"secret")
    (releases / "metadata" / ".hidden.json").write_bytes(b"secret")
    (releases / "metadata" / "link.json").symlink_to(central.folder / "outside" / "secret.json")
    (releases / "targets" / "folder").symlink_to(central.folder / "outside")
    (releases / "linked").symlink_to(central.folder / "outside")
    os.mkfifo(releases / "metadata" / "fifo.json")

    async def work() -> None:
        async with httpx.AsyncClient(transport=Raw(central.app, path), base_url=ADDRESS) as client:
            answer = await client.get("/")
            assert (answer.status_code, problem(answer)) == (404, "not-found")

    run(work)


class Raw(httpx.ASGITransport):
    """Sends a path as it is, which httpx would put in order first."""

    def __init__(self, app: Any, path: str) -> None:
        async def raw(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "path": unquote(path), "raw_path": path.encode()}, receive, send)

        super().__init__(app=raw)


def test_releases_are_files_for_everybody_and_can_be_resumed(central: Provider) -> None:
    (central.setup.releases / "metadata" / "1.root.json").write_bytes(b'{"root":1}')
    folder = central.setup.releases / "targets" / "0001-representer"
    folder.mkdir()
    (folder / "ab12.representer.safetensors").write_bytes(bytes(range(100)))

    async def work() -> None:
        async with site(central.app) as north:
            assert (await north.client.get("/releases/metadata/1.root.json")).content == b'{"root":1}'
            path = "/releases/targets/0001-representer/ab12.representer.safetensors"
            whole = await north.client.get(path)
            assert whole.content == bytes(range(100))
            rest = await north.client.get(path, headers={"range": "bytes=40-"})
            assert (rest.status_code, rest.content) == (206, bytes(range(40, 100)))

    run(work)


def test_figures_and_log_say_nothing_of_sites_and_secrets(central: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="aggregator.server")

    async def work() -> str:
        async with site(central.app) as north:
            await north.upload(BUNDLE)
            await north.client.get("/v1/time?patient=Brunhilda")
            await north.client.get("/nowhere")
            return (await north.client.get("/metrics")).text

    page = run(work)
    assert 'deid_requests_total{route="append",status="204"} 1.0' in page
    assert f"deid_received_bytes_total {float(len(BUNDLE))}" in page
    assert 'deid_shares_total{state="accepted"} 1.0' in page
    assert 'deid_refusals_total{code="not-found"} 1.0' in page
    for secret in ("north", "south", DIGEST, DIGEST[:12], "Brunhilda", "provider.test"):
        assert secret not in page
    assert "PATCH /v1/uploads/" in caplog.text
    assert "GET /v1/time 200" in caplog.text
    assert "Brunhilda" not in caplog.text
    assert "signature" not in caplog.text.lower()


def test_attack_a_path_that_forges_a_line_of_the_log(central: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="aggregator.server")

    async def work() -> None:
        async with httpx.AsyncClient(transport=Raw(central.app, "/x\n2026 GET /y 200"), base_url=ADDRESS) as client:
            await client.get("/")

    run(work)
    assert all("\n" not in record.getMessage() for record in caplog.records)


def test_attack_a_method_that_fills_the_log(central: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="aggregator.server")

    async def work() -> None:
        async with site(central.app) as north:
            await north.client.request("A" * 50_000, "/v1/time")

    run(work)
    [line] = [record.getMessage() for record in caplog.records if "/v1/time" in record.getMessage()]
    assert line.startswith(f"{'A' * 16} /v1/time 405 ")


def test_no_answer_names_the_program_or_its_version(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            for answer in (
                await north.client.get("/healthz"),
                await north.client.get("/nowhere"),
                await north.begin(BUNDLE),
            ):
                assert "server" not in answer.headers
                assert not [text for text in answer.headers.values() if "starlette" in text or "uvicorn" in text]

    run(work)
