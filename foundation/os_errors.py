"""What the operating system says about a file, as a `StorageError`."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundation.errors import StorageError

MORE_MEMORY = "raise its limit (`ulimit -v`, or that of its container or job)"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def shortage(error: OSError, path: Path) -> StorageError | None:
    """The `StorageError` for what this process has no more of, whatever it was about to do with `path`; None for any other error."""
    reason, place = os.strerror(error.errno or 0), path.name or str(path)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return StorageError(
            "one more file that can be open",
            received=reason,
            advice="raise the limit (`ulimit -n`), or end other programs, and repeat",
            place=place,
        )
    if error.errno == errno.ENOMEM:
        return StorageError("memory to work with it", received=reason, advice=f"{MORE_MEMORY}, and repeat", place=place)
    return None


def storage_error(path: Path, error: OSError) -> StorageError:
    """The `StorageError` that says what `error` means for `path`, and what to do.

    It gives the last part of the path only: messages about shares are read outside the house as well.
    """
    # Its own text may hold whole paths, or what a library thinks of the file.
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    place = path.name or str(path)
    if error.errno in _FULL:
        return StorageError(
            "room for the file", received=f"a full disk ({reason})", advice="free some space and repeat", place=place
        )
    if (short := shortage(error, path)) is not None:
        return short
    if error.errno == errno.ENOLCK:
        return StorageError(
            "a system and a disk that have file locks",
            received=reason,
            advice="use a local disk on Linux or macOS (a provider: on Linux), on Windows inside WSL 2",
            place=place,
        )
    if error.errno == errno.ENOENT and not path.parent.is_dir():
        return StorageError(
            "a folder that it lies in",
            received=reason,
            advice="check the path, and make the folder where it is missing",
            place=place,
        )
    return StorageError(
        "a file or folder that can be read and written",
        received=reason,
        advice="check the path and its permissions",
        place=place,
    )


@contextmanager
def map_os_errors(path: Path) -> Iterator[None]:
    """Turns an OSError of the block into a `StorageError` about `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error
