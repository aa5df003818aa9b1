"""What was ever said of the notes of a review: a file to which lines are only added, each on the disk before it counts.

A line is `DIGEST JSON` and its line end; the digest is of the line before it and of the JSON, so that a line that was changed, lost or put in between
shows. Lines hold offsets, categories and numbers of notes; no text.

A program that is killed while it writes leaves a line without its end: nobody was told that it is saved, and it is dropped. A line WITH its end that
is not as it was written is damage, and nothing goes on before a person has decided: what it said is a correction that somebody made.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from foundation.files import flush
from foundation.locks import lock
from foundation.os_errors import map_os_errors
from site_client.errors import ReviewError

NAME = "journal"
_DIGEST_BYTES = 16
_HEX = 2 * _DIGEST_BYTES
_FIRST = b"\0" * _DIGEST_BYTES


class Journal:
    """The journal of a folder, for one process at a time.

    Args:
        folder: of the project; the file is made where it is missing.

    Raises:
        ReviewError: another process has it.
        StorageError: it can't be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        with map_os_errors(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            # Open for as long as the review is: its lock goes with it.
            self._file: BinaryIO = open(descriptor, "r+b", buffering=0)  # noqa: SIM115
            try:
                lock(descriptor, wait=False)
            except BlockingIOError:
                self._file.close()
                raise ReviewError(
                    f"{folder.name}: expected a review that no other program has open, found one; close that one, or give another --project"
                ) from None
            flush(folder)
            self._size = os.fstat(descriptor).st_size
        self._end, self._last = 0, _FIRST

    def read(self) -> Iterator[dict[str, object]]:
        """Every line, in their order. To be read to its end before anything is added.

        Raises:
            ReviewError: a whole line is damaged; the error names it.
        """
        with map_os_errors(self.path):
            self._file.seek(0)
            data = self._file.read()
        self._size = len(data)
        end, last, number = 0, _FIRST, 0
        while (stop := data.find(b"\n", end)) >= 0:
            number += 1
            value, last = self._parsed(data[end:stop], last, number)
            end = stop + 1
            self._end, self._last = end, last
            yield value

    def add(self, *values: Mapping[str, object]) -> None:
        """Add lines; when this returns they are on the disk.

        Raises:
            ReviewError: somebody else has changed, replaced or moved the file; it is left as it is.
            StorageError: no room; the file is as it was.
        """
        last, lines = self._last, []
        for value in values:
            body = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
            last = _digest(last, body)
            lines.append(last.hex().encode() + b" " + body + b"\n")
        data = b"".join(lines)
        with map_os_errors(self.path):
            if not self._is_ours():
                raise ReviewError(
                    f"{self.path.parent.name}/{NAME}: expected it as this program left it, found it changed, replaced or moved by another; end this "
                    "review, put the folder in order, and open it anew"
                )
            self._append(data)
        self._end, self._last = self._end + len(data), last

    def require_kept(self) -> None:
        """Returns if all that was saved is still there for who opens the folder next.

        Raises:
            ReviewError: somebody else has changed, replaced or moved the file.
            StorageError: it can't be looked at.
        """
        with map_os_errors(self.path):
            kept = self._is_ours()
        if not kept:
            raise ReviewError(
                f"{self.path.parent.name}/{NAME}: expected all that was saved, found it changed, replaced or moved by another while the page was open; "
                "put the folder in order, as from a backup, and look at it before you export"
            )

    def close(self) -> None:
        """Let others have it."""
        self._file.close()

    def _is_ours(self) -> bool:
        """Whether the file under the name is the open one, and no longer or shorter than this program left it."""
        held = os.fstat(self._file.fileno())
        try:
            return held.st_size == self._size and os.path.samestat(held, os.stat(self.path))
        except FileNotFoundError:
            return False

    def _append(self, data: bytes) -> None:
        """Write at the end of the whole lines, over what a killed program left; if that fails the file ends there again."""
        try:
            self._file.truncate(self._end)
            self._file.seek(self._end)
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except BaseException:
            with suppress(OSError):
                self._file.truncate(self._end)
            raise
        finally:
            self._size = os.fstat(self._file.fileno()).st_size

    def _parsed(self, line: bytes, last: bytes, number: int) -> tuple[dict[str, object], bytes]:
        digest = _digest(last, line[_HEX + 1 :])
        if line[: _HEX + 1] != digest.hex().encode() + b" ":
            raise self.damaged(number)
        value = json.loads(line[_HEX + 1 :])
        if not isinstance(value, dict):
            raise self.damaged(number)
        return value, digest

    def damaged(self, number: int) -> ReviewError:
        """The error for a line that is whole and not as it was written."""
        return ReviewError(
            f"{self.path.parent.name}/{NAME}, line {number}: expected it as it was written, found something else; restore the folder from a backup, "
            "or cut the file off before this line by hand and do again what came after"
        )


def _digest(last: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(last + body, digest_size=_DIGEST_BYTES).digest()
