"""Folders for what is being opened, which vanish when the work is done; and what a killed process left is known and removed.

A folder belongs to the process that holds the lock on it. The kernel gives the lock back when that process ends, however it
ends, so a folder whose lock is free is nobody's. Locks work between containers that share the disk, unlike process ids.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundation.locks import lock, lock_folder
from foundation.os_errors import map_os_errors


@contextmanager
def opening_folder(staging: Path) -> Iterator[Path]:
    """A folder below `staging`, for its owner only, that is removed with all that is in it when the block ends.

    Raises:
        StorageError: it can't be made.
    """
    with map_os_errors(staging):
        staging.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Under the lock of the parent, so that none is taken for abandoned between its making and its locking.
        with lock_folder(staging):
            folder = Path(tempfile.mkdtemp(dir=staging))
            handle = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def sweep(staging: Path) -> int:
    """Removes what killed processes left; returns how many folders.

    Raises:
        StorageError: one can't be removed.
    """
    if not staging.exists():
        return 0
    swept = 0
    with map_os_errors(staging), lock_folder(staging):
        for folder in staging.iterdir():
            try:
                handle = _locked(folder, wait=False)
            except OSError:
                # In use, gone, or not ours: another user's, or a file that somebody put here.
                continue
            try:
                shutil.rmtree(folder)
                swept += 1
            finally:
                os.close(handle)
    return swept


def _locked(folder: Path, *, wait: bool = True) -> int:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        lock(handle, wait=wait)
    except BaseException:
        os.close(handle)
        raise
    return handle
