"""Files that are whole or absent: written under a temporary name, flushed to the disk, then renamed into place.

Every failure of the operating system, a full disk above all, becomes a StorageError that names the file.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from shared.errors import StorageError


def storage_error(path: Path, error: OSError) -> StorageError:
    """The StorageError for a failure at `path`."""
    return StorageError(
        f"{path}: {error.strerror or type(error).__name__}; free some space or check the path and its permissions"
    )


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


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`; what is written there takes the place of `path` at the end, or nothing does.

    Raises:
        StorageError: the file can't be written, such as on a full disk.
    """
    draft = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.partial")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise storage_error(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file, open for writing, that appears under its name only when it is whole and on the disk.

    Raises:
        StorageError: no room, no permission.
    """
    with replaced(path) as draft, draft.open("xb") as stream:
        yield stream


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file or nothing.

    Raises:
        StorageError: the disk is full or the folder can't be written; no part of the file stays.
    """
    with atomic_file(path) as stream:
        stream.write(content)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk: a rename may survive a loss of power that they do not."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
        for made in (*staged.rglob("*"), staged):
            _sync(made)
        if replace and path.exists():
            _exchange(staged, path)
        else:
            os.rename(staged, path)
    except OSError as error:
        raise storage_error(path, error) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)


@contextmanager
def new_tree(root: Path, folders: tuple[str, ...]) -> Iterator[None]:
    """Folders below `root` to fill; if the block fails, `root` is again as it was.

    Args:
        root: may be there, with other things in it.
        folders: names; those that are there already are neither touched nor removed.

    Raises:
        StorageError: a folder can't be made.
    """
    made: list[Path] = []
    before = set(root.iterdir()) if root.is_dir() else set()
    try:
        for folder in (root, *(root / name for name in folders)):
            if not folder.is_dir():
                folder.mkdir(parents=True)
                made.append(folder)
        yield
    except BaseException as error:
        for folder in reversed(made):
            shutil.rmtree(folder, ignore_errors=True)
        if root.is_dir():
            for path in set(root.iterdir()) - before:
                path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise storage_error(root, error) from error
        raise


def _exchange(staged: Path, path: Path) -> None:
    """Put one folder into the place of another, which stays if that fails."""
    old = staged.with_name(staged.name + ".old")
    os.rename(path, old)
    try:
        os.rename(staged, path)
    except BaseException:
        os.rename(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)
