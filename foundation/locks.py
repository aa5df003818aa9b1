"""Locks between processes. A module of its own, since `fcntl` is not there on every system."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundation.os_errors import map_os_errors


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keeps other processes, and other threads, out of a folder whose changes belong together; they wait.

    The kernel gives the lock back when the process ends, however it ends. It is not to be taken twice by one.

    Raises:
        StorageError: there is no such folder.
    """
    with map_os_errors(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        with map_os_errors(folder):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        # First: whatever becomes of the closing, the lock must not outlive the block.
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


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
        StorageError: the file can't be made.
    """
    with map_os_errors(file):
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # A lock of the open file: other locks of a range belong to the process, and threads would share it.
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0)
        try:
            fcntl.fcntl(handle, fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK, asked)
            held = True
        except BlockingIOError:
            held = False
        yield held
    finally:
        os.close(handle)
