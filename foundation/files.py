"""Files that appear whole or not at all.

A file is written under a temporary name in its own folder, flushed to the disk, and renamed. Whatever goes wrong before the
rename removes the temporary file, so that nothing half-written stays.

A file is its owner's alone unless its writer says otherwise: a forgotten argument must not show a key or a note to others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from foundation.leftovers import make_temporary
from foundation.os_errors import map_os_errors

_OWNER_ONLY, _AS_UMASK_SAYS = 0o600, 0o666


@contextmanager
def stage_file(path: Path, *, private: bool = True) -> Iterator[Path]:
    """A temporary name beside `path` that becomes `path` when the block ends well, and vanishes otherwise.

    An empty file is there under the name, with the rights that `path` will have; the block fills it and closes it. Errors
    of the block pass through as they are: they may be about other files. What is left where the program is killed, the next
    one that writes into the folder removes.

    Args:
        path: where the file goes; one that is there is replaced.
        private: whether its owner alone may read it; else the umask decides.

    Raises:
        StorageError: the disk is full, or the folder can't be written.
    """
    mode = _OWNER_ONLY if private else _AS_UMASK_SAYS
    with map_os_errors(path):
        temporary, handle = make_temporary(path, lambda name: os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield temporary
        with map_os_errors(path):
            flush(temporary)
            os.replace(temporary, path)
            flush(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        with suppress(OSError):
            os.close(handle)


@contextmanager
def atomic_file(path: Path, *, private: bool = True) -> Iterator[IO[bytes]]:
    """A file, open for writing, that appears under its name only when it is whole and on the disk.

    Args:
        path: where it goes.
        private: as for `stage_file`.

    Raises:
        StorageError: no room, no permission; also for whatever else the operating system says in the block.
    """
    with stage_file(path, private=private) as temporary, map_os_errors(path), temporary.open("wb") as stream:
        yield stream


def write_bytes(path: Path, data: bytes, *, private: bool = True) -> None:
    """Writes `data` to `path`, whole or not at all.

    Args:
        path: where the file goes; one that is there is replaced.
        data: all of it.
        private: as for `stage_file`.

    Raises:
        StorageError: the disk is full, or the folder can't be written.
    """
    with atomic_file(path, private=private) as stream:
        stream.write(data)


def write_text(path: Path, text: str, *, private: bool = True) -> None:
    """`write_bytes` for text, in UTF-8."""
    write_bytes(path, text.encode("utf-8"), private=private)


def flush(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk: a rename may survive a loss of power that they do not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_private(path: str, flags: int) -> int:
    """An `opener` for `open`: what it makes is its owner's alone."""
    return os.open(path, flags, _OWNER_ONLY)
