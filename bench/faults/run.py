"""`python -m bench.faults [--quick] [--record]`: what can go wrong on the way of a share goes wrong, everywhere; prints counts.

Kills at calls into the system (see `bench.faults.interruptions`) and at random times, errors of the disk at every write, a
disk that is really full, clocks that are wrong, a database that goes, cuts and flipped bytes, and eight processes that take in one bundle. The
payload is checked in the process itself, but for kills that meet its child: what a child does is for
tests/aggregator/sandbox/test_sandbox.py.

The same kills with the registry on a real PostgreSQL, which stops, crashes and ends its connections besides; and uploads to
a real server over TLS on both databases, where the hospital, the server and its ingest are killed, and lines are cut. Where
the programs of PostgreSQL are not installed, a line says so, and its kinds are left out.

--quick takes a few points of each kind; --record writes the counts into docs/results/trust.json.
"""

from __future__ import annotations

import errno
import json
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.exchange.postgres import Postgres, PostgresMissingError, run_postgres
from bench.exchange.world import World, build, invented_terms
from bench.faults import flipped_bytes as faults_bytes
from bench.faults import intake as faults_intake
from bench.faults import on_postgres, over_https
from bench.faults import submit as faults_submit
from bench.faults.intake import SCENARIOS, Damage, Subject
from bench.faults.interruptions import (
    Outcome,
    Work,
    clock_off,
    disturb_after,
    fail_at,
    kill_after,
    kill_at,
    moments,
    run_undisturbed,
)
from bench.faults.over_https import Submission
from bench.results import Entry, record

_COMMAND = "make faults"
_FILE_BYTES = range(0, 320_000, 4000)
# Ahead and behind, from five minutes to a year.
_CLOCKS_S = tuple(sign * days * 86_400 for days in (5 / 1440, 1 / 24, 1, 30, 365) for sign in (1, -1))
# Of the bytes in which it comes, at the end of an upload.
_WITHIN_RECEIPT = 400
Disturbance = Callable[[Work], Outcome]
# With the seconds that it took.
Measured = tuple[Outcome, float]
_COUNTING: Disturbance = partial(kill_at, point=0)


@dataclass(frozen=True)
class Extent:
    """How much is tried.

    Args:
        calls: a kill at one of so many of the calls into the system; each takes half a second of processor time.
        writes: an error at one of so many of the calls that write.
        clocks: one of so many of the clocks that are off.
        bytes: one of so many bytes.
        random: kills at random times, of each piece of work.
        rounds: of eight processes at once.
        serving: faults of each kind of an upload to a server, and of a PostgreSQL.
        kinds: one of so many kinds of faults of an upload and of a PostgreSQL, and of scenarios on it.
    """

    calls: int = 8
    writes: int = 1
    clocks: int = 1
    bytes: int = 1
    random: int = 30
    rounds: int = 10
    serving: int = 8
    kinds: int = 1


QUICK = Extent(calls=1500, writes=500, clocks=9, bytes=900, random=1, rounds=1, serving=1, kinds=8)


@dataclass
class Tally:
    """A kind of fault.

    Args:
        name: in words.
        tried: how many.
        damage: of all of them.
    """

    name: str
    tried: int = 0
    damage: Damage = field(default_factory=Damage)

    def __str__(self) -> str:
        found = self.damage
        return f"{self.name:62} {self.tried:6} tried: {found.lost} lost, {found.unverified} unverified, {found.stuck} stuck"


def run(folder: Path, extent: Extent, say: Callable[[str], None] = lambda line: None) -> list[Tally]:
    """Tries everything.

    Args:
        folder: for worlds.
        extent: how much.
        say: takes a line for each kind.
    """
    tallies = []
    with invented_terms(sandbox=False):
        for name, faults in chain(_kinds(folder, extent), _kinds_of_servers(folder, extent, say)):
            tally, began = Tally(name), time.monotonic()
            for damage in faults:
                tally.tried += 1
                tally.damage += damage
            say(f"{tally} ({time.monotonic() - began:.0f} s)")
            tallies.append(tally)
    return tallies


def _kinds(folder: Path, extent: Extent) -> Iterator[tuple[str, Iterable[Damage]]]:
    subjects = [faults_intake.subject(scenario, folder) for scenario in SCENARIOS]
    every: list[Subject[Any]] = [*subjects, faults_submit.subject(folder)]
    for subject in every:
        measured = cache(partial(_measured, subject))
        yield f"kill -9: {subject.name}", _all(subject, _kills(measured, extent))
        yield f"disk full, I/O errors: {subject.name}", _all(subject, _failures(measured, extent))
        clocks = _CLOCKS_S[:: extent.clocks]
        yield f"clock off: {subject.name}", _all(subject, (partial(clock_off, seconds=by) for by in clocks))
    accepted = subjects[0]
    yield "kill -9 while the child checks the payload", _kills_with_child(accepted, extent)
    sizes = _FILE_BYTES[:: -(-extent.calls // 10)]
    yield "disk full for the kernel", _all(accepted, (partial(_on_full_disk, max_bytes=size) for size in sizes))
    yield "database gone and back", _database_gone(accepted, extent)
    yield "bundle cut at and beside the edges of its chunks", faults_bytes.cuts(build(folder / "cut"))
    yield "a byte of the header flipped", faults_bytes.flips_outside(build(folder / "outside"), extent.bytes)
    yield "a byte of the manifest flipped", faults_bytes.flips_inside(build(folder / "inside"), extent.bytes)
    yield "eight processes with one bundle", _at_once(accepted, extent.rounds)


def _kinds_of_servers(
    folder: Path, extent: Extent, say: Callable[[str], None]
) -> Iterator[tuple[str, Iterable[Damage]]]:
    """On PostgreSQL and over HTTPS; where not all kinds are tried, over HTTPS on one database."""
    try:
        with run_postgres() as server:
            yield from _kinds_on_postgres(folder, extent, server)
            yield from _kinds_over_https(folder / "postgresql", extent, server)
            if extent.kinds > 1:
                return
    except PostgresMissingError as error:
        say(f"left out, all that needs PostgreSQL: {error}")
    yield from _kinds_over_https(folder / "sqlite", extent)


def _kinds_on_postgres(folder: Path, extent: Extent, server: Postgres) -> Iterator[tuple[str, Iterable[Damage]]]:
    fewer = replace(extent, calls=4 * extent.calls, random=-(-extent.random // 3))
    subjects = [on_postgres.subject(scenario, folder, server) for scenario in SCENARIOS[:: extent.kinds]]
    for subject in subjects:
        yield f"kill -9: {subject.name}", _all(subject, _kills(partial(_measured, subject), fewer))
    for what, disturb in list(_disturbances_of(server).items())[:: extent.kinds]:
        yield f"{what}: {subjects[0].name}", _beside(subjects[0], disturb, extent.serving)


def _disturbances_of(server: Postgres) -> dict[str, Callable[[], object]]:
    return {
        "database stopped and started": server.restart,
        "database crashes": server.kill,
        "connections of the database ended": server.end_connections,
    }


def _kinds_over_https(
    folder: Path, extent: Extent, server: Postgres | None = None
) -> Iterator[tuple[str, Iterable[Damage]]]:
    database = None if server is None else server.copy_database("exchange")
    with over_https.run_exchange(folder, database) as exchange:
        subject = exchange.subject("upload over HTTPS" + (", on PostgreSQL" if server else ""))
        # The first upload also starts what takes shares in.
        sent, answered = _passed(subject)
        kinds = {
            "line cut": _cut(subject, sent, answered, extent.serving),
            "answer lost": _cut(subject, sent, answered, extent.serving, within_receipt=True),
            "kill -9": _kills_of_client(subject, extent),
        }
        disturbs = {"kill -9 of the server": exchange.restart, "kill -9 of the ingest": exchange.kill_ingest}
        for what, disturb in (disturbs | (_disturbances_of(server) if server else {})).items():
            kinds[what] = _beside(subject, disturb, extent.serving)
        for what in list(kinds)[:: extent.kinds]:
            yield f"{what}: {subject.name}", kinds[what]


def _passed(subject: Subject[Submission]) -> list[int]:
    """How many bytes an upload sends and gets."""
    with subject.copied() as place:
        counted: list[int] = json.loads(run_undisturbed(partial(over_https.count_bytes, place)).said or b"[]")
        return counted


def _kills_of_client(subject: Subject[Submission], extent: Extent) -> Iterator[Damage]:
    """As many at calls, spread over all of them, as at random times."""
    outcome, seconds = _measured(subject)
    spread = replace(extent, calls=-(-outcome.points // extent.serving), random=extent.serving)
    yield from _all(subject, _kills(lambda: (outcome, seconds), spread))


def _beside(subject: Subject[Any], disturb: Callable[[], object], times: int) -> Iterator[Damage]:
    """At random times of the work something is done to what it stands on."""
    _, seconds = _measured(subject, run_undisturbed)
    when = moments(seconds, times, seed=times)
    yield from _all(subject, (partial(disturb_after, seconds=at, disturb=disturb) for at in when))


def _cut(
    subject: Subject[Submission], sent: int, answered: int, times: int, *, within_receipt: bool = False
) -> Iterator[Damage]:
    """Three lines of each upload are cut at random bytes, of the third the answers; or one within the receipt, when all is decided."""
    chance = random.Random(sent)
    for _ in range(times):
        cuts = [chance.randrange(sent), chance.randrange(sent)]
        answer_cuts = [answered, answered, chance.randrange(answered)]
        if within_receipt:
            cuts, answer_cuts = [], [answered - chance.randrange(1, _WITHIN_RECEIPT)]
        work = partial(over_https.submit_with_cuts, cuts=cuts, answer_cuts=answer_cuts)
        yield from _all(replace(subject, work=work), (run_undisturbed,))


def _all(subject: Subject[Any], disturbances: Iterable[Disturbance]) -> Iterator[Damage]:
    """Each disturbance in a copy of the world of its own."""
    for disturbance in disturbances:
        with subject.copied() as world:
            outcome = disturbance(partial(subject.work, world))
            yield subject.examine(world, outcome)


def _measured(subject: Subject[Any], disturbance: Disturbance = _COUNTING) -> Measured:
    """How a piece of work ends under a disturbance, and how long it takes; if nothing else is asked, how many points it has."""
    with subject.copied() as world:
        began = time.monotonic()
        return disturbance(partial(subject.work, world)), time.monotonic() - began


def _spread(points: int, every: int) -> range:
    """One of every so many points, from the middle of the first: with few of them none is wasted on the first call."""
    return range((min(points, every) + 1) // 2, points + 1, every)


def _kills(measured: Callable[[], Measured], extent: Extent) -> Iterator[Disturbance]:
    """At every point, and at random times; counting takes as long as several kills, so it is asked for when it is needed."""
    outcome, seconds = measured()
    for point in _spread(outcome.points, extent.calls):
        yield partial(kill_at, point=point)
    for moment in moments(seconds, extent.random, seed=outcome.points):
        yield partial(kill_after, seconds=moment)


def _failures(measured: Callable[[], Measured], extent: Extent) -> Iterator[Disturbance]:
    """A full disk and a failing one, at every call that writes."""
    outcome, _ = measured()
    for point in _spread(outcome.writes, extent.writes):
        for number in (errno.ENOSPC, errno.EIO):
            yield partial(fail_at, point=point, number=number)


def _kills_with_child(subject: Subject[Any], extent: Extent) -> Iterator[Damage]:
    with invented_terms():
        _, seconds = _measured(subject, run_undisturbed)
        yield from _all(subject, (partial(kill_after, seconds=at) for at in moments(seconds, extent.random, seed=1)))


def _on_full_disk(work: Work, max_bytes: int) -> Outcome:
    """No file of the process can grow beyond a size: the kernel refuses the write, whoever makes it."""

    def limited() -> bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, resource.RLIM_INFINITY))
        return work()

    return run_undisturbed(limited)


def _database_gone(subject: Subject[World], extent: Extent) -> Iterator[Damage]:
    """The file of the database is moved away at a random moment of the work, and back afterwards."""
    _, seconds = _measured(subject, run_undisturbed)
    for moment in moments(seconds, 3 * extent.random, seed=2):

        def work(world: World, moment: float = moment) -> bytes:
            path, away = _paths(world)
            timer = threading.Timer(moment, path.rename, (away,))
            timer.start()
            try:
                return subject.work(world)
            finally:
                timer.cancel()
                timer.join()

        yield from _all(replace(subject, work=work, examine=partial(_back, subject)), (run_undisturbed,))


def _back(subject: Subject[World], world: World, outcome: Outcome) -> Damage:
    path, away = _paths(world)
    with suppress(FileNotFoundError):
        away.rename(path)
    return subject.examine(world, outcome)


def _paths(world: World) -> tuple[Path, Path]:
    path = world.provider / "registry.sqlite"
    return path, path.with_name("away")


def _at_once(subject: Subject[World], rounds: int) -> Iterator[Damage]:
    for _ in range(rounds):
        with subject.copied() as world, ProcessPoolExecutor(8, mp_context=get_context("fork")) as workers:
            said = set(workers.map(_take_in, [world.root] * 8))
            # All eight must hear the same.
            damage = subject.examine(world, Outcome(min(said), killed=False, error="", points=0))
            yield damage + Damage(lost=len(said) - 1)


def _take_in(root: Path) -> bytes:
    """In a process of its own, to which no key can be sent."""
    return faults_intake.take_in(World(root))


def entries(tallies: list[Tally]) -> list[Entry]:
    """What the issue asks for."""
    tried = sum(tally.tried for tally in tallies)
    kills = sum(tally.tried for tally in tallies if tally.name.startswith("kill -9"))
    damage = sum((tally.damage for tally in tallies), Damage())
    far = sum(tally.tried for tally in tallies if "over HTTPS" in tally.name or "on PostgreSQL" in tally.name)
    note = "; ".join(f"{tally.name}: {tally.tried}" for tally in tallies)

    def entry(measure: str, value: int, unit: str, note: str, target: int = 0, direction: str = "<=") -> Entry:
        return Entry(f"faults: {measure}", value, target, direction, unit, None, 1, "invented shares", _COMMAND, note)

    return [
        entry("acknowledged shares lost", damage.lost, "shares", f"of {tried} faults: {note}"),
        entry("unverified shares used", damage.unverified, "shares", f"of {tried} faults"),
        entry("stuck states", damage.stuck, "states", f"of {tried} faults"),
        entry(
            "kill -9 points of ingest and submit",
            kills,
            "points",
            "at calls into the system, in order, and at random times",
            1000,
            ">=",
        ),
        entry("of these over HTTPS or on PostgreSQL", far, "faults", "each examined as all others", 100, ">="),
    ]


def main(arguments: list[str]) -> int:
    """Tries, prints, and with --record writes; returns 1 where there is damage."""
    if not set(arguments) <= {"--quick", "--record"}:
        print("usage: python -m bench.faults [--quick] [--record]", file=sys.stderr)
        return 2
    extent = QUICK if "--quick" in arguments else Extent()
    with tempfile.TemporaryDirectory() as folder:
        tallies = run(Path(folder), extent, lambda line: print(line, flush=True))
    found = entries(tallies)
    for entry in found:
        print(f"{entry.measure}: {entry.value:g}")
    if "--record" in arguments:
        record("trust", found)
    return int(any(entry.value for entry in found[:3]))
