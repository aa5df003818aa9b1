"""A real PostgreSQL for what is measured and tested on one: its programs come from a wheel, its files lie in a folder of its own."""

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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

_PATIENCE_S = 60


class PostgresMissingError(Exception):
    """There is no PostgreSQL on this machine, or it does not start; says why."""


@dataclass
class Postgres:
    """A PostgreSQL server that listens on a socket in a folder of its own.

    Args:
        folder: of everything, for whoever runs it alone.
        programs: initdb and postgres.
        user: who runs it; None for who runs this program.
    """

    folder: Path
    programs: Path
    user: str | None
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def initialise(self) -> None:
        """Makes its files."""
        options = ("--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync")
        subprocess.run(
            [self.programs / "initdb", f"--pgdata={self.folder / 'data'}", *options],
            check=True,
            capture_output=True,
            user=self.user,
            cwd=self.folder,
        )

    def start(self) -> None:
        """Starts it, and returns when it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder, "-h", "", "-F"],
                stdout=log,
                stderr=log,
                user=self.user,
                cwd=self.folder,
            )
        self._wait()

    def stop(self) -> None:
        """Ends it and every connection at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_PATIENCE_S)
            self._process = None

    def restart(self) -> None:
        """Stops it and starts it again."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """Kills one of its processes; it ends all others, recovers from its log, and answers again."""
        with suppress(psycopg.OperationalError), psycopg.connect(self._conninfo()) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
            # What it says to this is that it has gone.
            connection.execute("SELECT 1")
        self._wait()

    def end_connections(self) -> None:
        """Ends every connection to it; it goes on."""
        self._run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )

    def new_database(self) -> str:
        """The URL of an empty schema, which is all of a database that its user sees, and much quicker made."""
        name = f"test_{secrets.token_hex(6)}"
        self._run(f"CREATE SCHEMA {name}")
        return f"{self._url('postgres')}&options=-csearch_path%3D{name}"

    def copy_database(self, name: str, template: str = "template0") -> str:
        """The URL of a database of its own, with what is in another, to which nobody may be connected."""
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self._url(name)

    def drop_database(self, name: str) -> None:
        """Removes a database, whoever is connected to it."""
        self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _run(self, statement: str) -> None:
        with psycopg.connect(self._conninfo(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _wait(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                psycopg.connect(self._conninfo()).close()
                return
            except psycopg.OperationalError:
                if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def _conninfo(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres connect_timeout=5"


@contextmanager
def run_postgres() -> Iterator[Postgres]:
    """A server that runs as long as the block; who stops it must start it again.

    Raises:
        PostgresMissingError: there is none here.
    """
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None:
        raise PostgresMissingError("the package pgserver is not installed")
    package = Path(found.origin).parent
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = Postgres(folder, package / "pginstall" / "bin", None)
    try:
        try:
            if os.geteuid() == 0:
                server = _for_nobody(folder, package)
            server.initialise()
            server.start()
        except (OSError, subprocess.SubprocessError, psycopg.OperationalError, KeyError) as error:
            kind = type(error).__name__
            raise PostgresMissingError(f"the one of the package pgserver does not start here ({kind})") from error
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _for_nobody(folder: Path, package: Path) -> Postgres:
    """PostgreSQL refuses to run as root, and another user may not be able to read what root has installed."""
    for part in (package / "pginstall", package.with_name("pgserver.libs")):
        if part.is_dir():
            copied = folder / part.relative_to(package.parent)
            shutil.copytree(part, copied, ignore=shutil.ignore_patterns("*.a", "include"))
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    return Postgres(folder, folder / "pgserver" / "pginstall" / "bin", "nobody")
