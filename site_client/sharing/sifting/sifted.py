"""What became of the notes of one encoding, in words and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foundation.printable import escape_unprintable

# Ids of copies that a line holds.
_NAMED = 10


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
        copies: notes that were left out, for they are there twice, or more than half of them is.
        labelled_otherwise: ids of whole copies whose labels are others, and each time that of the note that was taken.
        hidden_again: words that are hidden as they were when they left, and that nothing finds now.
        another_representer: whether what leaves again left under another one.
    """

    notes: int
    counted: int
    left_out: int
    sentences: int
    shares: tuple[int, ...]
    again: bool = False
    copies: int = 0
    labelled_otherwise: tuple[tuple[str, str], ...] = ()
    hidden_again: int = 0
    another_representer: bool = False

    def lines(self) -> list[str]:
        """For people; none where there is nothing to say."""
        which = name_shares(self.shares)
        if self.again:
            new = []
            if self.left_out:
                new.append(
                    f"{self.left_out} notes wait: they have not left before as they are now; encode those that are new without --again"
                )
            if self.hidden_again:
                new.append(
                    f"{self.hidden_again} words that nobody labelled are hidden as they were then, though nothing finds them now"
                )
            if self.another_representer:
                new.append(
                    "what the policy says of words that look alike, and of words that can be read, holds for each share by itself: whoever holds both knows a "
                    "hidden word to be one of those that share its group in both, which may be a single one, and reads every word that either release shows "
                    "wherever it stands; nothing here counts them; see docs/privacy.md"
                )
            leaving = self.notes - self.left_out - self.copies
            return [
                f"{leaving} notes leave again, as they left before ({which})",
                *new,
                *self._copy_lines(),
            ]
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
        return [*lines, *self._copy_lines()]

    def _copy_lines(self) -> list[str]:
        if not self.copies:
            return []
        lines = [
            f"{self.copies} of {self.notes} notes were left out: they are in this folder twice, or more than half of each is, PHI included; the "
            "first of them was taken"
        ]
        if others := len(self.labelled_otherwise):
            named = ", ".join(
                f"{escape_unprintable(one)} (taken: {escape_unprintable(taken)})"
                for one, taken in self.labelled_otherwise[:_NAMED]
            )
            more = f", and {others - _NAMED} more" if others > _NAMED else ""
            lines.append(
                f"labels of {others} of them differ from those that were taken: {named}{more}; a label that is missing there leaves its "
                "word in the share: keep the right one of each, and encode again before you submit"
            )
        return lines

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "new_notes": 0 if self.again else self.counted,
            "notes_left_out": self.left_out,
            "hidden_again": self.hidden_again,
            "under_another_representer": self.another_representer,
            "sentences_left_out": self.sentences,
            "copies_left_out": self.copies,
            "copies_labelled_otherwise": len(self.labelled_otherwise),
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
