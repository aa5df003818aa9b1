"""Folders as one file each: git keeps neither empty folders nor the rights of private keys."""

from __future__ import annotations

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

_PRIVATE = (".pem", ".key")
_DATABASE = ".sqlite"
# What SQLite keeps beside a database that is open.
_BESIDE = ("-wal", "-shm")


def pack(folder: Path, archive: Path) -> None:
    """Packs a folder; the same files give the same bytes."""
    for database in folder.rglob(f"*{_DATABASE}"):
        _settle(database)
    with tarfile.open(archive, "w:xz", preset=9, format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            if not path.name.endswith(_BESIDE):
                tar.add(path, path.relative_to(folder).as_posix(), recursive=False, filter=_anonymous)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpacks what `pack` packed into a new folder, and returns it."""
    folder.mkdir(parents=True)
    with tarfile.open(archive, "r:xz") as tar:
        tar.extractall(folder, filter="data")
    for path in folder.rglob("*"):
        if path.suffix in _PRIVATE:
            path.parent.chmod(0o700)
            path.chmod(0o600)
    return folder


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _settle(database: Path) -> None:
    """Brings all that was committed into the one file."""
    with closing(sqlite3.connect(database)) as connection:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise RuntimeError(f"{database.name}: expected a database that nobody writes to, found one in use")
