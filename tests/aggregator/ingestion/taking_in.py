"""Worlds for the tests of the intake, and what must be true of a provider after anything at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregator.enrolled import shares
from aggregator.ingestion.ingest import Decision
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.workspace import Workspace
from bench.exchange.world import Sentences, World, invented_terms
from protocols.keys.recipient import RecipientPrivateKey
from protocols.share.bundle import seal_bundle
from protocols.share.receipt import read_receipt
from tests.aggregator.copied import new_world
from tests.databases import Database


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    return new_world(tmp_path / "world", database)


@pytest.fixture
def small(tmp_path: Path) -> World:
    """The same on SQLite alone, for what the database has no part in."""
    return new_world(tmp_path / "world")


@pytest.fixture
def quick() -> Iterator[None]:
    """Terms of an invented release, and the payload checked in this process: the child has tests of its own below."""
    with invented_terms(sandbox=False):
        yield


def rows(workspace: Workspace) -> list[tuple[str, int, str, str]]:
    return [(one.site, one.sequence, one.state, one.reason_code) for one in shares.list_shares(workspace)]


def receipt_agrees(workspace: Workspace, decision: Decision) -> None:
    """The receipt is signed, says what the registry says, and its event stands in a sound log."""
    receipt = read_receipt(decision.receipt, workspace.key().public_key)
    [share] = [one for one in shares.list_shares(workspace) if one.id == decision.share]
    assert (receipt.site, receipt.sequence, receipt.state.value) == (share.site, share.sequence, share.state.value)
    code = "set-aside" if share.state == ShareState.QUARANTINED else share.reason_code
    assert (receipt.reason_code, receipt.manifest_sha256) == (code, share.manifest or "")
    with workspace.registry().reading() as session:
        assert audit_log.verify(session, known=[receipt.log_head]) > 0
        [event] = [event for event in audit_log.events(session) if event.hash == receipt.log_head]
    details = json.loads(event.details)
    assert (event.action, details["site"], details["sequence"]) == (f"share-{share.state}", share.site, share.sequence)


def nothing_left(workspace: Workspace) -> None:
    """The store holds the payloads of the shares that count or wait for a person, and nothing else; staging is empty."""
    kept = {share.digest for share in shares.list_shares(workspace, (ShareState.ACCEPTED, ShareState.QUARANTINED))}
    kept |= {share.bundle for share in shares.list_shares(workspace, (ShareState.RECEIVED,))}
    objects = workspace.root / "objects"
    assert {path.name for path in objects.rglob("*") if path.is_file()} == kept
    staging = workspace.root / "staging"
    assert not staging.exists() or not list(staging.iterdir())


def flooded(sentences: int = 2000) -> Sentences:
    """Everything is PHI."""
    return Sentences(7, sentences=sentences, phi=1.0)


def unreadable(world: World) -> Path:
    """A bundle encrypted to a key that nobody has, its header signed as if it were for the provider."""
    bundle = world.bundle(seed=9)
    other = RecipientPrivateKey.generate()
    workspace = world.workspace()
    true = workspace.recipient().public_key

    class Deceiving(type(true)):  # type: ignore[misc]
        key_id = true.key_id

    deceiving = Deceiving(**vars(other.public_key))
    seal_bundle(world.root / "north-1-9.parquet", bundle, key=world.keys["north"], recipient=deceiving)
    return bundle
