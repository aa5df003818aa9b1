"""What a finder makes of labelled notes, note by note, for all figures by which an adapted head is judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.evaluation.entities import strict_entity
from shared.evaluation.hospital import hidden_characters
from shared.text.tokens import Tokens
from site_client.evaluating.counting import Counts, Labelled, LabelledNote


@dataclass(frozen=True, eq=False, repr=False)
class NoteCounts:
    """Of some notes, or of groups of them.

    Args:
        strict: entities right in span and category, wrong, and missed, int64 `[notes, 3]`.
        hidden: entities hidden whole, and all, int64 `[notes, 2]`.
        shown: hidden words that are PHI, and all hidden words, int64 `[notes, 2]`.
    """

    strict: Counts
    hidden: Counts
    shown: Counts

    @staticmethod
    def stack(rows: Sequence[NoteCounts]) -> NoteCounts:
        """Notes, at least one, as one."""
        return NoteCounts(
            *(np.concatenate([getattr(one, name) for one in rows]) for name in ("strict", "hidden", "shown"))
        )

    def of(self, notes: NDArray[np.int64] | Sequence[int]) -> NoteCounts:
        """Some of the notes."""
        rows = np.asarray(notes, dtype=np.int64)
        return NoteCounts(self.strict[rows], self.hidden[rows], self.shown[rows])

    def by_group(self, groups: Counts) -> NoteCounts:
        """Summed over what belongs together.

        Args:
            groups: number of the group of each note, int64 `[notes]`.
        """
        count = int(groups.max()) + 1 if len(groups) else 0

        def summed(rows: Counts) -> Counts:
            sums = np.zeros((count, rows.shape[1]), dtype=np.int64)
            np.add.at(sums, groups, rows)
            return sums

        return NoteCounts(summed(self.strict), summed(self.hidden), summed(self.shown))


class Asked:
    """Labelled notes that finders are held against.

    Args:
        labelled: the notes.
        tokens: of each, as a pipeline sees them.
        unmapped: what is PHI of no category in each: what a finder finds there, and nowhere else, counts neither for it nor against it.
    """

    def __init__(
        self, labelled: Labelled, tokens: Sequence[Tokens], unmapped: Sequence[Sequence[Annotation]] | None = None
    ) -> None:
        self._unmapped = unmapped or [()] * len(labelled.notes)
        self._categories = {name: number for number, name in enumerate(labelled.categories)}
        self._gold = labelled.notes
        self._asked = [
            LabelledNote(note, cut, self._categories) for note, cut in zip(labelled.notes, tokens, strict=True)
        ]

    def count(self, note: int, found: Document) -> NoteCounts:
        """What one note shows of a finder.

        Args:
            note: its number.
            found: the note as the finder hides it.
        """
        found = self._judged(note, found)
        asked, hidden, categories = self._asked[note], hidden_characters(found), len(self._categories)
        hits, every = asked.hits(hidden, categories).sum(), asked.totals(categories).sum()
        strict = strict_entity([(self._gold[note], found)]).by_document
        return NoteCounts(
            np.asarray(strict, dtype=np.int64).reshape(1, 3),
            np.array([[hits, every]], dtype=np.int64),
            np.array([asked.words(hidden)], dtype=np.int64),
        )

    def _judged(self, note: int, found: Document) -> Document:
        unmapped, gold = self._unmapped[note], self._gold[note].annotations
        if not unmapped:
            return found
        kept = (one for one in found.annotations if _touches(one, gold) or not _touches(one, unmapped))
        return replace(found, annotations=tuple(kept))


def _touches(span: Annotation, others: Iterable[Annotation]) -> bool:
    return any(one.start < span.end and span.start < one.end for one in others)
