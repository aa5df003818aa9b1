"""A release that was begun and is not out: nobody takes it for one that hospitals can pull, and the log says that it failed."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from aggregator.errors import DatabaseError
from aggregator.publishing import registering, releases
from aggregator.publishing.releases import Publishing
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow
from aggregator.repository.tuf_repository import Repository
from aggregator.status.alerts import find_alerts
from aggregator.status.standing import read_standing
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from tests.aggregator.copied import new_workspace
from tests.aggregator.publishing.trained import lay_down, record_training
from tests.aggregator.registry.rows import add, share, site

UNAUDITED = Publishing(audited=False, actor="anna")
FULL = StorageError("room for the file", received="a full disk", advice="free some space", place="targets")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """With a release of the representer, a share that was refused since, and a head that another share has trained."""
    made = new_workspace(tmp_path / "provider")
    lay_down(made)
    record_training(made, shares=[{"site": "north", "sequence": 1, "payload": "bb" * 32}])
    releases.publish_representer(made, UNAUDITED)
    with made.registry().transaction() as session:
        session.get_one(ReleaseRow, 1).published_at = "2026-11-01T10:00:00Z"
        refused = {"state": ShareState.REJECTED, "reason_code": "sandbox", "decided_at": "2026-11-02T10:00:00Z"}
        add(
            session,
            site(),
            share(1, state=ShareState.ACCEPTED, payload_sha256="bb" * 32),
            share(2, received_at="2026-11-02T10:00:00Z", **refused),
        )
    return made


def events(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Who did what to which release."""
    with workspace.registry().reading() as session:
        found = [one for one in audit_log.events(session) if one.action.startswith("release-")]
    return [(one.actor, one.action, json.loads(one.details)["release"]) for one in found]


def killed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the process had gone between the registry and the repository: nothing of it runs any more."""
    with monkeypatch.context() as patch:
        patch.setattr(releases, "give_up_release", lambda *arguments: None)
        failed(workspace, monkeypatch)


def failed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, error: BaseException = FULL) -> None:
    """A publishing of the pipeline that an error ends before it is out."""

    def fail(*arguments: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Repository, "publish", fail)
        with pytest.raises(type(error)):
            releases.publish_pipeline(workspace, UNAUDITED)


@pytest.mark.parametrize("begin", [failed, killed])
def test_what_is_not_out_is_no_release(
    begin: Callable[[Workspace, pytest.MonkeyPatch], None], workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(workspace, monkeypatch)
    found = read_standing(workspace, datetime.datetime(2026, 11, 23, tzinfo=datetime.UTC))
    assert (found.release, found.released) == ("0001-representer", datetime.date(2026, 11, 1))
    # A share that was refused since the last release stays told.
    assert "refused" in [alert.kind for alert in find_alerts(found)]


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
def test_the_log_says_that_it_failed(
    error: BaseException, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed(workspace, monkeypatch, error)
    assert events(workspace)[1:] == [
        ("anna", "release-published", "0002-pipeline"),
        ("anna", "release-failed", "0002-pipeline"),
    ]
    with workspace.registry().reading() as session:
        assert [row.sequence for row in session.scalars(select(ReleaseRow))] == [1]
        assert not session.scalars(select(ReleaseShareRow)).all()


def test_the_log_says_at_the_next_release_that_one_was_killed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(workspace, monkeypatch)
    releases.publish_pipeline(workspace, UNAUDITED)
    assert [action for _, action, _ in events(workspace)[1:]] == [
        "release-published",
        "release-failed",
        "release-published",
    ]
    with workspace.registry().reading() as session:
        assert [(row.release, row.share) for row in session.scalars(select(ReleaseShareRow))] == [(2, 1)]


def test_what_came_out_before_the_error_keeps_its_record(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Repository.publish

    def late(*arguments: object) -> None:
        publish(*arguments)  # type: ignore[arg-type]
        raise FULL

    monkeypatch.setattr(Repository, "publish", late)
    with pytest.raises(StorageError):
        releases.publish_pipeline(workspace, UNAUDITED)
    assert [action for _, action, _ in events(workspace)[1:]] == ["release-published"]
    with workspace.registry().reading() as session:
        assert session.get_one(ReleaseRow, 2).name == "0002-pipeline"


def test_a_log_that_can_not_be_written_hides_no_error(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise DatabaseError("database: expected room, found none; free some space")

    def fail(*arguments: object) -> None:
        monkeypatch.setattr(registering, "_strike", full)
        raise FULL

    monkeypatch.setattr(Repository, "publish", fail)
    with pytest.raises(StorageError, match="a full disk"):
        releases.publish_pipeline(workspace, UNAUDITED)
    assert read_standing(workspace, datetime.datetime.now(datetime.UTC)).release == "0001-representer"
