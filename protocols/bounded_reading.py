"""Reads of files that strangers made: no more bytes than there may be."""

from __future__ import annotations

from pathlib import Path

from foundation.os_errors import map_os_errors
from foundation.reading import read_at_most, regular_size
from protocols.errors import BoundsError


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """All bytes of a regular file of at most `max_bytes`.

    Raises:
        BoundsError: the file is larger.
        StorageError: there is no such file, it is no regular file, or it can't be read.
    """
    regular_size(path)
    with map_os_errors(path), path.open("rb") as file:
        data = read_at_most(file, max_bytes + 1)
    if len(data) > max_bytes:
        raise BoundsError(f"at most {max_bytes} bytes", received="more", advice="refuse the file", place=path.name)
    return data
