"""The engines of the two databases, with the hooks that make them behave alike.

A transaction of an engine may write, and is the only one that may: SQLite begins it with BEGIN IMMEDIATE, PostgreSQL with
an advisory lock. One with `reading_options` sees one state, waits for nobody and may not write.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError

from aggregator.errors import DatabaseError

PATIENCE_S = 30
# What only reads ends after this; the longest reading is of the digests of all shares.
READING_S = 120
# A connection whose other end is gone without a word ends within a minute, whether it waits for an answer or for its own bytes to arrive.
_GONE = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
# Any number will do, as long as no other program takes the same in this database.
_WRITERS = 0x6465_6964
_READING = "registry_reading"


def sqlite(url: URL, *, create: bool) -> Engine:
    """The engine for a SQLite file.

    Args:
        url: with the path of the file.
        create: whether a missing file is made.

    Raises:
        DatabaseError: it is missing and can't be made.
    """
    file = _File(Path(url.database or "").absolute())
    if create:
        file.touch()
    # Without parameters in its errors, since they may end in a log.
    engine = create_engine(url, creator=file.connect, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get(_READING, False)
        connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if reading else 'OFF'}")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    @event.listens_for(engine, "connect")
    def remember(connection: sqlite3.Connection, record: Any) -> None:
        record.info["file"] = file.identity()

    @event.listens_for(engine, "checkout")
    def still_there(connection: sqlite3.Connection, record: Any, proxy: Any) -> None:
        # A connection goes on writing to a file that has no name any more; the pool takes a new one instead.
        if record.info["file"] != file.identity():
            raise DisconnectionError("the file has moved")

    return engine


class _File:
    """A SQLite file. Its connections are to the file that was there first: SQLite would lay the log of one that was lost over
    another that took its name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: tuple[int, int] | None = None

    def touch(self) -> None:
        """Makes it, for its owner only; an empty file is an empty database."""
        try:
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as error:
            raise DatabaseError(
                "a file that can be written",
                received=str(error.strerror),
                advice="check the path and its permissions",
                place=f"registry {self._path.name}",
            ) from error

    def identity(self) -> tuple[int, int] | None:
        """Which file has the name now."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def connect(self) -> sqlite3.Connection:
        """A new connection."""
        found = self.identity()
        # A volume that was mounted again may have another number, but not its files.
        if found and self._first and found[1] != self._first[1]:
            raise sqlite3.OperationalError("a file that was exchanged while this program ran")
        # mode=rw: SQLite would make a missing file anew, and an empty registry accepts every replay.
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            journal = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if journal != "wal":
                raise sqlite3.OperationalError(f"journal mode {journal} in place of wal")
            for pragma in ("synchronous = FULL", "foreign_keys = ON", "recursive_triggers = ON"):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        self._first = self._first or found
        return connection


def postgresql(url: URL) -> Engine:
    """The engine for a PostgreSQL database."""
    engine = create_engine(
        url,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args=dict(_GONE),
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(_READING, False):
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{READING_S * 1000:.0f}ms'")
        else:
            connection.exec_driver_sql(
                f"SET LOCAL lock_timeout = '{PATIENCE_S}s'; SET LOCAL synchronous_commit = on; "
                f"SELECT pg_advisory_xact_lock({_WRITERS})"
            )

    return engine


def reading_options(engine: Engine) -> dict[str, Any]:
    """Execution options for transactions that only read."""
    if engine.dialect.name == "sqlite":
        return {_READING: True}
    return {_READING: True, "isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
