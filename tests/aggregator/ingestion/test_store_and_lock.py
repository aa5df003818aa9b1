"""The store of objects is asked while no transaction waits for its answer; and what a share needs stays there all the same."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from aggregator.enrolled import shares
from aggregator.ingestion import ingest
from aggregator.objects import FolderStore
from aggregator.registry.states import ShareState
from bench.exchange.world import Sentences, World
from tests.aggregator.ingestion.taking_in import nothing_left
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def asked(small: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the store, after a look whether everybody else can still write into the registry."""
    asked: list[str] = []

    def watch(name: str) -> None:
        true = getattr(FolderStore, name)

        def watched(store: FolderStore, *given: Any) -> Any:
            asked.append(name)
            other = sqlite3.connect(small.provider / "registry.sqlite", timeout=0, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
            other.close()
            return true(store, *given)

        monkeypatch.setattr(FolderStore, name, watched)

    for name in ("put", "exists", "delete", "digests", "_copy"):
        watch(name)
    return asked


def test_a_store_that_does_not_answer_keeps_nobody_from_the_registry(small: World, asked: list[str]) -> None:
    workspace = small.workspace()
    assert ingest.ingest(workspace, small.bundle("north")).state == ShareState.ACCEPTED
    ingest.receive(workspace, small.bundle("south", seed=1))
    [waiting] = shares.list_shares(workspace, (ShareState.RECEIVED,))
    shares.reject(workspace, waiting, "A. Weiss", "given up")
    [share] = shares.accepted_shares(workspace)
    shares.withdraw(workspace, share, "A. Weiss", "asked")
    ingest.resume(workspace)
    assert {"put", "delete", "digests", "_copy"} <= set(asked)
    nothing_left(workspace)


def test_a_payload_that_a_share_comes_to_need_stays_while_another_gives_it_up(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = small.workspace()
    payload = small.share("north", 1, Sentences())
    ingest.ingest(workspace, small.seal(payload, "north", "first.share"))
    [first] = shares.accepted_shares(workspace)
    number = ingest.receive(workspace, small.seal(small.share("north", 2, Sentences()), "north", "second.share"))
    assert first.digest is not None
    withdrawing = threading.Thread(
        target=lambda: shares.withdraw(small.workspace(), first, "A. Weiss", "asked"), daemon=True
    )
    true = FolderStore.put

    def put(store: FolderStore, path: Path, sha256: str) -> None:
        true(store, path, sha256)
        if sha256 == first.digest:
            # Between the putting and the verdict the first share lets go of the payload.
            withdrawing.start()
            until(lambda: bool(shares.list_shares(small.workspace(), (ShareState.WITHDRAWN,))))
            withdrawing.join(0.5)

    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "put", put)
        decision = ingest.process(workspace, number)
    withdrawing.join(30)
    assert decision.state == ShareState.ACCEPTED
    assert workspace.objects().exists(first.digest)
    nothing_left(workspace)


def test_a_bundle_that_comes_again_stays_while_it_is_given_up(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, bundle = small.workspace(), small.bundle()
    ingest.receive(workspace, bundle)
    [share] = shares.list_shares(workspace)
    rejecting = threading.Thread(
        target=lambda: shares.reject(small.workspace(), share, "A. Weiss", "given up"), daemon=True
    )
    true = FolderStore.put

    def put(store: FolderStore, path: Path, sha256: str) -> None:
        true(store, path, sha256)
        rejecting.start()
        until(lambda: bool(shares.list_shares(small.workspace(), (ShareState.REJECTED,))))
        rejecting.join(0.5)

    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "put", put)
        ingest.receive(small.workspace(), bundle)
    rejecting.join(30)
    nothing_left(workspace)
