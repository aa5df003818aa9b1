"""What is being written, and how it is told from what a killed program left behind.

Whatever is being written has a temporary name, and its writer holds a lock of the kernel on it, which ends with the
process, however that ends. So what has such a name and no lock is a leftover, and the next program that writes into the
folder removes it. Where a file system knows no locks, nothing is removed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from foundation.locks import lock

# So many characters of a name leave room for the rest of the temporary one, whatever alphabet they are of.
NAME_CHARACTERS = 50
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.partial", re.DOTALL)
# Folders that this process has looked through: a folder of many notes is listed once, not for every note.
_swept: set[str] = set()


def make_temporary(path: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Something new under a temporary name beside `path`, which no other program takes for a leftover.

    Args:
        path: what it will become.
        make: makes it under a name, and opens it.

    Returns:
        its name, and the open descriptor that holds it until it is closed.

    Raises:
        OSError: it can't be made.
    """
    sweep_leftovers(path.parent)
    while True:
        temporary = path.parent / f".{path.name[:NAME_CHARACTERS]}.{secrets.token_hex(8)}.partial"
        handle = make(temporary)
        if _take_lock(handle) and os.path.lexists(temporary):
            return temporary, handle
        # Another program took it for a leftover before it was locked.
        os.close(handle)


def is_held(path: Path) -> bool:
    """Whether a program that runs is writing what has this temporary name, or it can't be told."""
    try:
        handle = _open(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        lock(handle, wait=False)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def sweep_leftovers(folder: Path) -> None:
    """Removes what killed programs left half-written in a folder, when this process first writes there.

    What can't be looked at or removed stays: it is in nobody's way.
    """
    name = os.path.abspath(folder)
    if name in _swept:
        return
    _swept.add(name)
    with suppress(OSError), os.scandir(folder) as entries:
        for found in [Path(entry.path) for entry in entries if _TEMPORARY.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_left(found)


def _remove_if_left(path: Path) -> None:
    handle = _open(path)
    try:
        lock(handle, wait=False)
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(mode):
            path.unlink()
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    # A link is nothing that we wrote, and a pipe must not keep anybody waiting.
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def _take_lock(handle: int) -> bool:
    try:
        lock(handle, wait=False)
    except BlockingIOError:
        return False
    except OSError:
        # No locks here: then nobody finds a leftover either.
        pass
    return True
