"""The version of a database: made and changed by the migrations in this package, and by nothing else."""

from __future__ import annotations

import threading
from functools import cache

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from aggregator.errors import WorkspaceError

# Alembic keeps the migration that runs in global variables.
_ONE_AT_A_TIME = threading.Lock()


def bring_up_to_date(engine: Engine, reader: Engine, name: str, *, create: bool) -> None:
    """Runs the migrations that a database lacks, all or none.

    Args:
        engine: whose transactions are the only writer.
        reader: the same for reading.
        name: of the database, for messages.
        create: whether an empty database may become a registry.

    Raises:
        WorkspaceError: the database was made by a later version, or is empty and may not be.
    """
    config = _config()
    script = _migrations()
    with reader.connect() as connection:
        if _version(connection) == script.get_current_head():
            return
    with _ONE_AT_A_TIME, engine.begin() as connection:
        # Another process may have been faster; looked at again, now as the only writer.
        version = _version(connection)
        if version is None and not create:
            raise WorkspaceError(
                f"registry {name}: expected a registry, found an empty database; restore it from a backup"
            )
        if version is not None and version not in {one.revision for one in script.walk_revisions()}:
            raise WorkspaceError(
                f"registry {name}: expected version {script.get_current_head()} or earlier, got {version}; "
                "update this program to the one that made it"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "aggregator.registry:migrations")
    config.set_main_option("path_separator", "os")
    return config


@cache
def _migrations() -> ScriptDirectory:
    """Those of this version, which are read and compiled once a process."""
    return ScriptDirectory.from_config(_config())


def _version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()
