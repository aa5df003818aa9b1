"""Which of the notes that are given a share was made from, and which of their sentences, as the hospital recorded it when it encoded them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foundation.errors import StorageError
from shared.document import Document
from shared.text.tokens import Tokens
from site_client.errors import LedgerError, WorkspaceError
from site_client.sharing.digest_files import ShareDigests, are_among, read_digests
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace

UNRECORDED = "for known-notes/ of this workspace does not tell which notes it was made from"


class RecordedNotes:
    """Knows the notes of a share, each once.

    Args:
        key: of the digests.
        known: what is recorded of them.
    """

    def __init__(self, key: DigestKey, known: ShareDigests) -> None:
        self._key, self._left = key, set(known.notes)
        self._sentences = None if known.of_earlier_version else known.known

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
        return cls(key, known)

    def take(self, document: Document) -> bool:
        """Whether the share was made from this note; of two of the same text, from the first."""
        digest = self._key.note(document.text)
        found = digest in self._left
        self._left.discard(digest)
        return found

    def sentences(self, document: Document, tokens: Tokens) -> NDArray[np.bool_]:
        """Which sentences of a note left with the share, bool `[sentences]`; all of them where an earlier version did not record it.

        Args:
            document: the note.
            tokens: of the same.
        """
        if self._sentences is None:
            return np.ones(len(tokens.sentence_starts), dtype=np.bool_)
        found = are_among(self._key.sentences(document.text, tokens), self._sentences)
        # Some earlier versions knew a sentence by its tokens.
        return found if found.all() else found | are_among(self._key.cut_sentences(tokens), self._sentences)
