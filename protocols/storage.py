"""Files that appear whole or not at all, reads that are bounded, and digests of streams.

A file is written under a temporary name in its own folder, flushed to the disk, and renamed. Whatever goes wrong
before the rename removes the temporary file, so that nothing half-written stays. Every OSError becomes a
`StorageError` here, at the boundary.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from protocols.errors import BoundsError, StorageError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def storage_error(error: OSError, path: Path) -> StorageError:
    """The `StorageError` that says what `error` means for `path`, and what to do."""
    if error.errno in _FULL:
        return StorageError(
            "room for the file", received="a full disk", advice="free some space and repeat", place=path.name
        )
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return StorageError(
        "a file that can be read and written", received=reason, advice="check the path and its rights", place=path.name
    )


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Turns an OSError of the block into a `StorageError` about `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes, and other threads, out of a folder whose changes belong together; they wait.

    The kernel gives the lock back when the process ends, however it ends. It is not to be taken twice by one.

    Raises:
        StorageError: there is no such folder.
    """
    with mapped(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        with mapped(folder):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        # First: whatever becomes of the closing, the lock must not outlive the block.
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that becomes `path` when the block ends well, and vanishes otherwise.

    The file is readable by its owner alone. The block must leave a file under the name, closed. Errors of the block
    pass through as they are: they may be about other files.

    Raises:
        StorageError: the disk is full, or the folder can't be written.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}.partial"
    try:
        with mapped(path):
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield temporary
        with mapped(path):
            flush(temporary)
            os.replace(temporary, path)
            flush(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Writes `data` to `path`, whole or not at all.

    Raises:
        StorageError: the disk is full, or the folder can't be written.
    """
    with staged(path) as temporary, mapped(path):
        temporary.write_bytes(data)


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """All bytes of a regular file of at most `max_bytes`.

    Raises:
        BoundsError: the file is larger.
        StorageError: there is no such file, it is no regular file, or it can't be read.
    """
    regular_size(path)
    with mapped(path), path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise BoundsError(f"at most {max_bytes} bytes", received="more", advice="refuse the file", place=path.name)
    return data


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
    """`write_whole` for a file that only its owner may read, never over another file.

    Raises:
        StorageError: the file exists or can't be written.
    """
    if path.exists():
        raise StorageError(
            "a new file", received="one that exists", advice="move the old key away first", place=path.name
        )
    write_whole(path, data)


def regular_size(path: Path) -> int:
    """Bytes of a regular file; a device, a pipe or a folder is refused before anything opens it.

    Raises:
        StorageError: no regular file.
    """
    with mapped(path):
        status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise StorageError("a regular file", received="something else", advice="check the path", place=path.name)
    return status.st_size


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in lower-case hexadecimal, read as a stream.

    Raises:
        StorageError: the file can't be read.
    """
    with mapped(path), path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
