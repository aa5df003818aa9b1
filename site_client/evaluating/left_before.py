"""Labelled notes that a pipeline may have learned from: what it was taught it knows, so that it looks better on them than it is."""

from __future__ import annotations

from collections.abc import Sequence

from foundation.errors import DeidError
from shared.document import AnnotatedText
from site_client.sharing.digest_files import join_digests
from site_client.sharing.known_notes import DigestKey, read_all, read_trained
from site_client.sharing.sifting.edited import KnownNotes
from site_client.workspace import Workspace


def find_left_before(workspace: Workspace, notes: Sequence[AnnotatedText]) -> frozenset[str] | None:
    """Ids of the notes that have left with a share of this hospital, whatever became of it, or that it took part in a training with.

    A note of which more than half has left with shares is one of theirs, edited or exported anew, as `encode` has it. None where nobody knows.
    """
    try:
        left = _read_left(workspace)
        if left is None or not left.notes:
            return None if left is None else frozenset()
        key = DigestKey(workspace)
    except DeidError:
        return None
    return frozenset(note.identifier for note in notes if left.has(key, note.text))


def has_any_left(workspace: Workspace) -> bool:
    """Whether notes are known that have left, whichever they are."""
    try:
        left = _read_left(workspace)
    except DeidError:
        return False
    return left is not None and bool(left.notes)


def _read_left(workspace: Workspace) -> KnownNotes | None:
    """The notes that have left; None where they are not known of every share."""
    shares = [digests for _, _, digests in read_all(workspace)]
    # No share is of no notes: they are not known, of one that version 0.1 encoded or whose digests were given up.
    if not all(one.notes for one in shares):
        return None
    notes = read_trained(workspace).union(*(one.notes for one in shares))
    return KnownNotes(notes, join_digests([one.runs for one in shares]))
