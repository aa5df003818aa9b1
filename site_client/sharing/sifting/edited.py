"""Which notes are others of them edited, by the runs of words that they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from shared.text.letters import as_printed
from site_client.sharing.digest_files import Digests, are_among, compared_runs
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
