"""Which of the notes that are given a share was made from, as the hospital recorded it when it encoded them."""

from __future__ import annotations

from foundation.errors import StorageError
from shared.document import Document
from site_client.errors import LedgerError, WorkspaceError
from site_client.sharing.digest_files import read_digests
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace

UNRECORDED = "for known-notes/ of this workspace does not tell which notes it was made from"


class RecordedNotes:
    """Knows the notes of a share, each once.

    Args:
        key: of the digests.
        notes: their digests.
    """

    def __init__(self, key: DigestKey, notes: frozenset[bytes]) -> None:
        self._key, self._left = key, set(notes)

    @classmethod
    def of(cls, workspace: Workspace, sequence: int) -> RecordedNotes | None:
        """Those of a share of this site; None where nothing tells, as of a share of an earlier version.

        Args:
            workspace: of the site.
            sequence: number of the share.
        """
        try:
            known = read_digests(workspace, sequence)
            # Without notes there is no need of a key, and so none is made.
            key = DigestKey(workspace) if known.notes else None
            if key is None or not key.has_made(known.notes_key):
                return None
        except (LedgerError, StorageError, WorkspaceError):
            return None
        return cls(key, known.notes)

    def take(self, document: Document) -> bool:
        """Whether the share was made from this note; of two of the same text, from the first."""
        digest = self._key.note(document.text)
        found = digest in self._left
        self._left.discard(digest)
        return found
