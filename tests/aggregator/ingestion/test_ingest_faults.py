"""Crashes, errors of the disk and of the database, and many at once: nothing is lost, used unverified, or stuck."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from aggregator.enrolled import shares, sites
from aggregator.errors import DatabaseError, WorkspaceError
from aggregator.ingestion import ingest
from aggregator.ingestion.ingest import Decision
from aggregator.ingestion.opening import OpenedShare, open_received
from aggregator.ingestion.overlap import Compared
from aggregator.ingestion.verdict import decide
from aggregator.objects.staging import opening_folder, sweep
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow
from aggregator.registry.times import now
from aggregator.workspace import Workspace
from bench.exchange.world import World, invented_terms
from foundation.errors import StorageError
from tests.aggregator.copied import new_world
from tests.aggregator.ingestion.taking_in import nothing_left, rows
from tests.databases import Database, Postgres

pytestmark = pytest.mark.usefixtures("quick")


class TestResume:
    def test_before_anything_is_published_a_share_waits(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace = world.workspace()

        def unpublished(workspace: Workspace) -> None:
            raise WorkspaceError("no representer is published yet")

        with monkeypatch.context() as patch:
            patch.setattr(ingest, "share_terms", unpublished)
            with pytest.raises(WorkspaceError):
                ingest.ingest(workspace, world.bundle())
        assert rows(workspace) == [("north", 1, ShareState.RECEIVED, "")]
        assert [decision.state for decision in ingest.resume(world.workspace())] == [ShareState.ACCEPTED]
        assert ingest.resume(workspace) == []

    def test_one_share_that_can_not_be_processed_does_not_hold_up_the_others(self, world: World) -> None:
        workspace = world.workspace()
        ingest.receive(workspace, world.bundle("north"))
        lost, bundle = shares.list_shares(workspace)[0], world.root / "north-1-0.share"
        ingest.receive(workspace, world.bundle("south", seed=1))
        workspace.objects().delete(lost.bundle)
        with pytest.raises(
            StorageError, match=r"share 1 of north, objects: expected .* received none; .* give it up"
        ) as told:
            ingest.resume(workspace)
        assert f"aggregator shares reject {lost.bundle[:12]} " in str(told.value)
        assert rows(workspace) == [("north", 1, ShareState.RECEIVED, ""), ("south", 1, ShareState.ACCEPTED, "")]
        # Sent again, its bytes are there again.
        assert ingest.ingest(workspace, bundle).state == ShareState.ACCEPTED
        nothing_left(workspace)

    def test_a_fault_of_the_program_is_told_by_its_kind_and_share_and_holds_up_no_other(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = small.workspace()
        ingest.receive(workspace, small.bundle("north"))
        ingest.receive(workspace, small.bundle("south", seed=1))

        def faulty(
            session: Session, workspace: Workspace, row: ShareRow, opened: OpenedShare, compared: Compared | None
        ) -> None:
            if row.site == "north":
                raise ValueError("what a note says")
            decide(session, workspace, row, opened, compared)

        monkeypatch.setattr(ingest, "decide", faulty)
        decisions, [error] = ingest.finish(workspace)
        assert [one.site for one in decisions] == ["south"]
        assert "share 1 of north: expected " in str(error)
        assert "ValueError" in str(error)
        assert "note" not in str(error)
        assert error.exit_code == 1

    def test_a_share_that_is_given_up_while_it_is_looked_at_leaves_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = world.workspace()
        number = ingest.receive(workspace, world.bundle())

        def late(*arguments: Any) -> Any:
            [share] = shares.list_shares(workspace)
            shares.reject(workspace, share, "A. Weiss", "too slow")
            return open_received(*arguments)

        monkeypatch.setattr(ingest, "open_received", late)
        assert ingest.process(workspace, number).state == ShareState.REJECTED
        nothing_left(workspace)

    def test_what_lies_about_in_staging_does_not_hold_up_shares(self, small: World) -> None:
        workspace = small.workspace()
        ingest.receive(workspace, small.bundle())
        staging = workspace.root / "staging"
        staging.mkdir(exist_ok=True)
        (staging / "note").write_text("left here by a person")
        assert [decision.state for decision in ingest.resume(workspace)] == [ShareState.ACCEPTED]

    def test_what_can_not_be_cleaned_up_does_not_hold_up_shares_either(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = small.workspace()
        ingest.receive(workspace, small.bundle())

        def failing(staging: Path) -> int:
            raise StorageError("a folder", received="Input/output error", advice="look", place="staging")

        with monkeypatch.context() as patch:
            patch.setattr(ingest, "sweep", failing)
            with pytest.raises(StorageError, match="Input/output"):
                ingest.resume(workspace)
        assert rows(workspace) == [("north", 1, ShareState.ACCEPTED, "")]

    def test_a_database_that_goes_during_the_cleaning_is_told_before_all_else(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = small.workspace()
        ingest.receive(workspace, small.bundle())
        workspace.objects().delete(shares.list_shares(workspace)[0].bundle)

        def failing(staging: Path) -> int:
            raise DatabaseError("a database that answers")

        monkeypatch.setattr(ingest, "sweep", failing)
        with pytest.raises(DatabaseError):
            ingest.resume(workspace)

    @pytest.mark.parametrize("damaged", ["key", "object"])
    def test_damage_of_the_providers_own_files_is_no_fault_of_the_share(self, damaged: str, small: World) -> None:
        workspace, bundle = small.workspace(), small.bundle()
        ingest.receive(workspace, bundle)
        path = workspace.root / "keys" / "recipient.pem"
        if damaged == "object":
            [path] = [path for path in (workspace.root / "objects").rglob("*") if path.is_file()]
        sound = path.read_bytes()
        path.write_bytes(sound[: len(sound) // 2])
        with pytest.raises(StorageError):
            ingest.resume(workspace)
        assert rows(workspace) == [("north", 1, ShareState.RECEIVED, "")]
        path.write_bytes(sound)
        assert [decision.state for decision in ingest.resume(workspace)] == [ShareState.ACCEPTED]

    def test_a_share_that_another_process_has_decided_meanwhile(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        number = ingest.receive(world.workspace(), world.bundle())
        faster: list[Decision] = []

        def late(*arguments: Any) -> Any:
            if not faster:
                faster.append(Decision(0, "", 0, ShareState.RECEIVED, "", "", b""))
                # On another machine, which knows nothing of locks on this one.
                faster[0] = ingest._decided(world.workspace(), number)
            return open_received(*arguments)

        monkeypatch.setattr(ingest, "open_received", late)
        assert ingest.process(world.workspace(), number) == faster[0]
        nothing_left(world.workspace())

    def test_a_database_that_goes_is_asked_no_more(self, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
        number = ingest.receive(small.workspace(), small.bundle())
        calls = 0

        def gone(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > 1:
                return open_received(*arguments)
            ingest._decided(small.workspace(), number)
            raise DatabaseError("a database that answers")

        monkeypatch.setattr(ingest, "open_received", gone)
        with pytest.raises(DatabaseError):
            ingest.process(small.workspace(), number)
        assert rows(small.workspace()) == [("north", 1, ShareState.ACCEPTED, "")]

    def test_a_share_that_another_process_takes_in_is_left_to_it(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody takes a share in twice at once, and nobody waits for it who has others to finish."""
        workspace, other = small.workspace(), small.bundle("south", seed=1)
        begun, go, opened = threading.Event(), threading.Event(), []
        true = open_received

        def slowly(path: Path, *arguments: Any) -> Any:
            opened.append(path.name)
            if len(opened) == 1:
                begun.set()
                go.wait(30)
            return true(path, *arguments)

        monkeypatch.setattr(ingest, "open_received", slowly)
        bundle = small.bundle("north")
        taken: list[Decision] = []
        first, second = (
            threading.Thread(target=lambda: taken.append(ingest.ingest(small.workspace(), bundle))) for _ in range(2)
        )
        first.start()
        begun.wait(30)
        second.start()
        ingest.receive(workspace, other)
        assert [(one.site, one.state) for one in ingest.resume(workspace)] == [("south", ShareState.ACCEPTED)]
        go.set()
        for thread in (first, second):
            thread.join(60)
        assert [one.state for one in taken] == [ShareState.ACCEPTED] * 2
        assert taken[0].receipt == taken[1].receipt
        assert len(opened) == 2
        nothing_left(workspace)

    def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(self, small: World) -> None:
        workspace = small.workspace()
        staging = workspace.root / "staging"
        (staging / "left").mkdir(parents=True)
        (staging / "left" / "payload").write_bytes(b"decrypted")
        with opening_folder(staging) as used:
            (used / "payload").write_bytes(b"decrypted")
            assert sweep(staging) == 1
            assert used.exists()
            ingest.resume(workspace)
            assert (used / "payload").exists()
        assert list(staging.iterdir()) == []

    @pytest.mark.parametrize("given_up", ["by a person", "by a revocation"])
    def test_attack_a_payload_stays_that_was_opened_by_a_killed_process(self, given_up: str, small: World) -> None:
        """What a provider refuses is not kept, however it came to that."""
        workspace, bundle = small.workspace(), small.bundle()
        child = os.fork()
        if not child:
            vars(ingest)["decide"] = lambda *arguments: os._exit(9)
            ingest.ingest(small.workspace(), bundle)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        [share] = shares.list_shares(workspace)
        assert share.state == ShareState.RECEIVED
        if given_up == "by a person":
            shares.reject(workspace, share, "A. Weiss", "given up")
        else:
            sites.revoke(workspace, share.site, "stolen")
        ingest.resume(workspace)
        [share] = shares.list_shares(workspace)
        assert share.state == ShareState.REJECTED
        nothing_left(workspace)

    def test_objects_of_decided_shares_that_stayed_are_removed(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace, bundle = small.workspace(), small.bundle()

        def full(*arguments: object) -> None:
            raise StorageError("room for the file")

        with monkeypatch.context() as patch:
            patch.setattr(ingest, "forget", full)
            decision = ingest.ingest(workspace, bundle)
        assert decision.state == ShareState.ACCEPTED
        assert workspace.objects().exists(shares.list_shares(workspace)[0].bundle)
        ingest.resume(workspace)
        nothing_left(workspace)

    def test_a_payload_that_was_withdrawn_goes_however_much_was_decided_since(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = small.workspace()
        ingest.ingest(workspace, small.bundle())
        [share] = shares.accepted_shares(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(shares, "forget", lambda workspace, digest: None)
            shares.withdraw(workspace, share, "A. Weiss", "asked")
        assert share.digest is not None
        with workspace.registry().transaction() as session:
            for number in range(120):
                session.add(
                    ShareRow(
                        site="south",
                        sequence=1,
                        bundle_sha256=f"{number:064x}",
                        bundle_bytes=1,
                        state=ShareState.REJECTED,
                        received_at=now(),
                        decided_at="2099-01-01T00:00:00Z",
                    )
                )
        assert workspace.objects().exists(share.digest)
        ingest.resume(workspace)
        nothing_left(workspace)


class Failing:
    """Passes calls on, but for one, which raises.

    Args:
        call: to pass on to.
        at: number of the call that raises, from 0.
        error: what it raises.
    """

    def __init__(self, call: Callable[..., Any], at: int, error: BaseException) -> None:
        self._call, self._at, self._error = call, at, error
        self.calls = 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls == self._at + 1:
            raise self._error
        return self._call(*arguments, **named)


class TestCrash:
    """An error at every call that changes the disk or the database, one after the other; kills are for `bench.faults`."""

    # The disk fails ahead of the database or behind it, whichever it is: one of them is enough.
    @pytest.mark.parametrize(
        ("owner", "name", "error", "database"),
        [
            (os, "replace", OSError(errno.EIO, "Input/output error"), "sqlite"),
            (os, "fsync", OSError(errno.ENOSPC, "No space left on device"), "sqlite"),
            (os, "unlink", OSError(errno.EIO, "Input/output error"), "sqlite"),
            (Session, "_flush", KeyboardInterrupt(), "sqlite"),
            (Session, "_flush", KeyboardInterrupt(), "postgresql"),
        ],
        ids=["replace", "fsync", "unlink", "flush-sqlite", "flush-postgresql"],
        indirect=["database"],
    )
    def test_nothing_is_lost_or_stuck(
        self, owner: Any, name: str, error: BaseException, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for count in range(100):
            bundle, workspace, acknowledged = world.bundle("north", count + 1, count), world.workspace(), None
            failing = Failing(getattr(owner, name), count, error)
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, lambda *arguments, **named: failing(*arguments, **named))  # noqa: B023
                with suppress(StorageError, KeyboardInterrupt):
                    acknowledged = ingest.ingest(workspace, bundle)
            ingest.resume(workspace)
            assert {share.state for share in shares.list_shares(workspace)} <= {ShareState.ACCEPTED}
            decision = ingest.ingest(workspace, bundle)
            assert decision.state == ShareState.ACCEPTED
            assert acknowledged is None or acknowledged == decision
            nothing_left(workspace)
            if failing.calls <= count:
                assert count
                return
        pytest.fail("it never came to an end")


class TestDatabase:
    def test_one_that_is_gone_and_comes_back(self, small: World) -> None:
        workspace, bundle = small.workspace(), small.bundle()
        number = ingest.receive(workspace, bundle)
        path = workspace.root / "registry.sqlite"
        away = path.rename(path.with_name("away"))
        uses: list[Callable[[], object]] = [
            lambda: ingest.ingest(workspace, bundle),
            lambda: ingest.process(workspace, number),
        ]
        for use in uses:
            with pytest.raises(DatabaseError):
                use()
        away.rename(path)
        assert ingest.ingest(workspace, bundle).state == ShareState.ACCEPTED
        nothing_left(workspace)

    def test_a_server_that_goes_while_a_share_is_checked(
        self, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world = new_world(tmp_path / "world", Database(postgres.new_database(), server=postgres))
        workspace, bundle = world.workspace(), world.bundle()

        def gone(*arguments: Any) -> None:
            decide(*arguments)
            postgres.stop()

        try:
            with monkeypatch.context() as patch:
                patch.setattr(ingest, "decide", gone)
                with pytest.raises(DatabaseError):
                    ingest.ingest(workspace, bundle)
        finally:
            postgres.start()
        assert rows(workspace) == [("north", 1, ShareState.RECEIVED, "")]
        assert [decision.state for decision in ingest.resume(workspace)] == [ShareState.ACCEPTED]
        nothing_left(workspace)


def _ingested(root: Path, bundle: Path) -> tuple[str, bytes]:
    """In a process of its own."""
    with invented_terms(sandbox=False):
        decision = ingest.ingest(World(root).workspace(), bundle)
        return decision.state, decision.receipt


def test_eight_processes_that_take_in_one_bundle_make_one_share(world: World) -> None:
    bundle = world.bundle()
    with ProcessPoolExecutor(8, mp_context=get_context("fork")) as workers:
        found = set(workers.map(_ingested, [world.root] * 8, [bundle] * 8))
    assert len(found) == 1
    workspace = world.workspace()
    assert rows(workspace) == [("north", 1, ShareState.ACCEPTED, "")]
    nothing_left(workspace)
    with workspace.registry().reading() as session:
        actions = [event.action for event in audit_log.events(session)]
    assert (actions.count("share-received"), actions.count("share-accepted")) == (1, 1)
