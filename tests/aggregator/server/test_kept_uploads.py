"""Uploads whose bytes are gone, as after a restore of the registry alone, end and begin anew; those in work stay however long it takes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from aggregator.registry.tables import UploadRow
from aggregator.server import app
from aggregator.server.limits import Limits
from aggregator.server.uploads import Uploads
from tests.aggregator.server.service import Provider, bundle, problem, provider, run, site

BUNDLE = bundle(20_000)


@pytest.fixture
def central(tmp_path: Path) -> Iterator[Provider]:
    # Refused once, a site would have to wait for tomorrow.
    made = provider(tmp_path, Limits(day_refused=1, open_uploads=1))
    yield made
    made.registry.close()


def file_of(central: Provider) -> Path:
    [path] = central.setup.uploads.glob("*.part")
    return path


def cut(path: Path) -> None:
    """The last bytes never came back, as from a copy of the disk that is older than the registry."""
    path.write_bytes(path.read_bytes()[:-1])


def tidy(central: Provider, clock: Callable[[], float] = time.time) -> None:
    Uploads(central.registry, central.setup.uploads, Limits(), clock).tidy()


def states(central: Provider) -> list[str]:
    with central.registry.reading() as session:
        return [str(state) for state in session.scalars(select(UploadRow.state).order_by(UploadRow.created_at))]


@pytest.mark.parametrize("lose", [Path.unlink, cut], ids=["gone", "too short"])
class TestBytesThatAreLost:
    @pytest.mark.parametrize("sent", [5_000, len(BUNDLE)], ids=["a part had come", "all had come"])
    @pytest.mark.parametrize("ask", ["where it stands", "with the next piece", "for the receipt"])
    def test_the_upload_has_ended_and_begins_anew(
        self, lose: Callable[[Path], None], ask: str, sent: int, central: Provider
    ) -> None:
        async def work() -> None:
            async with site(central.app) as north:
                place = (await north.begin(BUNDLE)).headers["location"]
                await north.send("PATCH", place, BUNDLE[:sent], offset=0)
                lose(file_of(central))
                asked = {
                    "where it stands": lambda: north.send("HEAD", place),
                    "with the next piece": lambda: north.send("PATCH", place, BUNDLE[sent:], offset=sent),
                    "for the receipt": lambda: north.send("POST", f"{place}/finish"),
                }
                answer = await asked[ask]()
                assert (answer.status_code, answer.headers["problem"]) == (410, "gone")
                assert (await north.upload(BUNDLE, step=7_000)).status_code == 200

        run(work)
        assert central.ingest.taken == [BUNDLE]
        assert states(central) == ["aborted", "finished"]

    def test_who_begins_again_gets_a_new_one(self, lose: Callable[[Path], None], central: Provider) -> None:
        async def work() -> None:
            async with site(central.app) as north:
                place = (await north.begin(BUNDLE)).headers["location"]
                await north.send("PATCH", place, BUNDLE[:5_000], offset=0)
                lose(file_of(central))
                again = await north.begin(BUNDLE)
                assert (again.status_code, again.headers["upload-offset"]) == (201, "0")
                assert again.headers["location"] != place
                assert (await north.upload(BUNDLE)).status_code == 200

        run(work)

    def test_tidying_ends_it(self, lose: Callable[[Path], None], central: Provider) -> None:
        async def work() -> None:
            async with site(central.app) as north:
                place = (await north.begin(BUNDLE)).headers["location"]
                await north.send("PATCH", place, BUNDLE[:5_000], offset=0)
                lose(file_of(central))
                tidy(central)
                assert states(central) == ["aborted"]
                assert not list(central.setup.uploads.iterdir())
                # Its one place for an upload is free again, for another bundle too.
                assert (await north.upload(bundle(9_000, 2))).status_code == 200

        run(work)


def test_a_bundle_that_is_refused_still_counts_for_the_day(central: Provider) -> None:
    other = BUNDLE[:-1] + bytes([BUNDLE[-1] ^ 1])

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, other, offset=0)
            assert problem(await north.send("POST", f"{place}/finish")) == "digest"
            assert problem(await north.begin(BUNDLE)) == "too-many"

    run(work)


def test_a_share_that_is_in_work_when_its_upload_ends_is_taken_in(tmp_path: Path) -> None:
    clock = [time.time()]
    central = provider(tmp_path, clock=lambda: clock[0], wait_s=0.01)
    begun = threading.Event()
    wait = central.ingest.gate.wait

    def noted(timeout: float | None = None) -> bool:
        begun.set()
        return wait(timeout)

    central.ingest.gate.wait = noted  # type: ignore[method-assign]

    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE, offset=0)
            central.ingest.gate.clear()
            assert (await north.send("POST", f"{place}/finish")).status_code == 202
            assert await asyncio.to_thread(begun.wait, 30)
            clock[0] += 73 * 3600
            tidy(central, lambda: clock[0])
            # Whoever asks meanwhile is told to wait, and not to send it all again.
            assert (await north.send("POST", f"{place}/finish", created=clock[0])).status_code == 202
            central.ingest.gate.set()
            answer = await north.send("POST", f"{place}/finish", created=clock[0])
            while answer.status_code == 202:
                answer = await north.send("POST", f"{place}/finish", created=clock[0])
            assert answer.status_code == 200

    run(work)
    assert central.ingest.taken == [BUNDLE]
    central.registry.close()


def test_attack_pieces_for_a_share_in_work_hold_no_thread(tmp_path: Path) -> None:
    central = provider(tmp_path, wait_s=0.01)

    async def work() -> None:
        async with site(central.app) as north, site(central.app, "south") as south:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE, offset=0)
            central.ingest.gate.clear()
            while central.ingest.asked == 0:
                assert (await north.send("POST", f"{place}/finish")).status_code == 202
            pieces = [asyncio.create_task(north.send("PATCH", place, b"", offset=len(BUNDLE))) for _ in range(4)]
            assert {problem(answer) for answer in await asyncio.wait_for(asyncio.gather(*pieces), 20)} == {"offset"}
            assert (await asyncio.wait_for(south.begin(bundle(4_000, site="south")), 20)).status_code == 201
            central.ingest.gate.set()
            while (answer := await north.send("POST", f"{place}/finish")).status_code == 202:
                pass
            assert answer.status_code == 200

    run(work)
    central.registry.close()


def test_one_that_is_whole_and_in_nobodys_hands_ends_with_its_time(central: Provider) -> None:
    async def work() -> None:
        async with site(central.app) as north:
            place = (await north.begin(BUNDLE)).headers["location"]
            await north.send("PATCH", place, BUNDLE, offset=0)

    run(work)
    tidy(central, lambda: time.time() + 73 * 3600)
    assert states(central) == ["aborted"]
    assert not list(central.setup.uploads.iterdir())


def test_what_an_earlier_run_left_keeps_nothing_else_from_being_tidied(
    central: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_TIDY_S", 0.05)
    begun, go = threading.Event(), threading.Event()

    def resume() -> None:
        begun.set()
        go.wait(30)

    nothing = app.Work(central.ingest, lambda *_: b"", lambda *_: b"", resume, go.set)
    served = app.create_app(central.setup, nothing)

    async def work() -> None:
        asked: asyncio.Queue[Any] = asyncio.Queue()
        told: asyncio.Queue[Any] = asyncio.Queue()
        running = asyncio.ensure_future(served({"type": "lifespan", "asgi": {"version": "3.0"}}, asked.get, told.put))
        await asked.put({"type": "lifespan.startup"})
        await told.get()
        assert await asyncio.to_thread(begun.wait, 30)
        for name in ("first", "second"):
            left = central.setup.uploads / f"{name}.part"
            left.write_bytes(b"of a crash")
            for _ in range(400):
                await asyncio.sleep(0.05)
                if not left.exists():
                    break
            assert not left.exists()
        assert not go.is_set()
        await asked.put({"type": "lifespan.shutdown"})
        await told.get()
        await running

    run(work)
