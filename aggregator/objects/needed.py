"""A lock for each object, so that none goes while a share comes to need it.

Who enters a share that needs an object, or looks whether any does before it deletes it, holds the lock of that object from before
the first look until after the last step. The registry has one lock for all writers, under which nothing may wait for a store:
one that does not answer would stop every hospital.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foundation.locks import lock_number
from protocols.fields import SHA256, check_text

# 60 bits; two objects that have them in common wait for each other, no more.
_DIGITS = 15


@contextmanager
def lock_object(root: Path, sha256: str) -> Iterator[None]:
    """Keeps all others from an object, in this process or another on the disk of the workspace; they wait.

    Args:
        root: folder of the workspace.
        sha256: of the object. Who holds one lock takes no second.

    Raises:
        SchemaError: no digest.
        StorageError: the file of the locks can't be made.
    """
    check_text(sha256, SHA256, "object")
    with lock_number(root / "objects.lock", int(sha256[:_DIGITS], 16)):
        yield
