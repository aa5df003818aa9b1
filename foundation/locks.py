"""Locks between processes, of the kernel: it gives them back when the process ends, however it ends.

A module of its own, and one that any system can import: Windows has no `fcntl`, macOS no locks of numbers. Whoever asks for a
lock that the system has not gets an OSError, ENOLCK, and nothing goes on without its lock.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors

_HOLDER = ".holder"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keeps other processes, and other threads, out of a folder whose changes belong together; they wait.

    The kernel gives the lock back when the process ends, however it ends. It is not to be taken twice by one.

    Raises:
        StorageError: there is no such folder, or here are no such locks.
    """
    with map_os_errors(folder):
        posix = _posix()
        handle = os.open(folder, os.O_RDONLY)
    try:
        with map_os_errors(folder):
            lock(handle)
        try:
            yield
        finally:
            # First: whatever becomes of the closing, the lock must not outlive the block.
            posix.flock(handle, posix.LOCK_UN)
    finally:
        os.close(handle)


@contextmanager
def hold_scratch(
    path: Path, left: Callable[[], object] = lambda: None, keeps: Callable[[], bool] = lambda: False
) -> Iterator[Path]:
    """An empty folder that one process has at a time and that goes when the block ends; what a killed one left goes first.

    Nobody waits for it: what fills it may take hours.

    Args:
        path: its name, always the same.
        left: called before that goes which a killed one left.
        keeps: whether what is in it stays for the next who has it; asked when the block ends, however it ends.

    Raises:
        StorageError: another process, or another thread, has it; or it can't be made.
    """
    handle = _open_alone(path)
    try:
        with map_os_errors(path):
            left()
            _clear(path)
            (path / _HOLDER).write_text(str(os.getpid()))
        yield path
    finally:
        try:
            if not keeps():
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(handle)


def lock(handle: int, *, wait: bool = True) -> None:
    """Locks an open file or folder until it is closed.

    Args:
        handle: its descriptor.
        wait: whether to wait for whoever has it.

    Raises:
        BlockingIOError: another has locked it, and nobody waits.
        OSError: here is no such lock.
    """
    posix = _posix()
    posix.flock(handle, posix.LOCK_EX | (0 if wait else posix.LOCK_NB))


def _posix() -> ModuleType:
    try:
        import fcntl
    except ImportError as error:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)) from error
    return fcntl


def _open_alone(folder: Path) -> int:
    """A folder, made where it is missing, open and locked."""
    while True:
        with map_os_errors(folder):
            _posix()
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                # Who made it ahead of us where everybody may write would read, and exchange, what we put there.
                with suppress(FileNotFoundError):
                    if folder.lstat().st_uid != os.geteuid():
                        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM)) from None
            try:
                handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            except FileNotFoundError:
                continue
        try:
            with map_os_errors(folder):
                _lock_or_say_who(handle, folder)
                # Whoever had it before may have removed it between the opening and the lock.
                if _is_still(handle, folder):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _lock_or_say_who(handle: int, folder: Path) -> None:
    try:
        lock(handle, wait=False)
    except BlockingIOError as error:
        holder = "another process"
        with suppress(OSError, ValueError):
            holder = f"process {int((folder / _HOLDER).read_text())}"
        raise StorageError(
            "a folder that no other command is filling",
            received=f"one that {holder} is filling",
            advice="wait until it has ended and repeat",
            place=folder.name,
        ) from error


def _is_still(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _clear(folder: Path) -> None:
    for found in folder.iterdir():
        if found.is_dir() and not found.is_symlink():
            shutil.rmtree(found)
        else:
            found.unlink()


@contextmanager
def lock_number(file: Path, number: int, *, wait: bool = True) -> Iterator[bool]:
    """Keeps other processes, and other threads, from what has the same number; one file serves for all numbers.

    Args:
        file: made where it is missing, and left there.
        number: at least 0.
        wait: whether to wait until nobody else has it; else the block is entered without.

    Yields:
        whether the block has it.

    Raises:
        StorageError: the file can't be made, or here are no such locks: only Linux has them.
    """
    with map_os_errors(file):
        posix = _posix()
        if not hasattr(posix, "F_OFD_SETLK"):
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # A lock of the open file: other locks of a range belong to the process, and threads would share it.
        asked = struct.pack("hhqqi4x", posix.F_WRLCK, os.SEEK_SET, number, 1, 0)
        with map_os_errors(file):
            try:
                posix.fcntl(handle, posix.F_OFD_SETLKW if wait else posix.F_OFD_SETLK, asked)
                held = True
            except BlockingIOError:
                held = False
        yield held
    finally:
        os.close(handle)
