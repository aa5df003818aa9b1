"""Labelled notes that a pipeline may have learned from: what it was taught it knows, so that it looks better on them than it is."""

from __future__ import annotations

from collections.abc import Sequence

from foundation.errors import DeidError
from shared.document import AnnotatedText
from site_client.sharing.digest_files import Digests, join_digests
from site_client.sharing.known_notes import DigestKey, read_all, read_trained
from site_client.sharing.sifting.edited import is_edited, runs_as_written
from site_client.workspace import Workspace


def find_left_before(workspace: Workspace, notes: Sequence[AnnotatedText]) -> frozenset[str] | None:
    """Ids of the notes that have left with a share of this hospital, whatever became of it, or that it took part in a training with.

    A note of which more than half has left with shares is one of theirs, edited or exported anew, as `encode` has it. None where nobody knows.
    """
    try:
        left, runs = _read_left(workspace)
        if not left:
            return None if left is None else frozenset()
        key = DigestKey(workspace)
    except DeidError:
        return None
    return frozenset(
        note.identifier
        for note in notes
        if key.note(note.text) in left or is_edited(runs_as_written(key, note.text), runs)
    )


def has_any_left(workspace: Workspace) -> bool:
    """Whether notes are known that have left, whichever they are."""
    try:
        return bool(_read_left(workspace)[0])
    except DeidError:
        return False


def _read_left(workspace: Workspace) -> tuple[frozenset[bytes] | None, Digests]:
    """Digests of the notes that have left, None where they are not known of every share; and of their runs of words."""
    shares = [digests for _, _, digests in read_all(workspace)]
    runs = join_digests([one.runs for one in shares])
    notes = [one.notes for one in shares]
    # No share is of no notes: they are not known, of one that version 0.1 encoded or whose digests were given up.
    return (read_trained(workspace).union(*notes) if all(notes) else None), runs
