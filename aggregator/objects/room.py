"""Whether the disk has room for a bundle and what is made of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from foundation.os_errors import map_os_errors

COPIES = 3
"""Of a bundle, beside the file that came: its object, the copy that is read and what is decrypted from it lie side by side while it is taken in."""
# A disk that is filled to the brim stops everything else too.
_SPARE_BYTES = 256 << 20


def has_room(folder: Path, needed: int) -> bool:
    """Whether so many bytes can come into a folder, and some stay free.

    Raises:
        StorageError: the folder is not there.
    """
    return free_room(folder) >= needed


def free_room(folder: Path) -> int:
    """The bytes that can come into a folder while some stay free; below 0 where too few are free already.

    Raises:
        StorageError: the folder is not there.
    """
    with map_os_errors(folder):
        return shutil.disk_usage(folder).free - _SPARE_BYTES
