"""How requests wait for threads and for flushes to the disk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from aggregator.errors import DatabaseError
from aggregator.registry import Registry
from aggregator.server import app
from aggregator.server.waiting import Gathering, Turns
from tests.aggregator.server.service import AMPLE, bundle, provider, run, site


class Work:
    """Work that lasts a second of a clock that stands otherwise; the first piece holds its thread until it may end."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []
        self.held = threading.Event()
        self.turns = Turns(1, lambda: self.now)

    def __call__(self, who: str) -> str:
        self.held.wait(30)
        self.now += 1
        self.order.append(who)
        return who

    def ask(self, *names: str) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.turns.run(who, self, who)) for who in names]


def test_attack_who_asks_without_end_keeps_nobody_waiting_who_asks_seldom() -> None:
    work = Work()

    async def ask() -> None:
        many = work.ask(*["greedy"] * 20)
        await asyncio.sleep(0)
        few = work.ask("honest", "honest")
        await asyncio.sleep(0)
        work.held.set()
        assert await asyncio.gather(*few) == ["honest"] * 2
        await asyncio.gather(*many)

    run(ask)
    # One runs when it comes, and between two of its own the other has had as much.
    assert work.order[:4] in (["greedy", "honest", "greedy", "honest"], ["greedy", "honest", "honest", "greedy"])
    assert len(work.order) == 22


def test_what_came_to_something_is_forgiven() -> None:
    work = Work()
    work.held.set()

    async def ask() -> None:
        await asyncio.gather(*work.ask("north", "north", "north", "south"))
        work.turns.forgive("north")
        work.order.clear()
        await asyncio.gather(*work.ask("other", "south", "north"))

    run(ask)
    assert work.order == ["other", "north", "south"]


def test_what_was_used_long_ago_counts_no_more() -> None:
    work = Work()
    work.held.set()

    async def ask() -> None:
        await asyncio.gather(*work.ask(*["north"] * 9))
        work.now += 1_000
        await asyncio.gather(*work.ask("south"))
        work.order.clear()
        await asyncio.gather(*work.ask("other", "south", "north"))

    run(ask)
    assert work.order == ["other", "north", "south"]


@pytest.mark.parametrize("waiting", [True, False])
def test_who_gives_up_takes_no_turn_with_it(waiting: bool) -> None:
    work = Work()

    async def ask() -> None:
        first = work.ask("north")[0]
        if waiting:
            await asyncio.sleep(0.01)
            given_up = work.ask("south")[0]
            await asyncio.sleep(0)
        else:
            given_up = first
            await asyncio.sleep(0)
        given_up.cancel()
        work.held.set()
        assert await asyncio.wait_for(asyncio.gather(*work.ask("west")), 30) == ["west"]
        assert isinstance((await asyncio.gather(given_up, return_exceptions=True))[0], asyncio.CancelledError)

    run(ask)


def test_an_error_is_the_askers_and_its_turn_goes_on() -> None:
    turns = Turns(1)

    def fail() -> None:
        raise ZeroDivisionError

    async def ask() -> None:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await turns.run("north", fail)

    run(ask)


def test_all_who_wait_are_served_together_and_each_gets_its_own() -> None:
    calls, held = [], threading.Event()

    def double(asked: Sequence[int]) -> list[int]:
        calls.append(len(asked))
        held.wait(30)
        return [2 * one for one in asked]

    async def ask() -> None:
        gathering = Gathering(double)
        first = asyncio.create_task(gathering.ask(1))
        await asyncio.sleep(0.05)
        rest = [asyncio.create_task(gathering.ask(number)) for number in range(2, 12)]
        await asyncio.sleep(0)
        rest[0].cancel()
        held.set()
        assert await first == 2
        assert await asyncio.gather(*rest[1:]) == [2 * number for number in range(3, 12)]
        assert await gathering.ask(50) == 100

    run(ask)
    assert calls == [1, 10, 1]


def test_a_failure_is_told_to_all_who_wait_and_the_next_begins_afresh() -> None:
    answers = iter([OSError(), None])

    def work(asked: Sequence[int]) -> Sequence[int]:
        error = next(answers)
        if error:
            raise error
        return asked

    async def ask() -> None:
        gathering = Gathering(work)
        found = await asyncio.gather(*(gathering.ask(number) for number in range(3)), return_exceptions=True)
        assert [type(one) for one in found] == [OSError] * 3
        assert await gathering.ask(7) == 7

    run(ask)


def test_withdrawals_that_take_long_keep_nobody_from_anything_else(tmp_path: Path) -> None:
    """As where each deletes in a store that does not answer."""
    central, go = provider(tmp_path), threading.Event()

    def slow(site: str, message: bytes) -> bytes:
        go.wait(30)
        return b"{}"

    served = app.create_app(central.setup, app.Work(central.ingest, slow, slow))

    async def ask() -> None:
        async with site(served) as north, site(served, "south") as south:
            changes = [
                asyncio.create_task(north.send("POST", f"/v1/{kind}", b"{}"))
                for kind in ("withdrawals", "rotations")
                for _ in range(5)
            ]
            # They have come as far as they can when somebody else has been answered twice.
            for number in (1, 2):
                sent = south.upload(bundle(4_000, number, site="south"))
                assert (await asyncio.wait_for(sent, 20)).status_code == 200
            assert (await asyncio.wait_for(south.client.get("/healthz"), 20)).status_code == 200
            assert not any(change.done() for change in changes)
            go.set()
            assert {answer.status_code for answer in await asyncio.gather(*changes)} == {200}

    run(ask)
    central.registry.close()


def test_attack_health_checks_of_a_silent_database_keep_no_release_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody signs them, and each would hold a thread for as long as the database is silent: one look is for all."""
    central, go, looks = provider(tmp_path, AMPLE), threading.Event(), 0
    (central.setup.releases / "metadata" / "timestamp.json").write_bytes(b"{}")
    reading = Registry.reading

    @contextmanager
    def silent(self: Registry) -> Iterator[Session]:
        nonlocal looks
        looks += 1
        go.wait(30)
        with reading(self) as session:
            yield session

    monkeypatch.setattr(Registry, "reading", silent)

    async def ask() -> None:
        async with site(central.app) as north:
            # As many threads as are there for work of all kinds, and more.
            checks = [asyncio.create_task(north.client.get("/healthz")) for _ in range(40)]
            await asyncio.sleep(0.2)
            pulled = await asyncio.wait_for(north.client.get("/releases/metadata/timestamp.json"), 10)
            assert pulled.status_code == 200
            assert not any(check.done() for check in checks)
            go.set()
            answers = await asyncio.gather(*checks)
            assert {(answer.status_code, answer.content) for answer in answers} == {(200, b'{"healthy":true}')}

    run(ask)
    # Who asks while one is looking is answered by a look that began afterwards.
    assert looks <= 2
    central.registry.close()


def test_a_database_that_is_gone_is_told_to_every_health_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    central = provider(tmp_path, AMPLE)

    def gone(self: Registry) -> None:
        raise DatabaseError("expected the database, got no answer")

    monkeypatch.setattr(Registry, "reading", gone)

    async def ask() -> None:
        async with site(central.app) as north:
            answers = await asyncio.gather(*(north.client.get("/healthz") for _ in range(3)))
            assert all(answer.status_code >= 500 for answer in answers)
            monkeypatch.undo()
            assert (await north.client.get("/healthz")).status_code == 200

    run(ask)
    central.registry.close()
