"""What became of the notes of one encoding, in words and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sifted:
    """What was let through, and what was not.

    Args:
        notes: that were looked at.
        counted: notes that count towards the least number: different ones, each with something that leaves.
        left_out: notes that were left out: they have left before, or with `again` they have not.
        sentences: of the other notes that were left out, for they have left with another note.
        shares: numbers of the earlier shares of what has left before, ascending.
        again: whether earlier shares were asked for.
    """

    notes: int
    counted: int
    left_out: int
    sentences: int
    shares: tuple[int, ...]
    again: bool = False

    def lines(self) -> list[str]:
        """For people; none where there is nothing to say."""
        which = name_shares(self.shares)
        if self.again:
            new = [f"{self.left_out} new notes wait: encode them without --again"] if self.left_out else []
            return [f"{self.notes - self.left_out} notes leave again, as they left before ({which})", *new]
        lines = []
        if self.left_out:
            lines.append(
                f"{self.left_out} of {self.notes} notes were left out: they have left before ({which}), and a label that was changed "
                "since must not point to its sentence"
            )
        if self.sentences:
            lines.append(
                f"{self.sentences} sentences of the other notes were left out: the same words have left before"
            )
        return lines

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "new_notes": 0 if self.again else self.counted,
            "notes_left_out": self.left_out,
            "sentences_left_out": self.sentences,
            "shared_before_in": list(self.shares),
        }


def name_shares(shares: Sequence[int]) -> str:
    """Their numbers in words."""
    return f"share{'s' if len(shares) > 1 else ''} {', '.join(map(str, shares))}"


def too_few(sifted: Sifted, least: int) -> str:
    """Why these are no share.

    Args:
        sifted: what became of the notes.
        least: different notes that a share must hold.
    """
    if sifted.again:
        return (
            f"--again: expected at least {max(least, 1)} notes of shares that left under another representer, were refused or were taken "
            f"back, got {sifted.counted}; encode new notes without --again"
        )
    left = f" ({sifted.left_out} others left with {name_shares(sifted.shares)})" if sifted.shares else ""
    return (
        f"expected at least {max(least, 1)} notes that have not left before, got {sifted.counted}{left}: among fewer, a sentence could be "
        "told to be of a certain note; nothing was written: wait until more notes are labelled, and encode them together"
    )
