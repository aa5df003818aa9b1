"""The databases that the registry runs on, for tests: a SQLite file, and a real PostgreSQL whose programs come from a wheel."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, text

from tests.expected import do_without

_PATIENCE_S = 60


@dataclass
class Postgres:
    """A PostgreSQL server that listens on a socket in a folder of its own.

    Args:
        folder: of everything, for whoever runs it alone.
        programs: initdb and postgres.
        user: who runs it; None for who runs the tests.
    """

    folder: Path
    programs: Path
    user: str | None
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def initialise(self) -> None:
        options = ("--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync")
        subprocess.run(
            [self.programs / "initdb", f"--pgdata={self.folder / 'data'}", *options],
            check=True,
            capture_output=True,
            user=self.user,
            cwd=self.folder,
        )

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder, "-h", "", "-F"],
                stdout=log,
                stderr=log,
                user=self.user,
                cwd=self.folder,
            )
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                psycopg.connect(self._conninfo()).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def stop(self) -> None:
        """Ends it and every connection at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_PATIENCE_S)
            self._process = None

    def new_database(self) -> str:
        """The URL of an empty schema, which is all of a database that its user sees, and much quicker made."""
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self._conninfo(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://postgres@/postgres?host={self.folder}&options=-csearch_path%3D{name}"

    def _conninfo(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres connect_timeout=5"


@dataclass(frozen=True)
class Database:
    """An empty database for a registry.

    Args:
        url: as `open_registry` and `aggregator init --database` take it.
        path: of a SQLite file, which may not be there yet.
    """

    url: str
    path: Path | None = None

    @property
    def kind(self) -> str:
        return self.url.partition(":")[0]

    def engine(self) -> Engine:
        """The database as anyone with its rights sees it, without anything of ours."""
        return create_engine(self.url.replace("postgresql://", "postgresql+psycopg://"))

    def run(self, *statements: str) -> None:
        """Run SQL as anyone with the rights to the database can."""
        engine = self.engine()
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
        engine.dispose()

    def unlock_events(self) -> None:
        """Take the triggers away that keep the audit log."""
        names = {
            "sqlite": ("events_no_update", "events_no_delete", "events_follow"),
            "postgresql": ("events_no_change", "events_follow"),
        }[self.kind]
        of = "" if self.kind == "sqlite" else " ON events"
        self.run(*(f"DROP TRIGGER {name}{of}" for name in names))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running server; a test that stops it must start it again."""
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None:
        do_without("postgresql", "the package pgserver is not installed")
    package = Path(found.origin).parent
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = Postgres(folder, package / "pginstall" / "bin", None)
    try:
        if os.geteuid() == 0:
            server = _for_nobody(folder, package)
        server.initialise()
        server.start()
    except (OSError, subprocess.SubprocessError, psycopg.OperationalError, KeyError) as error:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        do_without("postgresql", f"the one of the package pgserver does not start here ({type(error).__name__})")
    yield server
    server.stop()
    shutil.rmtree(folder)


def _for_nobody(folder: Path, package: Path) -> Postgres:
    """PostgreSQL refuses to run as root, and another user may not be able to read what root has installed."""
    for part in (package / "pginstall", package.with_name("pgserver.libs")):
        if part.is_dir():
            copied = folder / part.relative_to(package.parent)
            shutil.copytree(part, copied, ignore=shutil.ignore_patterns("*.a", "include"))
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    return Postgres(folder, folder / "pgserver" / "pginstall" / "bin", "nobody")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of each kind."""
    if request.param == "sqlite":
        path = tmp_path / "registry.sqlite"
        return Database(f"sqlite:///{path}", path)
    server: Postgres = request.getfixturevalue("postgres")
    return Database(server.new_database())
