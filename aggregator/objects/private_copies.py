"""Objects are handed out as copies: what lies in a store may be exchanged after it was verified, while a training reads it for hours."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from aggregator.objects.staging import opening_folder
from foundation.os_errors import map_os_errors


class PrivateCopies(ABC):
    """Both ways of reading a store.

    Args:
        scratch: folder for what is being read, which `aggregator.objects.staging.sweep` cleans up behind a killed process.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch

    def open(self, sha256: str) -> BinaryIO:
        """The verified object, open for reading; see ObjectStore."""
        # On the disk of the workspace, for which `has_room` looks: the system's folder for such files may be small, and in memory.
        with map_os_errors(self._scratch):
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115
        try:
            self._copy(sha256, file)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    @contextmanager
    def local(self, sha256: str) -> Iterator[Path]:
        """The verified object as a file; see ObjectStore."""
        with self.all_local([sha256]) as (path,):
            yield path

    @contextmanager
    def all_local(self, digests: Sequence[str]) -> Iterator[list[Path]]:
        """Verified objects as files; see ObjectStore."""
        # One folder, which costs one open file: a pool may have more shares than a process may have files.
        with opening_folder(self._scratch) as folder:
            paths = [folder / str(number) for number in range(len(digests))]
            for path, sha256 in zip(paths, digests, strict=True):
                with map_os_errors(path), path.open("x+b") as file:
                    self._copy(sha256, file)
            yield paths

    @abstractmethod
    def _copy(self, sha256: str, file: IO[bytes]) -> None:
        """Writes the bytes of an object into an empty file, and verifies them there or on the way; raises as `ObjectStore.open`."""
