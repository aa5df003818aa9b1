"""`aggregator init` with its databases and stores, and `aggregator audit-log`."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from aggregator.registry import audit_log
from aggregator.workspace import open_workspace
from tests.aggregator.copied import copied_with
from tests.databases import Database
from tests.loop import done, provider, refused, values


@pytest.fixture
def workspace(database: Database, tmp_path: Path) -> Path:
    """With a few events, its registry in each kind of database."""

    def make(root: Path, url: str | None) -> None:
        done(provider("init", root, *(() if url is None else ("--database", url))))
        with closing(open_workspace(root).registry()) as registry:
            for number in range(3):
                with registry.transaction() as session:
                    audit_log.append(session, "north", "test", {"number": number, "reason": "\u202eevil"})

    return copied_with(database, "a log with evil", make, tmp_path / "provider")


def tamper(workspace: Path, database: Database, *statements: str) -> None:
    where = Database(f"sqlite:///{workspace}/registry.sqlite") if database.path else database
    where.unlock_events()
    where.run(*statements)


def test_the_log_begins_with_the_workspace_and_its_key(workspace: Path) -> None:
    first = values(provider("audit-log", "show", "--json", "--workspace", workspace))["events"][0]
    assert (first["seq"], first["action"], first["previous"]) == (1, "workspace-made", "0" * 64)
    assert first["details"]["key"] == open_workspace(workspace).key().public_key.key_id


def test_a_log_that_holds_is_verified_shown_and_exported(workspace: Path, tmp_path: Path) -> None:
    at = ("--workspace", workspace)
    found = values(provider("audit-log", "verify", "--json", *at))
    shown = values(provider("audit-log", "show", "--last", 2, "--json", *at))["events"]
    assert [event["seq"] for event in shown] == [found["events"] - 1, found["events"]]
    assert shown[-1]["hash"] == found["head"]
    out = tmp_path / "log.jsonl"
    for _ in range(2):
        assert values(provider("audit-log", "export", out, "--json", *at)) == found
    exported = [json.loads(line) for line in out.read_text().splitlines()]
    assert exported[-2:] == shown
    for event in exported:
        done(provider("audit-log", "verify", "--known", event["hash"], *at))


def test_what_a_terminal_could_obey_is_shown_as_its_number(workspace: Path) -> None:
    printed = done(provider("audit-log", "show", "--workspace", workspace)).stdout
    assert printed.isascii()
    assert "\\u202eevil" in printed


@pytest.mark.parametrize("command", [("verify",), ("show",), ("export", "out.jsonl")])
def test_a_broken_link_ends_every_command(
    command: tuple[str, ...], workspace: Path, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tamper(workspace, database, "UPDATE events SET actor = 'nobody' WHERE seq = 2")
    refused(provider("audit-log", *command, "--workspace", workspace), 21, "audit log, event 2", "restore")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_log_that_was_cut_off_lacks_its_head(workspace: Path, database: Database) -> None:
    at = ("--workspace", workspace)
    before = values(provider("audit-log", "verify", "--json", *at))
    tamper(workspace, database, f"DELETE FROM events WHERE seq = {before['events']}")
    done(provider("audit-log", "verify", *at))
    refused(provider("audit-log", "verify", "--known", before["head"], *at), 21, before["head"][:16], "cut off")


def test_a_hash_that_is_mistyped_says_nothing_about_the_log(workspace: Path) -> None:
    at = ("--workspace", workspace)
    head = values(provider("audit-log", "verify", "--json", *at))["head"]
    done(provider("audit-log", "verify", "--known", f" {head.upper()} ", *at))
    for known in (head[:16], head[:-1] + "x", ""):
        assert "cut off" not in refused(provider("audit-log", "verify", "--known", known, *at), 2, "mistyped")


def test_more_events_than_there_can_be_are_all(workspace: Path) -> None:
    done(provider("audit-log", "show", "--last", 10**30, "--workspace", workspace))


def test_a_workspace_can_be_moved(tmp_path: Path) -> None:
    root = tmp_path / "provider"
    done(provider("init", root))
    moved = Path(shutil.move(root, tmp_path / "elsewhere" / "provider"))
    done(provider("audit-log", "verify", "--workspace", moved))


def test_a_registry_that_is_missing_is_not_made_anew(tmp_path: Path) -> None:
    root = tmp_path / "provider"
    done(provider("init", root))
    for path in root.glob("registry.sqlite*"):
        path.unlink()
    refused(provider("audit-log", "verify", "--workspace", root), 8, "registry.sqlite", "check")
    assert not list(root.glob("registry.sqlite*"))


def test_a_database_in_use_is_refused_and_nothing_is_left(workspace: Path, database: Database, tmp_path: Path) -> None:
    used = database.url if database.path is None else f"sqlite:///{workspace}/registry.sqlite"
    refused(provider("init", tmp_path / "second", "--database", used), 20, "expected an empty database")
    assert not (tmp_path / "second").exists()
    done(provider("audit-log", "verify", "--workspace", workspace))


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--database", "mysql://host/db", 2),
        ("--database", "postgresql://me:hunter2@host/db", 2),
        ("--database", "postgresql://nobody@/none?host=/nonesuch", 8),
        ("--objects", "http://host/bucket", 2),
        ("--objects", "s3://key:hunter2@bucket", 2),
    ],
)
def test_a_setting_that_cannot_work_leaves_nothing(option: str, value: str, code: int, tmp_path: Path) -> None:
    line = refused(provider("init", tmp_path / "provider", option, value), code)
    assert "hunter2" not in line
    assert not list(tmp_path.iterdir())
