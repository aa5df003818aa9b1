"""Backup, restore, upgrade and rollback of a provider, by the scripts of deploy/backup, on the workspace that version 0.1 has left."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text

from aggregator import workspace as workspaces
from aggregator.enrolled import shares, sites
from aggregator.errors import WorkspaceError
from aggregator.ingestion import ingest
from aggregator.registry import audit_log, schema
from aggregator.registry.states import ShareState
from bench.exchange.world import build, invented_terms
from tests.databases import Database, Postgres
from tests.deploy.forked import forked
from tests.golden.archives import unpack
from tests.golden.test_v0_1 import GOLDEN
from tests.golden.test_v0_1 import schema as schema_of
from tests.loop import provider, refused, snapshot

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "deploy" / "backup"
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module", autouse=True)
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The scripts find a program that answers at once, if no `path` is given that has another."""
    with forked(tmp_path_factory.mktemp("program")) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join(map(str, (folder, BIN, os.environ["PATH"]))))
        yield


def run(script: str, *arguments: object, path: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join(map(str, filter(None, (path, os.environ["PATH"]))))
    environment = os.environ | {"PATH": search, "PYTHONPATH": str(ROOT)} | more
    return subprocess.run(
        ["sh", SCRIPTS / script, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False
    )


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def head(root: Path) -> str:
    # Closed before anything is compared: SQLite folds its log into the file whenever the last connection goes.
    with closing(workspaces.open_workspace(root).registry()) as registry, registry.reading() as session:
        return audit_log.head(session)


def kept(root: Path) -> dict[str, str]:
    """What a backup is for: objects, models and releases."""
    folders = [root / name for name in ("objects", "releases", "representer", "head") if (root / name).exists()]
    return {str(Path(path).relative_to(root)): digest for path, digest in snapshot(*folders).items()}


@pytest.fixture(scope="module")
def backed_up(program: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of version 0.1, brought up to date, and its backup; nobody may change anything in it."""
    folder = tmp_path_factory.mktemp("backed-up")
    unpack(GOLDEN / "aggregator.tar.xz", folder / "old")
    succeeded(run("provider-backup.sh", folder / "old", folder / "backup"))
    return folder


@pytest.fixture
def old(backed_up: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(backed_up / "old", tmp_path / "old"))


@pytest.fixture
def backup(backed_up: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(backed_up / "backup", tmp_path / "backup"))


def test_the_linter_has_nothing_to_say() -> None:
    done = subprocess.run(
        [BIN / "shellcheck", *sorted(SCRIPTS.glob("*.sh"))], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


class TestBackup:
    def test_what_is_restored_is_what_was_there_and_goes_on(self, old: Path, backup: Path, tmp_path: Path) -> None:
        known = json.loads((backup / "log-head.json").read_text())["head"]
        # By the program as it is installed, as the copy of the language model is made.
        done = run("provider-restore.sh", backup, old / "keys", tmp_path / "new", known, path=BIN)
        succeeded(done)
        assert "withdrawn after this backup" in done.stderr
        assert kept(tmp_path / "new") == kept(old)
        assert head(tmp_path / "new") == head(old) == known
        restored = workspaces.open_workspace(tmp_path / "new")
        sites.revoke(restored, sites.list_sites(restored)[0].name, "lost")
        assert head(tmp_path / "new") != known

    @pytest.mark.parametrize("whole", [True, False])
    def test_keys_without_the_secret_of_digests_are_named(
        self, old: Path, backup: Path, tmp_path: Path, whole: bool
    ) -> None:
        (old / "keys" / "overlap.key").unlink(missing_ok=True)
        if whole:
            (old / "keys" / "overlap.key").write_bytes(bytes(32))
        done = run("provider-restore.sh", backup, old / "keys", tmp_path / "new", "none")
        succeeded(done)
        assert ("expected overlap.key" in done.stderr) != whole

    def test_no_private_key_lies_in_it(self, backup: Path) -> None:
        names = {path.name for path in backup.rglob("*")}
        assert not {"keys", "overlap.key"} & names
        assert not [name for name in names if name.endswith(".pem")]
        assert b"PRIVATE KEY" not in b"".join(path.read_bytes() for path in backup.rglob("*") if path.is_file())

    def test_attack_a_backup_in_which_a_bit_was_flipped_is_not_restored(
        self, old: Path, backup: Path, tmp_path: Path
    ) -> None:
        data = bytearray((backup / "registry.sqlite").read_bytes())
        data[5000] ^= 1
        (backup / "registry.sqlite").write_bytes(data)
        assert run("provider-restore.sh", backup, old / "keys", tmp_path / "new", "none").returncode == 13
        assert not (tmp_path / "new").exists()

    def test_nothing_is_written_over(self, old: Path, backup: Path) -> None:
        assert run("provider-backup.sh", old, backup).returncode == 2
        assert run("provider-restore.sh", backup, old / "keys", old, "none").returncode == 2

    def test_a_share_that_is_decided_while_it_is_made_is_whole_in_it(self, tmp_path: Path) -> None:
        """The server takes a bundle away as soon as it has decided: here, between the registry and the objects that it names."""
        world = build(tmp_path / "world")
        with invented_terms(sandbox=False):
            ingest.receive(world.workspace(), world.bundle())
        [share] = shares.list_shares(world.workspace())
        copying = tmp_path / "bin" / "cp"
        copying.parent.mkdir()
        stored = world.provider / "objects" / share.bundle[:2] / share.bundle
        # The registry is in the backup by then.
        copying.write_text(
            f'#!/bin/sh\nif [ -e "{tmp_path}/backup.partial/registry.sqlite" ]; then rm -f "{stored}"; fi\nexec /bin/cp "$@"\n'
        )
        copying.chmod(0o755)
        succeeded(run("provider-backup.sh", world.provider, tmp_path / "backup", path=copying.parent))
        assert not stored.exists()
        arguments = (tmp_path / "backup", world.provider / "keys", tmp_path / "new", "none")
        succeeded(run("provider-restore.sh", *arguments))
        with invented_terms(sandbox=False):
            [decision] = ingest.resume(workspaces.open_workspace(tmp_path / "new"))
        assert decision.state == ShareState.ACCEPTED


class TestPlaces:
    """Registry and objects lie where aggregator.json says."""

    @pytest.fixture
    def laid_out(self, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
        """A workspace with one share whose registry and objects have names of their own."""
        world = build(tmp_path / "world")
        with invented_terms(sandbox=False):
            ingest.receive(world.workspace(), world.bundle())
        root = world.provider
        database, objects = request.param
        file = root / database.removeprefix("sqlite:///")
        file.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(root / "registry.sqlite")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root / "registry.sqlite").rename(file)
        (root / "objects").rename(root / objects)
        set_places(root, database, objects)
        return root

    @pytest.mark.parametrize(
        "laid_out", [("known/reg.db", "store"), ("sqlite:///reg.db", "./store/")], indirect=True, ids=["names", "urls"]
    )
    def test_what_has_another_name_is_copied_and_restored_under_it(self, laid_out: Path, tmp_path: Path) -> None:
        assert "backup in" in succeeded(run("provider-backup.sh", laid_out, f"{tmp_path / 'backup'}/"))
        known = json.loads((tmp_path / "backup" / "log-head.json").read_text())["head"]
        succeeded(run("provider-restore.sh", tmp_path / "backup", laid_out / "keys", f"{tmp_path / 'new'}/", known))
        restored = workspaces.open_workspace(tmp_path / "new")
        [share] = shares.list_shares(restored)
        assert restored.objects().exists(share.bundle)
        assert not list(tmp_path.glob("*.partial"))

    @pytest.mark.parametrize(
        ("database", "objects"),
        [
            ("registry.sqlite", "/elsewhere"),
            ("registry.sqlite", "../elsewhere"),
            ("/elsewhere/registry.sqlite", "objects"),
            ("sqlite:////elsewhere/registry.sqlite", "objects"),
        ],
    )
    def test_what_lies_outside_of_the_workspace_is_refused_in_one_line(
        self, old: Path, tmp_path: Path, database: str, objects: str
    ) -> None:
        set_places(old, database, objects)
        done = run("provider-backup.sh", old, tmp_path / "backup")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "below the workspace" in done.stderr
        assert not list(tmp_path.glob("backup*"))

    def test_objects_that_are_gone_are_no_backup(self, old: Path, tmp_path: Path) -> None:
        (old / "objects").rename(tmp_path / "not-mounted")
        done = run("provider-backup.sh", old, tmp_path / "backup")
        assert done.returncode == 8
        assert "found no folder" in done.stderr
        assert not list(tmp_path.glob("backup*"))

    def test_before_the_first_share_there_are_none(self, tmp_path: Path) -> None:
        workspaces.create(tmp_path / "provider", "north", "i2b2_2014")
        succeeded(run("provider-backup.sh", tmp_path / "provider", tmp_path / "backup"))
        assert "objects" not in {path.name for path in (tmp_path / "backup").iterdir()}

    def test_the_language_model_is_copied(self, old: Path, tmp_path: Path) -> None:
        (old / "language-model").mkdir()
        (old / "language-model" / "weights").write_bytes(b"weights")
        succeeded(run("provider-backup.sh", old, tmp_path / "backup"))
        assert (tmp_path / "backup" / "workspace" / "language-model" / "weights").read_bytes() == b"weights"

    def test_the_program_may_be_named_where_the_path_of_sudo_lacks_it(self, old: Path, tmp_path: Path) -> None:
        command: list[str | Path] = ["sh", SCRIPTS / "provider-backup.sh", old, tmp_path / "backup"]
        environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "AGGREGATOR": str(BIN / "aggregator")}
        succeeded(subprocess.run(command, capture_output=True, text=True, env=environment, check=False))


def set_places(root: Path, database: str, objects: str) -> None:
    settings = json.loads((root / "aggregator.json").read_text())
    (root / "aggregator.json").write_text(json.dumps(settings | {"database": database, "objects": objects}))


class TestRollback:
    """A backup that is older than what somebody has kept of the log would give numbers out twice."""

    def test_it_is_noticed_and_refused(self, old: Path, backup: Path, tmp_path: Path) -> None:
        opened = workspaces.open_workspace(old)
        sites.revoke(opened, sites.list_sites(opened)[0].name, "laptop stolen")
        since = head(old)
        done = run("provider-restore.sh", backup, old / "keys", tmp_path / "new", since)
        assert done.returncode == 21
        assert "numbers would be given out twice" in done.stderr
        assert not (tmp_path / "new").exists()

    def test_only_a_log_that_went_back_is_called_older(self, old: Path, backup: Path, tmp_path: Path) -> None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "aggregator").write_text("#!/bin/sh\nexit 8\n")
        (tmp_path / "bin" / "aggregator").chmod(0o755)
        arguments = (backup, old / "keys", tmp_path / "new", "none")
        done = run("provider-restore.sh", *arguments, path=tmp_path / "bin", RESTORE_ALTHOUGH_OLDER="yes")
        assert done.returncode == 8
        assert "older" not in done.stderr
        assert not list(tmp_path.glob("new*"))

    def test_who_has_nothing_newer_restores_it_all_the_same_and_is_told(
        self, old: Path, backup: Path, tmp_path: Path
    ) -> None:
        newer = "ab" * 32
        done = run("provider-restore.sh", backup, old / "keys", tmp_path / "new", newer, RESTORE_ALTHOUGH_OLDER="yes")
        assert "publish nothing before" in done.stderr
        succeeded(done)
        refused(provider("audit-log", "verify", "--known", newer, "--workspace", tmp_path / "new"), 21)


class TestUpgrade:
    """Between the schema of 0.1 and that of today, by the migrations that run at a provider."""

    @pytest.fixture
    def old(self, tmp_path: Path) -> Path:
        """Its registry is of the first schema."""
        return unpack(GOLDEN / "aggregator.tar.xz", tmp_path / "old")

    @pytest.fixture
    def before(self, old: Path, tmp_path: Path) -> Path:
        """A backup by the program of 0.1, which knew no later schema: it is made before the upgrade."""
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "aggregator").write_text('#!/bin/sh\necho "{}"\n')
        (tmp_path / "bin" / "aggregator").chmod(0o755)
        succeeded(run("provider-backup.sh", old, tmp_path / "before", path=tmp_path / "bin"))
        return tmp_path / "before"

    @staticmethod
    def version(registry: Path) -> str:
        with closing(sqlite3.connect(registry)) as connection:
            return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])

    def test_an_upgrade_keeps_everything_and_a_rollback_is_a_restore(
        self, old: Path, before: Path, tmp_path: Path
    ) -> None:
        assert self.version(before / "registry.sqlite") == "0001"
        upgraded = workspaces.open_workspace(old)
        events = head(old)
        assert self.version(old / "registry.sqlite") == "0004"
        # Back to the old program: the backup is as it was, schema and all, and the chain of events the same.
        shutil.copytree(before / "workspace", tmp_path / "back")
        shutil.copy(before / "registry.sqlite", tmp_path / "back")
        assert self.version(tmp_path / "back" / "registry.sqlite") == "0001"
        with closing(sqlite3.connect(tmp_path / "back" / "registry.sqlite")) as connection:
            assert connection.execute("SELECT count(*) FROM events").fetchone()[0] > 0
        # And forward once more: the same schema as a registry that was never rolled back, and the same log.
        again = tmp_path / "back"
        shutil.copytree(old / "keys", again / "keys")
        assert head(again) == events
        assert schema_of(again / "registry.sqlite") == schema_of(old / "registry.sqlite")
        assert [one.name for one in sites.list_sites(workspaces.open_workspace(again))] == [
            one.name for one in sites.list_sites(upgraded)
        ]

    def test_the_old_program_refuses_the_new_registry(self, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        head(old)

        class Earlier:
            """The migrations that 0.1 had."""

            def get_current_head(self) -> str:
                return "0001"

            def walk_revisions(self) -> list[object]:
                return [
                    one
                    for one in ScriptDirectory.from_config(schema._config()).walk_revisions()
                    if one.revision == "0001"
                ]

        before = snapshot(old)
        monkeypatch.setattr(schema, "_migrations", Earlier)
        with pytest.raises(WorkspaceError, match="0001 or earlier, got 0004"):
            workspaces.open_workspace(old).registry()
        assert snapshot(old) == before


@pytest.fixture
def in_postgresql(postgres: Postgres, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A workspace whose registry is a database of its own, and the name of that."""
    name = f"backed_up_{secrets.token_hex(4)}"
    workspaces.create(tmp_path / "provider", "north", "i2b2_2014", database=postgres.copy_database(name))
    yield tmp_path / "provider", name
    postgres.drop_database(name)


def lose(postgres: Postgres, name: str) -> Database:
    """All of a database is lost, and an empty one is made in its place."""
    postgres.drop_database(name)
    return Database(postgres.copy_database(name))


def tables(database: Database) -> list[str]:
    engine = database.engine()
    with engine.connect() as connection:
        found = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"))
        names = [str(row[0]) for row in found]
    engine.dispose()
    return names


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_form_of_an_address_that_the_program_takes_is_backed_up_and_restored(
    postgres: Postgres, in_postgresql: tuple[Path, str], tmp_path: Path, scheme: str
) -> None:
    root, name = in_postgresql
    settings = json.loads((root / "aggregator.json").read_text())
    settings["database"] = settings["database"].replace("postgresql://", f"{scheme}://")
    (root / "aggregator.json").write_text(json.dumps(settings))
    succeeded(run("provider-backup.sh", root, tmp_path / "backup", path=postgres.programs))
    known = json.loads((tmp_path / "backup" / "log-head.json").read_text())["head"]
    lose(postgres, name)
    arguments = (tmp_path / "backup", root / "keys", tmp_path / "new", known)
    succeeded(run("provider-restore.sh", *arguments, path=postgres.programs))
    assert head(tmp_path / "new") == known


def test_a_backup_that_is_too_old_is_refused_before_anything_of_it_is_in_postgresql(
    postgres: Postgres, in_postgresql: tuple[Path, str], tmp_path: Path
) -> None:
    root, name = in_postgresql
    succeeded(run("provider-backup.sh", root, tmp_path / "backup", path=postgres.programs))
    with workspaces.open_workspace(root).registry().transaction() as session:
        since = audit_log.append(session, "operator", "since-then", {})
    lost = lose(postgres, name)
    arguments = (tmp_path / "backup", root / "keys", tmp_path / "new", since)
    done = run("provider-restore.sh", *arguments, path=postgres.programs)
    assert done.returncode == 21, done.stderr
    assert "numbers would be given out twice" in done.stderr
    assert "nothing was written into the database" in done.stderr
    assert tables(lost) == []
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("new")]
    # So who has nothing newer needs no other database.
    succeeded(run("provider-restore.sh", *arguments, path=postgres.programs, RESTORE_ALTHOUGH_OLDER="yes"))
    assert "events" in tables(lost)


def test_who_is_refused_after_the_database_was_filled_is_told_so(
    postgres: Postgres, in_postgresql: tuple[Path, str], tmp_path: Path
) -> None:
    root, name = in_postgresql
    succeeded(run("provider-backup.sh", root, tmp_path / "backup", path=postgres.programs))
    lost = lose(postgres, name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "aggregator").write_text("#!/bin/sh\nexit 21\n")
    (tmp_path / "bin" / "aggregator").chmod(0o755)
    search = Path(f"{tmp_path / 'bin'}{os.pathsep}{postgres.programs}")
    done = run("provider-restore.sh", tmp_path / "backup", root / "keys", tmp_path / "new", "none", path=search)
    assert done.returncode == 21, done.stderr
    assert "events" in tables(lost)
    assert "the database holds the registry of this backup now" in done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("new")]
