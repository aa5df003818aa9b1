"""What is asked of a file that is there: its text, its size, its digest."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors

# Some such files come from strangers, and what is read is held in memory several times over.
_MAX_TEXT_BYTES = 256 << 20


def read_text(path: Path, max_bytes: int = _MAX_TEXT_BYTES) -> str:
    """The text of a small UTF-8 file.

    Args:
        path: the file.
        max_bytes: the most to read.

    Raises:
        StorageError: it can't be read, is larger, or is not UTF-8.
    """
    with map_os_errors(path), path.open("rb") as file:
        data = read_at_most(file, max_bytes + 1)
    if len(data) > max_bytes:
        raise StorageError(f"at most {max_bytes} bytes", received="more", advice="restore the file", place=path.name)
    try:
        # As files of text are read: a line ends with one character.
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()
    except UnicodeDecodeError as error:
        raise StorageError("UTF-8 text", received="other bytes", advice="restore the file", place=path.name) from error


def read_at_most(file: BinaryIO, most_bytes: int) -> bytes:
    """So many bytes of a file, or all that it has if these are fewer.

    To be asked for a bound of a gigabyte, a file asks for the memory of one, however small it is, which a limit on memory refuses.
    """
    size = os.fstat(file.fileno()).st_size
    # What the kernel makes up as it is read has no size. One more shows that a file has grown.
    return file.read(min(most_bytes, size + 1) if size else most_bytes)


def real_path(path: Path) -> Path:
    """Where a path leads, whole and without links; `Path.resolve` fails in its own way where a link leads to itself, this leaves it to who opens it."""
    return Path(os.path.realpath(path))


def regular_size(path: Path) -> int:
    """Bytes of a regular file; a device, a pipe or a folder is refused before anything opens it.

    Raises:
        StorageError: no regular file.
    """
    with map_os_errors(path):
        status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise StorageError("a regular file", received="something else", advice="check the path", place=path.name)
    return status.st_size


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in lower-case hexadecimal, read as a stream.

    Raises:
        StorageError: the file can't be read.
    """
    with map_os_errors(path), path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
