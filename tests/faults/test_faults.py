"""A few points of every kind of fault; `make faults` tries them all."""

from __future__ import annotations

import datetime
import errno
import time
from pathlib import Path

import pytest

from aggregator.registry.times import now
from bench.exchange.postgres import PostgresMissingError
from bench.exchange.world import World, build, invented_terms
from bench.faults import run as faults
from bench.faults.intake import SCENARIOS, Damage, examine_world
from bench.faults.interruptions import Outcome, clock_off, disturb_after, fail_at, kill_after, kill_at, run_undisturbed
from bench.faults.run import QUICK, entries, run

pytestmark = pytest.mark.usefixtures("flushed")


def test_nothing_is_lost_used_unverified_or_stuck(tmp_path: Path) -> None:
    tallies = run(tmp_path, QUICK)
    assert {tally.name: tally.damage for tally in tallies if tally.damage != Damage()} == {}
    assert all(tally.tried for tally in tallies)
    assert [entry.value for entry in entries(tallies)][:3] == [0, 0, 0]


def test_without_postgresql_a_line_says_what_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise PostgresMissingError("not installed")

    monkeypatch.setattr(faults, "run_postgres", missing)
    monkeypatch.setattr(faults, "_kinds", lambda folder, extent: [])
    monkeypatch.setattr(faults, "_kinds_over_https", lambda folder, extent, server=None: [("kill -9 over HTTPS", [])])
    lines: list[str] = []
    assert [tally.name for tally in run(tmp_path, QUICK, lines.append)] == ["kill -9 over HTTPS"]
    assert "left out" in lines[0]
    assert "not installed" in lines[0]


class TestTheInstruments:
    """What can't see damage would find none."""

    def test_a_kill_ends_the_work_where_it_is(self, tmp_path: Path) -> None:
        def work() -> bytes:
            for name in "abc":
                (tmp_path / name).write_bytes(b"x")
            return b"done"

        whole = run_undisturbed(work)
        assert (whole.said, whole.killed, whole.error) == (b"done", False, "")
        points = kill_at(work, 0).points
        assert points > 12
        found = set()
        for point in range(1, points + 1):
            for name in "abc":
                (tmp_path / name).unlink(missing_ok=True)
            outcome = kill_at(work, point)
            assert outcome.killed
            found.add((len(list(tmp_path.iterdir())), outcome.said))
        assert {(0, None), (1, None), (2, None), (3, None), (3, b"done")} == found

    def test_an_error_is_raised_once_at_its_call(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        outcome = fail_at(lambda: str(path.write_bytes(b"x")).encode(), 1, errno.ENOSPC)
        assert (outcome.said, outcome.killed, outcome.error) == (None, False, "OSError")
        assert fail_at(lambda: str(path.write_bytes(b"x")).encode(), 100, errno.ENOSPC).said == b"1"

    def test_what_counts_the_points_of_kills_counts_those_of_errors_too(self, tmp_path: Path) -> None:
        def work() -> bytes:
            (tmp_path / "file").write_bytes(b"x")
            return (tmp_path / "file").read_bytes()

        points = fail_at(work, 0, errno.EIO).points
        assert kill_at(work, 0).writes == points > 1

    def test_time_runs_out_within_a_call_too(self) -> None:
        assert kill_after(lambda: bytes(time.sleep(60) or 0), 0.01).killed

    def test_what_work_stands_on_is_disturbed_while_it_runs(self, tmp_path: Path) -> None:
        def work() -> bytes:
            while not (tmp_path / "disturbed").exists():
                time.sleep(0.001)
            return b"done"

        outcome = disturb_after(work, 0.01, (tmp_path / "disturbed").touch)
        assert (outcome.said, outcome.killed, outcome.error) == (b"done", False, "")

    def test_a_clock_is_off_for_the_work_alone(self) -> None:
        def work() -> bytes:
            return (
                f"{datetime.date.today()} {datetime.datetime.now(datetime.UTC).year} {now()[:4]} {time.time()}".encode()
            )

        said = clock_off(work, 366 * 86_400).said
        assert said is not None
        day, *years, seconds = said.decode().split()
        ahead = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=366)
        assert abs(datetime.date.fromisoformat(day) - ahead.date()) <= datetime.timedelta(days=1)
        assert {*years} <= {str(ahead.year), str((ahead - datetime.timedelta(days=1)).year)}
        assert 360 * 86_400 < float(seconds) - time.time() < 370 * 86_400

    @pytest.fixture
    def accepted(self, tmp_path: Path) -> World:
        world = build(tmp_path / "world")
        with invented_terms(sandbox=False):
            SCENARIOS[0].prepare(world)
            SCENARIOS[0].work(world)
        return world

    def examined(self, world: World, said: bytes | None) -> Damage:
        with invented_terms(sandbox=False):
            return examine_world(SCENARIOS[0], world, Outcome(said, killed=True, error="", points=0))

    def test_a_world_at_rest_is_undamaged(self, accepted: World) -> None:
        assert self.examined(accepted, None) == Damage()

    def test_another_receipt_is_a_loss(self, accepted: World) -> None:
        assert self.examined(accepted, b"another").lost == 1

    def test_a_payload_that_is_gone_or_changed_is_seen(self, accepted: World) -> None:
        [payload] = [path for path in (accepted.provider / "objects").rglob("*") if path.is_file()]
        payload.write_bytes(b"others")
        assert self.examined(accepted, None).unverified

    def test_what_lies_about_is_seen(self, accepted: World) -> None:
        (accepted.provider / "objects" / "00").mkdir(exist_ok=True)
        (accepted.provider / "objects" / "00" / ("0" * 64)).write_bytes(b"x")
        assert self.examined(accepted, None).stuck == 1

    def test_a_share_that_counts_and_should_not_is_seen(self, tmp_path: Path) -> None:
        world = build(tmp_path / "world")
        with invented_terms(sandbox=False):
            SCENARIOS[0].prepare(world)
            SCENARIOS[0].work(world)
            refused = next(scenario for scenario in SCENARIOS if scenario.name == "refused")
            assert examine_world(refused, world, Outcome(None, killed=True, error="", points=0)).unverified
