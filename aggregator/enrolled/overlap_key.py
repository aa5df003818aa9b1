"""The secret by which the sentences of earlier shares are known again, and whether it is gone while they still are to be known by it."""

from __future__ import annotations

from sqlalchemy import select

from aggregator.registry.tables import ShareDigestsRow
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.secret_files import read_secret


def overlap_key(workspace: Workspace) -> bytes:
    """The secret of the digests by which sentences are known again. A workspace of before makes it with its first share.

    Raises:
        StorageError: it is damaged, or gone while digests made with it are kept: under another the same notes would be new.
    """
    path = workspace.overlap_secret
    if lacks_overlap_key(workspace):
        raise StorageError(
            "the secret by which the sentences of earlier shares are known again",
            received="no file",
            advice="restore it from the copy of keys/; docs/operation.md says what to do if it is lost for good",
            place=f"keys/{path.name}",
        )
    return read_secret(path)


def lacks_overlap_key(workspace: Workspace) -> bool:
    """Whether its file is gone while digests made with it are kept, so that no share can be taken in."""
    path = workspace.overlap_secret
    if path.exists():
        return False
    with workspace.registry().reading() as session:
        kept = session.scalar(select(ShareDigestsRow.share).limit(1))
    # Looked for again: the digests may be of another process that has just made it.
    return kept is not None and not path.exists()
