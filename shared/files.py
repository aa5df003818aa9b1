"""Files that are whole or absent: written under a temporary name, flushed to the disk, then renamed into place.

Every failure of the operating system, a full disk above all, becomes a StorageError that names the file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.errors import StorageError


def storage_error(path: Path, error: OSError) -> StorageError:
    """The StorageError for a failure at `path`."""
    return StorageError(f"{path}: {error.strerror or type(error).__name__}; free some space or check the path and its permissions")


def read_text(path: Path) -> str:
    """The text of a small UTF-8 file.

    Raises:
        StorageError: it can't be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise storage_error(path, error) from error
    except UnicodeDecodeError as error:
        raise StorageError(f"{path}: expected UTF-8 text, got other bytes; restore the file") from error


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a whole file or nothing.

    Raises:
        StorageError: the disk is full or the folder can't be written; no part of the file stays.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise storage_error(path, error) from error


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text, in UTF-8."""
    write_bytes(path, content.encode("utf-8"))


@contextmanager
def new_folder(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """A folder to fill that becomes `path` when the block ends well, and is removed when it does not.

    Args:
        path: where it goes.
        replace: whether a folder that is there already makes room.

    Raises:
        StorageError: the folder can't be made or moved into place, or is there already.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        staged.chmod(0o755)
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        yield staged
        if replace and path.exists():
            old = staged.with_name(staged.name + ".old")
            os.rename(path, old)
            os.rename(staged, path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(staged, path)
    except OSError as error:
        raise storage_error(path, error) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)
