"""Which notes are others of them edited, by the runs of words that they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.text.letters import as_printed
from site_client.sharing.digest_files import Digests, are_among, compared_runs, join_digests, kept_runs
from site_client.sharing.known_notes import DigestKey

EDITED = 0.5
"""A note of which a larger part has left, or leaves with others, is one of these, edited."""


def runs_as_written(key: DigestKey, text: str) -> list[Digests]:
    """The runs of words of a note as it is, which earlier versions knew alone, and as most exports have it where that is another text."""
    return [key.runs(one) for one in dict.fromkeys((text, as_printed(text)))]


def is_edited(written: Sequence[Digests], known: Digests) -> bool:
    """Whether more than half of the runs of words of a note are known.

    Args:
        written: see `runs_as_written`.
        known: ascending.
    """
    every = map(compared_runs, written)
    return any(int(are_among(runs, known).sum()) > EDITED * len(runs) for runs in every)


@dataclass(frozen=True)
class KnownNotes:
    """Notes that are known again, as they were, exported anew or edited.

    Args:
        notes: digests of their texts.
        runs: of a sample of their runs of words, ascending; empty where an earlier version kept none.
    """

    notes: frozenset[bytes]
    runs: Digests

    @classmethod
    def of(cls, key: DigestKey, texts: Sequence[str]) -> KnownNotes:
        """Of some texts."""
        runs = (kept_runs(one) for text in texts for one in runs_as_written(key, text))
        return cls(frozenset(map(key.note, texts)), join_digests(list(runs)))

    def has(self, key: DigestKey, text: str) -> bool:
        """Whether a note is one of them."""
        return key.note(text) in self.notes or is_edited(runs_as_written(key, text), self.runs)
