"""Opens the registry's database and gives out transactions: SQLite by default, PostgreSQL by URL, one behaviour.

Invariants, on both:

- One writer at a time: a transaction that may write waits for its turn when it begins (SQLite: BEGIN IMMEDIATE;
  PostgreSQL: an advisory lock), so what it has read stays true until it commits. Keep such transactions short.
- What is committed is on the disk before `transaction` returns.
- A database that is gone, locked, damaged or full is a `DatabaseError`; the next transaction tries afresh. A SQLite file
  that is missing is never made anew, and one that was exchanged is not written to.

A violated constraint stays SQLAlchemy's `IntegrityError`: only the caller knows what it means.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, DisconnectionError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from aggregator.errors import DatabaseError
from aggregator.registry import schema
from aggregator.registry.engines import PATIENCE_S, postgresql, reading_options, sqlite
from shared.errors import ConfigurationError

# Parameters of a connection that a configuration file, a log and a message must not hold.
_SECRETS = {"password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}


class Registry:
    """An open registry; threads may share it, processes may not.

    Args:
        engine: with the hooks of this module.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writers = threading.Lock()
        self._reader = engine.execution_options(**reading_options(engine))

    @property
    def name(self) -> str:
        """Where it lies, without a password."""
        return _shown(self._engine.url)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session that commits at the end and rolls back on any error; the only writer until then.

        Raises:
            DatabaseError: the database does not answer, is damaged or has no room.
        """
        # SQLite has those who wait look again and again, PostgreSQL has each hold a connection: threads of one process wait here.
        waited = self._writers.acquire(timeout=PATIENCE_S)
        try:
            with _mapped(self.name), Session(self._engine, expire_on_commit=False) as session, session.begin():
                yield session
        finally:
            if waited:
                self._writers.release()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one state of the database and may not write.

        Raises:
            DatabaseError: the database does not answer or is damaged.
        """
        with _mapped(self.name), Session(self._reader, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Closes all connections; the next transaction opens new ones."""
        self._engine.dispose()


def database_url(setting: str, root: Path) -> URL:
    """The URL for a setting: a path below `root`, or a URL of SQLite or PostgreSQL.

    Raises:
        ConfigurationError: neither.
    """
    if "://" not in setting:
        return URL.create("sqlite", database=str(root / setting))
    try:
        url = make_url(setting)
    except (ArgumentError, ValueError) as error:
        raise _unusable("something else") from error
    if url.password is not None or not _SECRETS.isdisjoint(url.query):
        raise ConfigurationError(
            "database: expected a URL without a password, got one with it; put it into ~/.pgpass or PGPASSWORD, "
            "and any other secret into the file that PGSERVICEFILE names"
        )
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername != "sqlite" or not url.database or url.database == ":memory:" or url.query:
        raise _unusable(_shown(url))
    return url.set(database=str(root / url.database))


def open_registry(url: str | URL, *, create: bool = True) -> Registry:
    """The registry in a database, its schema brought up to date.

    Args:
        url: as `database_url` takes or gives it; a path is one below the current folder.
        create: whether an empty or missing database becomes a registry; else it is refused.

    Raises:
        ConfigurationError: a URL of another kind.
        DatabaseError: the database does not answer, or is missing.
        WorkspaceError: it was made by a later version, or is empty and should not be.
    """
    known = url if isinstance(url, URL) else database_url(url, Path())
    engine = sqlite(known, create=create) if known.drivername == "sqlite" else postgresql(known)
    registry = Registry(engine)
    try:
        with _mapped(registry.name):
            schema.bring_up_to_date(engine, registry._reader, registry.name, create=create)
    except ProgrammingError as error:
        registry.close()
        if known.drivername == "sqlite" or getattr(error.orig, "sqlstate", None):
            raise
        # Not a word of the server's: the client does not know what the URL asks for.
        raise _unusable("a parameter of the connection that PostgreSQL does not know") from error
    except BaseException:
        registry.close()
        raise
    return registry


@contextmanager
def _mapped(name: str) -> Iterator[None]:
    """Turns what the database says about itself into our error; what it says about a caller's statement stays."""
    try:
        yield
    except (IntegrityError, ProgrammingError, DataError):
        raise
    except (DBAPIError, DisconnectionError, PoolTimeoutError) as error:
        raise DatabaseError(
            "a database that answers",
            received=_reason(error),
            advice="check that it runs, its rights and its free space, then repeat",
            place=f"registry {name}",
        ) from error


def _reason(error: Exception) -> str:
    """In the database's words where they can't hold values of ours."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return str(cause)
    state = getattr(cause, "sqlstate", None)
    return f"its error {state}" if state else "no connection"


def _shown(url: URL) -> str:
    return Path(url.database or "").name if url.drivername == "sqlite" else url.render_as_string(hide_password=True)


def _unusable(received: str) -> ConfigurationError:
    return ConfigurationError(
        f"database: expected a file name or a postgresql:// URL, got {received}; correct the setting"
    )
