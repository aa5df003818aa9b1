"""Files with private keys: for their owner alone, and never one over another."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import write_bytes
from protocols.bounded_reading import read_bounded


def read_secret(path: Path, max_bytes: int) -> bytes:
    """`read_bounded` for a file that only its owner may read.

    Raises:
        StorageError: others may read it too.
        BoundsError, StorageError: as `read_bounded`.
    """
    data = read_bounded(path, max_bytes)
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise StorageError(
            "a private key that only its owner can read",
            received="wider rights",
            advice=f"run chmod 600 {path.name}, and replace the key if others could read it",
            place=path.name,
        )
    return data


def write_secret(path: Path, data: bytes) -> None:
    """`write_bytes` for a file that only its owner may read, never over another file.

    Raises:
        StorageError: the file exists or can't be written.
    """
    if path.exists():
        raise StorageError(
            "a new file", received="one that exists", advice="move the old key away first", place=path.name
        )
    write_bytes(path, data)
