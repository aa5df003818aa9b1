"""Locks between processes. A module of its own, since `fcntl` is not there on every system."""

from __future__ import annotations

import fcntl
import os
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
