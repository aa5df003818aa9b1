"""Folders that are made whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundation.files import flush
from foundation.os_errors import map_os_errors, storage_error


@contextmanager
def new_folder(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """A folder to fill that becomes `path` when the block ends well, and is removed when it does not.

    Everybody may look into it; its files have the rights that the block gives them.

    Args:
        path: where it goes.
        replace: whether a folder that is there already makes room.

    Raises:
        StorageError: the folder can't be made or moved into place, or is there already.
    """
    with map_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        staged.chmod(0o755)
    try:
        with map_os_errors(path):
            yield staged
            for made in (*staged.rglob("*"), staged):
                flush(made)
            if replace and path.exists():
                _exchange(staged, path)
            else:
                os.rename(staged, path)
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
