"""The databases that the registry runs on, for tests: a SQLite file, and a real PostgreSQL whose programs come from a wheel."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, text

from bench.exchange.postgres import Postgres, PostgresMissingError, run_postgres
from tests.expected import do_without

__all__ = ["Database", "Postgres", "database", "postgres"]

# Stands in a dump for the name of its schema.
_ANY = "schema_of_any_name"


@dataclass(frozen=True)
class Database:
    """An empty database for a registry.

    Args:
        url: as `open_registry` and `aggregator init --database` take it.
        path: of a SQLite file, which may not be there yet.
        server: of a schema of PostgreSQL.
    """

    url: str
    path: Path | None = None
    server: Postgres | None = None

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

    def dump(self) -> str:
        """All of a schema of PostgreSQL as the SQL that makes the same in any empty one with `fill`."""
        assert self.server is not None
        program, schema = self.server.programs / "pg_dump", self._schema
        done = subprocess.run(
            [program, "--inserts", "--no-owner", "--schema", schema, self.url],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.replace(f"CREATE SCHEMA {schema};", "").replace(schema, _ANY)

    def fill(self, dump: str) -> None:
        """Make an empty schema what another was, far quicker than by migrations."""
        with psycopg.connect(self.url) as connection:
            connection.execute(dump.replace(_ANY, self._schema).encode())

    @property
    def _schema(self) -> str:
        return self.url.rpartition("%3D")[2]

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
    with ExitStack() as running:
        try:
            server = running.enter_context(run_postgres())
        except PostgresMissingError as error:
            do_without("postgresql", str(error))
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of each kind."""
    if request.param == "sqlite":
        path = tmp_path / "registry.sqlite"
        return Database(f"sqlite:///{path}", path)
    server: Postgres = request.getfixturevalue("postgres")
    return Database(server.new_database(), server=server)
