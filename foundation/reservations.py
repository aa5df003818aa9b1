"""Names that one program has for the file that it is going to write there, from its beginning on.

An empty file has the name, and a lock of the kernel on it says that its program runs. So who comes second is told before it works, not after; no
hard links are asked for, which a stick may not have. An empty file without a lock is what a killed program left, and makes room. Where a file
system knows no locks, that can't be told, and it does not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from foundation.locks import lock


@contextmanager
def reserved(path: Path) -> Iterator[None]:
    """Holds a name while the block runs; the block puts a whole file into the place of the empty one, or nothing stays.

    Raises:
        BlockingIOError: another program has reserved it.
        FileExistsError: something is there.
        OSError: the file can't be made.
    """
    handle = _take(path)
    try:
        yield
    finally:
        with suppress(OSError):
            if is_free(path) and _is_still(handle, path):
                path.unlink()
        os.close(handle)


def is_free(path: Path) -> bool:
    """Whether nothing would be lost if a file took that name: nothing is there, or an empty file."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return True
    return stat.S_ISREG(there.st_mode) and not there.st_size


def _take(path: Path) -> int:
    while True:
        handle, made = _open(path)
        try:
            _lock(handle, path, made=made)
            # Whoever had it before may have removed or replaced it between the opening and the lock.
            if _is_still(handle, path) and is_free(path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _open(path: Path) -> tuple[int, bool]:
    """An empty file of that name, and whether it was made now."""
    while True:
        with suppress(FileExistsError):
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), True
        # Nothing but an empty file is opened: a pipe would keep us waiting.
        if not is_free(path):
            raise FileExistsError(path)
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), False


def _lock(handle: int, path: Path, *, made: bool) -> None:
    try:
        lock(handle, wait=False)
    except BlockingIOError:
        raise
    except OSError as error:
        if not made:
            raise FileExistsError(path) from error


def _is_still(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
