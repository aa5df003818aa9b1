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

from foundation.os_errors import storage_error
from shared.errors import FormatError

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


def _is_compressed(file: Path) -> bool:
    return file.name.lower().endswith(".gz")
