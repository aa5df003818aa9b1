"""Folders that are made whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import flush
from foundation.leftovers import NAME_CHARACTERS, is_held, make_temporary
from foundation.os_errors import map_os_errors, storage_error
from foundation.reservations import reserved

_OWNER_ONLY, _EVERYBODY = 0o700, 0o755
_OLD = ".old"


@contextmanager
def new_folder(path: Path, *, replace: bool = True, private: bool = False) -> Iterator[Path]:
    """A folder to fill that becomes `path` when the block ends well, and is removed when it does not.

    What is left where the program is killed, the next one that writes beside it removes, or puts back.

    Args:
        path: where it goes.
        replace: whether a folder that is there already makes room; if not, only one program at a time fills one of that name.
        private: whether its owner alone may look into it; its files have the rights that the block gives them.

    Raises:
        StorageError: the folder can't be made or moved into place, or is there already, or another program is filling it.
    """
    if not replace:
        _require_replaceable(path)
    with map_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext() if replace else _alone(path), _staged(path, replace=replace, private=private) as staged:
        yield staged


@contextmanager
def _staged(path: Path, *, replace: bool, private: bool) -> Iterator[Path]:
    with map_os_errors(path):
        _settle_exchanges(path)
        staged, handle = make_temporary(path, _make_folder)
        staged.chmod(_OWNER_ONLY if private else _EVERYBODY)
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
        os.close(handle)
        _remove_by_names(staged)


def _remove_by_names(folder: Path) -> None:
    """Removes what is left of a folder of ours where this process may open hardly a file more, which `rmtree` needs several for."""
    for place, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with suppress(OSError):
                os.unlink(os.path.join(place, name))
        for name in folders:
            with suppress(OSError):
                os.rmdir(os.path.join(place, name))
    with suppress(OSError):
        folder.rmdir()


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


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Holds the name of a folder while it is filled, so that who comes second is told before the work: both would be moved to one place."""
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    # As any other temporary name, so that what a killed program leaves of it goes like the rest.
    holder = path.with_name(f".{path.name[:NAME_CHARACTERS]}.{digest}.partial")
    with ExitStack() as held:
        try:
            held.enter_context(reserved(holder))
        except BlockingIOError as error:
            raise StorageError(
                "a folder that no other command is filling",
                received="one that another process is filling",
                advice="choose another name, or wait until it has ended",
                place=path.name,
            ) from error
        except FileExistsError:
            # A disk without locks: whether somebody still holds the name is not known here, and who comes second is told at the end.
            pass
        except OSError as error:
            raise storage_error(path, error) from error
        _require_empty(path)
        yield


def _require_empty(path: Path) -> None:
    with map_os_errors(path):
        filled = path.is_dir() and any(path.iterdir())
    if filled:
        raise StorageError(
            "a new folder",
            received="one with files in it",
            advice="choose another name",
            place=path.name,
        )


def _require_replaceable(path: Path) -> None:
    """Told before the block works for hours: an empty folder makes room when it ends, and these look like one."""
    received = ""
    with map_os_errors(path):
        if path.is_symlink() or os.path.ismount(path):
            received = "a link, or a place where a disk is mounted"
        elif path.exists() and path.samefile(os.curdir):
            received = "the folder in which this command runs"
    if received:
        raise StorageError(
            "a new folder",
            received=f"{received}, which no folder can replace",
            advice="name a new folder within it",
            place=path.name or str(path),
        )


def _exchange(staged: Path, path: Path) -> None:
    """Put one folder into the place of another, which stays if that fails."""
    old = staged.with_name(staged.name + _OLD)
    os.rename(path, old)
    try:
        os.rename(staged, path)
    except BaseException:
        os.rename(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _settle_exchanges(path: Path) -> None:
    """What a program left that was killed between the two renames: the old folder goes back, or goes if a new one is there."""
    if len(path.name) > NAME_CHARACTERS:
        return  # The temporary name does not tell whose it is.
    of_path = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.partial{re.escape(_OLD)}")
    for name in filter(of_path.fullmatch, os.listdir(path.parent)):
        old, staged = path.with_name(name), path.with_name(name.removesuffix(_OLD))
        if is_held(staged):
            continue
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(old, path)


def _make_folder(path: Path) -> int:
    path.mkdir(mode=_OWNER_ONLY)
    return os.open(path, os.O_RDONLY)
