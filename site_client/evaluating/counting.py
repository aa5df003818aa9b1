"""What a finder hides of the labelled entities, note by note; see `shared.evaluation.hospital` for what counts as hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shared.document import AnnotatedText, Document
from shared.evaluation.hospital import Rate, characters_that_count, hidden_characters
from shared.evaluation.sampling.recall_interval import Estimate, estimate_recall
from shared.evaluation.spans import hiding_spans
from shared.text.tokens import Tokens

Counts = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Labelled:
    """The labelled notes, and which of them count as one.

    Args:
        notes: each with an id of its own.
        categories: of their entities.
        groups: number of the group of each note, int64 `[notes]`; a note that stands for itself is a group.
    """

    notes: tuple[AnnotatedText, ...]
    categories: tuple[str, ...]
    groups: Counts

    @classmethod
    def of(cls, notes: Sequence[AnnotatedText], patients: Mapping[str, str]) -> Labelled:
        """Notes of one patient are a group, and so are copies of one text.

        Args:
            notes: each with an id of its own.
            patients: of whom a note is, by its id; the others stand for themselves.
        """
        names: dict[tuple[str, str], int] = {}
        groups = []
        for note in notes:
            patient = patients.get(note.identifier)
            name = ("patient", patient) if patient is not None else ("text", " ".join(note.text.split()))
            groups.append(names.setdefault(name, len(names)))
        categories = sorted({span.category for note in notes for span in hiding_spans(note)})
        return cls(tuple(notes), tuple(categories), np.array(groups, dtype=np.int64))

    @property
    def independent(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0


class LabelledNote:
    """One of them, for all finders that are held against it.

    Args:
        note: with its labels.
        tokens: of its text.
        categories: the number of each.
    """

    def __init__(self, note: AnnotatedText, tokens: Tokens, categories: Mapping[str, int]) -> None:
        self._size, self._spans = len(note.text), tokens.spans
        self.entities = [(categories[span.category], characters_that_count(note, span)) for span in hiding_spans(note)]
        self._telling = np.array([any(map(str.isalnum, word)) for word in tokens.words], dtype=np.bool_)
        self._phi = self._touched(hidden_characters(note))

    def totals(self, categories: int) -> Counts:
        """Entities of each category, int64 `[categories]`."""
        return np.bincount([one for one, _ in self.entities], minlength=categories).astype(np.int64)

    def hits(self, hidden: NDArray[np.bool_], categories: int) -> Counts:
        """Entities of each category that are hidden whole, int64 `[categories]`.

        Args:
            hidden: which characters are, bool `[characters]`.
            categories: how many there are.
        """
        whole = [category for category, positions in self.entities if hidden[positions].all()]
        return np.bincount(np.array(whole, dtype=np.int64), minlength=categories).astype(np.int64)

    def words(self, hidden: NDArray[np.bool_]) -> tuple[int, int]:
        """Hidden words that are PHI, and all hidden words."""
        touched = self._touched(hidden) & self._telling
        return int((touched & self._phi).sum()), int(touched.sum())

    def _touched(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        sums = np.concatenate([[0], np.cumsum(marked)])
        found: NDArray[np.bool_] = sums[self._spans[:, 1]] > sums[self._spans[:, 0]]
        return found


@dataclass
class Tally:
    """Counts what one finder hides, note after note.

    Args:
        categories: how many there are.
    """

    categories: int
    hits: list[Counts] = field(default_factory=list)
    right: int = 0
    shown: int = 0

    def add(self, note: LabelledNote, found: Document) -> None:
        """One note as the finder hides it."""
        hidden = hidden_characters(found)
        self.hits.append(note.hits(hidden, self.categories))
        right, shown = note.words(hidden)
        self.right, self.shown = self.right + right, self.shown + shown


@dataclass(frozen=True, eq=False)
class Measure:
    """What a finder hides of all notes.

    Args:
        recall: share of the entities hidden whole.
        by_type: the same of each category.
        notes_with_miss: notes of which any entity is not hidden whole.
        precision: hidden words that are PHI.
        hits: of each group of notes, int64 `[groups]`.
        totals: entities of each, int64 `[groups]`.
    """

    recall: Estimate
    by_type: Mapping[str, Estimate]
    notes_with_miss: Rate
    precision: Rate
    hits: Counts
    totals: Counts

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "recall": self.recall.as_json(),
            "by_type": {name: one.as_json() for name, one in self.by_type.items()},
            "notes_with_miss": {"notes": self.notes_with_miss.hits, "of": self.notes_with_miss.total},
            "hidden_words_that_are_phi": {
                "words": self.precision.hits,
                "of": self.precision.total,
                "value": self.precision.value if self.precision.total else None,
            },
        }


def measure(tally: Tally, totals: Sequence[Counts], labelled: Labelled) -> Measure:
    """What was counted, with its intervals.

    Args:
        tally: of all notes.
        totals: entities of each note by category.
        labelled: the notes.
    """
    shape = (labelled.independent, len(labelled.categories))
    hits, every = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    np.add.at(hits, labelled.groups, np.stack(tally.hits))
    np.add.at(every, labelled.groups, np.stack(totals))
    missed = sum(int(found.sum()) < int(all_.sum()) for found, all_ in zip(tally.hits, totals, strict=True))
    return Measure(
        estimate_recall(hits.sum(axis=1), every.sum(axis=1)),
        {name: estimate_recall(hits[:, at], every[:, at]) for at, name in enumerate(labelled.categories)},
        Rate(missed, len(totals)),
        Rate(tally.right, tally.shown),
        hits.sum(axis=1),
        every.sum(axis=1),
    )
