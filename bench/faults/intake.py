"""What may be disturbed at the provider, and what must be true of it afterwards, whatever happened.

A scenario is a piece of work on a world that was made ready for it: a share that is accepted, set aside, refused, sealed
anew, in conflict with another, taken back, or waiting since a crash. After every disturbance a fresh process examines the
world as a person would: look, `ingest --resume`, look again, do the work again. Three things are counted:

- lost: the work was acknowledged, and now the provider says something else, or the payload is not there;
- unverified: a share counts that should not, or its payload has other bytes than the site signed;
- stuck: a share that is neither decided nor can be, an audit log that does not verify, or decrypted bytes and objects
  that nobody removes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from aggregator.enrolled import shares, sites
from aggregator.ingestion import ingest as intake
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.workspace import Workspace
from bench.exchange.world import RELEASE, Sentences, World, build, invented_terms
from bench.faults.interruptions import Outcome, run_undisturbed
from foundation.errors import DeidError, StorageError
from foundation.reading import file_sha256
from protocols.errors import ConflictError, ProtocolError
from protocols.share.sealing import read_manifest
from protocols.share.withdrawal import Withdrawal

Place = TypeVar("Place")
_CONFLICT = b"conflict"
_SENTENCES = Sentences(0, sentences=300)
_FLOODED = Sentences(7, sentences=2000, phi=1.0)


@dataclass(frozen=True)
class Scenario:
    """A piece of work.

    Args:
        name: of the folder with its world, and in the report.
        prepare: makes a world ready.
        work: is disturbed; returns what it acknowledges.
        state: of the share of north in the end.
    """

    name: str
    prepare: Callable[[World], object]
    work: Callable[[World], bytes]
    state: ShareState


@dataclass(frozen=True)
class Subject(Generic[Place]):
    """A piece of work that can be disturbed again and again.

    Args:
        name: in words.
        copied: a place that is ready for it, and vanishes at the end of the block.
        work: done there; returns what it acknowledges.
        examine: looks at a place after a disturbance.
    """

    name: str
    copied: Callable[[], AbstractContextManager[Place]]
    work: Callable[[Place], bytes]
    examine: Callable[[Place, Outcome], Damage]


@dataclass(frozen=True)
class Damage:
    """What is wrong after a disturbance; all 0 if nothing is."""

    lost: int = 0
    unverified: int = 0
    stuck: int = 0

    def __add__(self, other: Damage) -> Damage:
        return Damage(self.lost + other.lost, self.unverified + other.unverified, self.stuck + other.stuck)


def take_in(world: World) -> bytes:
    """Takes in the bundle that lies ready."""
    try:
        return intake.ingest(world.workspace(), world.root / "work.share").receipt
    except ConflictError:
        return _CONFLICT


def resume(world: World) -> bytes:
    """Finishes what waits, and says the receipts."""
    intake.resume(world.workspace())
    return take_in(world)


def withdraw(world: World) -> bytes:
    """Takes back the share that lies ready."""
    manifest = read_manifest(world.root / "north-1-0.parquet")
    asked = Withdrawal("north", 1, manifest.sha256, sites.today(), "a patient asked")
    return shares.carry_out(
        world.workspace(), asked.to_bytes(world.keys["north"]), partial(intake.process, world.workspace())
    )


def _ready(world: World, sentences: Sentences = _SENTENCES, suffix: str = ".parquet", **changes: object) -> None:
    payload = world.share("north", 1, sentences, suffix, **changes)
    world.seal(payload, "north", "work.share")


def _others(world: World) -> None:
    payload = world.share("south", 1, Sentences(3, sentences=300))
    intake.ingest(world.workspace(), world.seal(payload, "south"))


def _set_aside(world: World) -> None:
    _others(world)
    _ready(world, _FLOODED)


def _refused(world: World) -> None:
    _ready(world, release=RELEASE[::-1])


def _known(world: World) -> None:
    """The same manifest was accepted in another bundle."""
    _ready(world)
    take_in(world)
    world.seal(world.root / "north-1-0.parquet", "north", "work.share")


def _conflict(world: World) -> None:
    _ready(world)
    take_in(world)
    world.seal(world.share("north", 1, Sentences(9)), "north", "work.share")


def _waiting(world: World) -> None:
    _ready(world)
    intake.receive(world.workspace(), world.root / "work.share")


def _accepted(world: World) -> None:
    _ready(world)
    take_in(world)


SCENARIOS = (
    Scenario("accepted", _ready, take_in, ShareState.ACCEPTED),
    Scenario("accepted-hdf5", lambda world: _ready(world, suffix=".h5"), take_in, ShareState.ACCEPTED),
    Scenario("set-aside", _set_aside, take_in, ShareState.QUARANTINED),
    Scenario("refused", _refused, take_in, ShareState.REJECTED),
    Scenario("sealed-anew", _known, take_in, ShareState.ACCEPTED),
    Scenario("conflict", _conflict, take_in, ShareState.ACCEPTED),
    Scenario("resumed", _waiting, resume, ShareState.ACCEPTED),
    Scenario("withdrawn", _accepted, withdraw, ShareState.WITHDRAWN),
)


def subject(scenario: Scenario, folder: Path) -> Subject[World]:
    """A scenario with its world made ready below a folder."""
    template = build(folder / scenario.name)
    scenario.prepare(template)
    return subject_of(scenario, template, folder)


def subject_of(scenario: Scenario, template: World, folder: Path) -> Subject[World]:
    """A scenario with a world that is ready for it."""
    return Subject(
        scenario.name, partial(copy_world, template, folder), scenario.work, partial(examine_world, scenario)
    )


@contextmanager
def copy_world(template: World, folder: Path) -> Iterator[World]:
    """A world that may be disturbed."""
    root = folder / "disturbed"
    shutil.copytree(template.root, root)
    try:
        yield World(root)
    finally:
        shutil.rmtree(root)


def examine_world(scenario: Scenario, world: World, outcome: Outcome) -> Damage:
    """Examines a world after a disturbance, in a process of its own."""
    found = run_undisturbed(lambda: json.dumps(vars(_examined(scenario, world, outcome.said))).encode())
    if found.said is None:
        # Examining failed: whatever it was, a person could not go on either.
        return Damage(stuck=1)
    return Damage(**json.loads(found.said))


def _examined(scenario: Scenario, world: World, acknowledged: bytes | None) -> Damage:
    workspace = world.workspace()
    unverified = _unverified(scenario, world, workspace)
    try:
        with invented_terms(sandbox=False):
            intake.resume(workspace)
            unverified += _unverified(scenario, world, workspace)
            again = scenario.work(world)
            intake.resume(workspace)
        unverified += _unverified(scenario, world, workspace)
        lost = acknowledged is not None and acknowledged != again
        states = [share.state for share in shares.list_shares(workspace) if share.site == "north"]
        decided = states == [scenario.state]
    except DeidError:
        return Damage(lost=acknowledged is not None, unverified=unverified, stuck=1)
    return Damage(int(lost), unverified, int(not (decided and at_rest(workspace))))


def _unverified(scenario: Scenario, world: World, workspace: Workspace) -> int:
    """Shares that count and should not, or whose payload is not the one that its site made."""
    wrong = 0
    made = {file_sha256(path) for path in world.root.glob("*-[0-9]*.*") if path.suffix in (".parquet", ".h5")}
    for share in shares.accepted_shares(workspace):
        allowed = share.site == "south" or scenario.state in (ShareState.ACCEPTED, ShareState.WITHDRAWN)
        try:
            with workspace.objects().local(str(share.digest)) as path:
                wrong += not allowed or file_sha256(path) not in made
        except (ProtocolError, StorageError):
            wrong += 1
    return wrong


def at_rest(workspace: Workspace) -> bool:
    """Whether everything is decided, the log is sound, and nothing lies about."""
    found = shares.list_shares(workspace)
    with workspace.registry().reading() as session:
        audit_log.verify(session)
    kept = {share.digest for share in found if share.state in shares.KEPT}
    objects = {path.name for path in (workspace.root / "objects").rglob("*") if path.is_file() and path.name[0] != "."}
    staging = workspace.root / "staging"
    return (
        all(share.state != ShareState.RECEIVED for share in found)
        and objects == kept
        and not (staging.exists() and any(staging.iterdir()))
    )
