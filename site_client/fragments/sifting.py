"""Lets through to the counting what is new, and nothing else; of every note it takes what may be PHI, for no phrase that touches it leaves."""

from __future__ import annotations

from dataclasses import dataclass

from shared.document import Document
from site_client.fragments.counting import PhraseCounts
from site_client.fragments.parser import is_foreign
from site_client.fragments.store import Gone
from site_client.sharing.known_notes import DigestKey


@dataclass
class Tally:
    """What became of the notes.

    Args:
        counted: notes that were counted.
        owners: patients, or notes that are no copies, among them.
        gone: left out, for fragments of theirs have left.
        foreign: left out, for they are in another language.
        phrases: that at least so many have, and that are new.
        earlier: that have left before.
        left_out: that a person keeps here.
        idle: lines of what that person wrote that kept nothing here.
    """

    counted: int = 0
    owners: int = 0
    gone: int = 0
    foreign: int = 0
    phrases: int = 0
    earlier: int = 0
    left_out: int = 0
    idle: tuple[int, ...] = ()


class Sieve:
    """What every note comes by.

    Args:
        digests: make what a note is known by.
        gone: what has left.
        tally: is told what became of the notes.
    """

    def __init__(self, digests: DigestKey, gone: Gone, tally: Tally) -> None:
        self._digests, self._gone, self._tally = digests, gone, tally
        self.known: set[bytes] = set()
        """Digests of the notes that were counted."""

    def count(self, note: Document, counts: PhraseCounts) -> None:
        """Count a note if it is new; take what may be PHI in it in any case.

        Args:
            note: with everything that may be PHI among its annotations.
            counts: of the phrases.
        """
        digest = self._digests.note(note.text)
        if self._stays(note, digest):
            # The labels of an earlier note, or of a copy, are as good as those of a new one.
            counts.touch(note)
            return
        self.known.add(digest)
        counts.add(note)

    def _stays(self, note: Document, digest: bytes) -> bool:
        """Whether a note is not counted: it has left, is foreign, or is the same text as one before."""
        if digest in self._gone.notes:
            self._tally.gone += 1
            return True
        if is_foreign(note):
            self._tally.foreign += 1
            return True
        return digest in self.known
