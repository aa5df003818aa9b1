"""What is asked of a file that is there: its text, its size, its digest."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors


def read_text(path: Path) -> str:
    """The text of a small UTF-8 file.

    Raises:
        StorageError: it can't be read, or is not UTF-8.
    """
    try:
        with map_os_errors(path):
            return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StorageError("UTF-8 text", received="other bytes", advice="restore the file", place=path.name) from error


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
