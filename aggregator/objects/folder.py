"""Objects in a folder: each comes into being by one rename, so a crash before it leaves nothing that counts."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from aggregator.objects.private_copies import PrivateCopies
from aggregator.objects.store import digest_in, file_chunks, missing_object, object_name, verify_chunks
from foundation.files import flush, stage_file
from foundation.os_errors import map_os_errors

_ABANDONED_S = 24 * 3600
_OTHERS = 0o077
# Of linux/fs.h: XFS and Btrfs know it.
_FICLONE = 0x40049409


class FolderStore(PrivateCopies):
    """A store in a folder.

    Args:
        root: the folder; made with the first object, its owner's alone like all in it.
        scratch: as for `PrivateCopies`; a file system that has both can let a copy share the blocks of the object.
    """

    def __init__(self, root: Path, scratch: Path) -> None:
        super().__init__(scratch)
        self._root = root

    def put(self, path: Path, sha256: str) -> None:
        """Keeps the bytes of a file; see ObjectStore."""
        target = self._root / object_name(sha256)
        with map_os_errors(path), path.open("rb") as source:
            with map_os_errors(target):
                for folder in (self._root, target.parent):
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    _close_to_others(folder)
                    flush(folder.parent)
            # Over an object that is there too: whatever happened to its bytes, afterwards they are right.
            with stage_file(target) as temporary, map_os_errors(target), temporary.open("wb") as copy:
                copy.writelines(verify_chunks(file_chunks(source, path), sha256))

    def exists(self, sha256: str) -> bool:
        """Whether it is there."""
        path = self._root / object_name(sha256)
        with map_os_errors(path):
            return path.is_file()

    def digests(self) -> Iterator[str]:
        """Of all objects that are there."""
        with map_os_errors(self._root):
            names = [str(path.relative_to(self._root)) for path in self._root.glob("??/*")]
        yield from filter(None, map(digest_in, names))

    def delete(self, sha256: str) -> None:
        """Removes it; one that is not there stays so."""
        path = self._root / object_name(sha256)
        with map_os_errors(path):
            if path.exists():
                path.unlink(missing_ok=True)
                flush(path.parent)

    def tidy(self) -> int:
        """Removes what an interrupted writing left, and closes the folders that an earlier version left open; see ObjectStore."""
        removed = 0
        with map_os_errors(self._root):
            for folder in (self._root, *self._root.glob("[0-9a-f]" * 2)):
                if folder.is_dir():
                    _close_to_others(folder)
            for path in self._root.glob("??/.*.partial"):
                # Anything younger may be the file of a writer that is at work.
                if path.stat().st_mtime < time.time() - _ABANDONED_S:
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed

    def _copy(self, sha256: str, file: IO[bytes]) -> None:
        path = self._root / object_name(sha256)
        with map_os_errors(path):
            try:
                source = path.open("rb")
            except FileNotFoundError as error:
                raise missing_object(sha256) from error
            with source:
                if _share_blocks(source, file):
                    # What is verified is the copy: the object may change under both readings.
                    for _ in verify_chunks(file_chunks(file, path), sha256):
                        pass
                else:
                    file.writelines(verify_chunks(file_chunks(source, path), sha256))
                    file.flush()


def _close_to_others(folder: Path) -> None:
    """Lets nobody but its owner into a folder; one of another account is not ours to close."""
    status = folder.stat()
    if status.st_mode & _OTHERS and status.st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)


def _share_blocks(source: IO[bytes], copy: IO[bytes]) -> bool:
    """Makes an empty file a copy that takes no room, until one of the two changes; whether the file system can."""
    try:
        fcntl.ioctl(copy, _FICLONE, source.fileno())
    except OSError:
        return False
    return True
