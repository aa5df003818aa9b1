"""Files of notes, through gzip where their names say so; every failure of the disk is one `StorageError`."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, cast

from foundation.errors import StorageError
from foundation.os_errors import storage_error
from shared.errors import CorpusError, FormatError

_CHUNK_BYTES = 1 << 16


@contextmanager
def map_reading_errors(file: Path) -> Iterator[None]:
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
        raise storage_error(file, error) from error


@contextmanager
def reading(file: Path) -> Iterator[IO[bytes]]:
    """A file of many notes, open for reading as `open_bytes` does; it may be read for hours, and stays the same for as long.

    A file that is written anew meanwhile ends early, between two notes: those behind it would be lost without a word.

    Raises:
        FormatError, StorageError: as for `map_reading_errors`, or somebody has written into it since it was opened.
    """
    with map_reading_errors(file), open_bytes(file) as stream:
        began = _written(stream)
        try:
            with map_reading_errors(file):
                yield stream
        except CorpusError as error:
            _require_unchanged(file, stream, began, error)
            raise
        _require_unchanged(file, stream, began, None)


def open_bytes(file: Path) -> IO[bytes]:
    """Open for reading, through gzip where the name says so."""
    if _is_compressed(file):
        return cast("IO[bytes]", gzip.open(file, "rb"))
    return file.open("rb")


def read_bytes(file: Path) -> bytes:
    """A whole file, through gzip where the name says so."""
    with map_reading_errors(file):
        if _is_compressed(file):
            with open_bytes(file) as stream:
                return stream.read()
        # Notes are many and small: a stream around each, and what it asks about its file, would double the time.
        descriptor = os.open(file, os.O_RDONLY)
        try:
            return b"".join(iter(partial(os.read, descriptor, _CHUNK_BYTES), b""))
        finally:
            os.close(descriptor)


def _written(stream: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def _require_unchanged(file: Path, stream: IO[bytes], began: tuple[int, int], cause: CorpusError | None) -> None:
    if _written(stream) != began:
        raise StorageError(
            "a file that nobody writes while it is read",
            received="one that has changed since",
            advice="wait until it is whole, or copy it, and repeat",
            place=file.name,
        ) from cause


def _is_compressed(file: Path) -> bool:
    return file.name.lower().endswith(".gz")
