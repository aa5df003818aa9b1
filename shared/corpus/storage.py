"""Files in and out: whole or not at all, and every failure of the disk as one `StorageError`."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
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
