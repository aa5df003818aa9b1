"""What every store of objects promises.

An object is known by the SHA-256 of its bytes. It is there whole or not at all, is on the disk before `put` returns, and
is verified again whenever it is read, in a copy that nobody else can write: whoever holds the store can take objects away but
not exchange them. Both kinds lay an object down under the same name, so one can be copied into the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from protocols.errors import DigestError
from protocols.fields import SHA256, check_text

_CHUNK_BYTES = 1 << 20


class ObjectStore(Protocol):
    """A content-addressed store; threads and processes may share it.

    Every method raises SchemaError where it is given no digest, and StorageError where there is no room, no permission or
    no answer.
    """

    def put(self, path: Path, sha256: str) -> None:
        """Keeps the bytes of a file; again, if they are there already.

        Raises:
            DigestError: the file has another digest; nothing is kept.
        """

    def open(self, sha256: str) -> BinaryIO:
        """The verified object, open for reading.

        Raises:
            DigestError: its bytes were changed.
            StorageError: it is not there.
        """

    def local(self, sha256: str) -> AbstractContextManager[Path]:
        """The verified object as a file that may be read, and not changed, until the block ends.

        Raises:
            DigestError: its bytes were changed.
            StorageError: it is not there.
        """

    def all_local(self, digests: Sequence[str]) -> AbstractContextManager[list[Path]]:
        """`local` for many at once, in their order."""

    def exists(self, sha256: str) -> bool:
        """Whether it is there."""

    def digests(self) -> Iterator[str]:
        """Of all objects that are there, in any order."""

    def delete(self, sha256: str) -> None:
        """Removes it; one that is not there stays so."""

    def tidy(self) -> int:
        """Removes what writers that were killed left behind more than a day ago; returns how many files."""


def object_name(sha256: str) -> str:
    """The name of an object in any store: folders of at most a few thousand entries.

    Raises:
        SchemaError: no digest.
    """
    check_text(sha256, SHA256, "object")
    return f"{sha256[:2]}/{sha256}"


def digest_in(name: str) -> str | None:
    """The digest of the object that has such a name; None if it is none of ours."""
    digest = name.rpartition("/")[2]
    return digest if SHA256.fullmatch(digest) and name == object_name(digest) else None


def verify_chunks(chunks: Iterable[bytes], sha256: str) -> Iterator[bytes]:
    """The chunks as they come; whoever keeps them must wait for the end, since the last step is the check.

    Raises:
        DigestError: together they have another digest.
    """
    total = hashlib.sha256()
    for chunk in chunks:
        total.update(chunk)
        yield chunk
    if total.hexdigest() != sha256:
        raise DigestError(
            f"bytes with the SHA-256 {sha256[:12]}",
            received="others",
            advice="restore or send them again",
            place="object",
        )


def file_chunks(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """What is left of a file.

    Raises:
        StorageError: it can't be read.
    """
    with map_os_errors(path):
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def missing_object(sha256: str) -> StorageError:
    """The error for an object that is not there."""
    return StorageError(
        f"object {sha256[:12]} in the store", received="none", advice="restore it from a backup", place="objects"
    )
