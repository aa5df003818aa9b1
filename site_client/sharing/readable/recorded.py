"""Which of the notes that are given a share was made from, and which of their sentences, as the hospital recorded it when it encoded them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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

# Of the right notes a few sentences may stay without their original.
_MOST_FOUND = 0.9


@dataclass(frozen=True)
class Given:
    """How far the notes that were given are those of a share.

    Args:
        notes: that it was made from; None where that is not recorded.
        missing: of these, not among the given ones.
        sentences: of the share; 0 where they can't be listed.
        found: of these, found again.
    """

    notes: int | None
    missing: int
    sentences: int
    found: int

    @property
    def warning(self) -> str:
        """What who reads the counts has to know ahead of them; "" where the notes are those of the share."""
        found_none = self.missing == self.notes if self.notes else not self.found
        if found_none:
            own = [f"{self.notes} notes"] if self.notes else []
            own += [f"{self.sentences} sentences"] if self.sentences else []
            return (
                f"these are not the notes that this share was made from: of its {' and '.join(own)} none was found in them; what follows is of "
                "the notes given, and says nothing of its own"
            )
        part = (
            [f"{self.missing} of the {self.notes} notes that this share was made from are not among these"]
            if self.missing
            else []
        )
        if self.found < _MOST_FOUND * self.sentences or (part and self.sentences):
            part.append(
                f"{self.sentences - self.found} of its {self.sentences} sentences were not found again in these notes"
            )
        return f"{', and '.join(part)}: what follows is of the notes given only" if part else ""


class RecordedNotes:
    """Knows the notes of a share, each once.

    Args:
        key: of the digests.
        known: what is recorded of them.
    """

    def __init__(self, key: DigestKey, known: ShareDigests) -> None:
        self._key, self._left = key, set(known.notes)
        self.notes = len(known.notes)
        """That it was made from."""
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

    @property
    def missing(self) -> int:
        """Of these, not taken yet."""
        return len(self._left)

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents as they are, each taken on the way."""
        for document in documents:
            self.take(document)
            yield document

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
