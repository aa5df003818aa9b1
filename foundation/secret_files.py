"""Secrets that a program makes by itself on first use: random bytes in a file that its owner alone may read."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import flush, write_bytes
from foundation.os_errors import map_os_errors

SECRET_BYTES = 32


def read_secret(path: Path) -> bytes:
    """The secret in a file, made now where there is none; of two who make it at once the first wins, so that all use the same.

    Raises:
        StorageError: it is damaged, others than its owner may read it, or it can be neither read nor made.
    """
    if not path.exists():
        make_secret(path, secrets.token_bytes(SECRET_BYTES))
    return read_kept_secret(path)


def read_kept_secret(path: Path) -> bytes:
    """The secret in a file that is there; none is made.

    Raises:
        StorageError: it is damaged, others than its owner may read it, or it can't be read.
    """
    with map_os_errors(path), path.open("rb") as file:
        rights, secret = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read(SECRET_BYTES + 1)
    if os.name == "posix" and rights & 0o077:
        raise StorageError(
            "a file that only its owner can read",
            received="wider rights",
            advice=f"run chmod 600 {path.name}",
            place=path.name,
        )
    if len(secret) != SECRET_BYTES:
        raise StorageError(
            f"{SECRET_BYTES} bytes",
            received="fewer or more",
            advice="restore the file from a backup",
            place=path.name,
        )
    return secret


def make_secret(path: Path, content: bytes) -> None:
    """Writes a secret that appears whole under its name, for its owner alone; where one is there already it stays.

    Raises:
        StorageError: it can't be made.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        write_bytes(draft, content)
        with map_os_errors(path), suppress(FileExistsError):
            os.link(draft, path)
            # What is made with it must not outlive it.
            flush(path.parent)
    finally:
        with map_os_errors(draft):
            draft.unlink(missing_ok=True)
