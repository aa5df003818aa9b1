"""What is counted of one share by itself: a number with its conditions, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

RARE_WORDS, NEAREST_SENTENCES, ALONE_BY_PHI = "rare_words", "nearest_sentences", "notes_alone_by_form_of_phi"
KEYS = (RARE_WORDS, NEAREST_SENTENCES, ALONE_BY_PHI)
"""Names of the figures in a report for programs."""
NOTES_NEEDED = "that takes --notes NOTES, the notes that it was made from"


@dataclass(frozen=True)
class Figure:
    """A figure of one share.

    Args:
        key: one of KEYS.
        what: it counts, in a few words.
        said: the number and how it comes about, in words; where nothing could be counted, why not.
        counts: for programs; empty where nothing could be counted.
    """

    key: str
    what: str
    said: str
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """For a terminal."""
        return f"{self.what}: {self.said if self.counts else f'not counted, {self.said}'}"

    def as_json(self) -> dict[str, object]:
        """For other programs: its counts, None where nothing could be counted, and their conditions in words."""
        return {"counts": dict(self.counts) or None, "what": self.what, "said": self.said}
