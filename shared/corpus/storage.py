"""Files in and out: whole or not at all, and every failure of the disk as one `StorageError`."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from shared.errors import FormatError, StorageError


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Map what goes wrong while a file is read.

    Raises:
        FormatError: the gzip stream is damaged or cut short.
        StorageError: the file can't be read.
    """
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(
            "expected a whole gzip file, got a damaged or truncated one; copy it again", document=file.name
        ) from error
    except OSError as error:
        raise StorageError(
            f"{file.name}: can't be read ({error.strerror}); check the path and its permissions"
        ) from error


def open_bytes(file: Path) -> IO[bytes]:
    """Open for reading, through gzip where the name says so."""
    if file.name.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(file, "rb"))
    return file.open("rb")


def read_bytes(file: Path) -> bytes:
    with reading(file), open_bytes(file) as stream:
        return stream.read()


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Map what goes wrong while something is written."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{what}: can't be written ({error.strerror}); nothing half-written stays, make room or check permissions"
        ) from error


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is whole and on the disk.

    Raises:
        StorageError: no room, no permission.
    """
    temporary = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.partial")
    with writing(path.name):
        try:
            with temporary.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _sync_folder(path.parent)


def write_bytes(path: Path, data: bytes) -> None:
    with atomic_file(path) as stream:
        stream.write(data)


def _sync_folder(folder: Path) -> None:
    # Without this the rename itself may be lost with the power.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
