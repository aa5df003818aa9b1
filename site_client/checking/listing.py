"""What a check has found, for a person to go through: a table for the terminal, a file, and the notes with the suspicions as labels.

All but the counts holds words of notes. It is for the hospital's own screen and disk: files are their owner's alone, and what is printed
elsewhere than on a terminal holds offsets in the place of the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from foundation.files import write_text
from foundation.printable import escape_unprintable
from shared.corpus import write_corpus
from shared.document import Annotation, Document
from shared.labels import HIDDEN, OTHER
from shared.patterns.kinds import Suspicion
from shared.pipeline.forgotten.checker import Checked

FORMAT = 1
_AROUND = 24
_LONGEST = 60
_NO_CATEGORY = "other PHI"


@dataclass(frozen=True, repr=False)
class Listed:
    """A suspicion in its note.

    Args:
        document: the note.
        suspicion: what may be PHI in it.
    """

    document: Document
    suspicion: Suspicion

    def __repr__(self) -> str:
        return f"Listed({self.document.identifier!r}, {self.suspicion.start}-{self.suspicion.end})"

    def line(self, *, words: bool) -> str:
        """One line of the table.

        Args:
            words: whether what is printed may hold words of the note.
        """
        one, text = self.suspicion, self.document.text
        place = f"{escape_unprintable(self.document.identifier)} {one.start}-{one.end}"
        shown = ""
        if words:
            found = text[one.start : one.end][:_LONGEST]
            ahead, behind = text[max(0, one.start - _AROUND) : one.start], text[one.end : one.end + _AROUND]
            shown = "  " + escape_unprintable(" ".join(f"{ahead}[{found}]{behind}".split()))
        return f"{one.certainty:5.2f}  {one.category or _NO_CATEGORY:28} {one.source:16} {place}{shown}"

    def as_json(self, *, words: bool) -> dict[str, object]:
        """For programs.

        Args:
            words: as in `line`.
        """
        one = self.suspicion
        text = {"text": self.document.text[one.start : one.end]} if words else {}
        return {"document": self.document.identifier, **asdict(one), **text}


def list_suspicions(notes: Sequence[Checked], least: float) -> list[Listed]:
    """All that is at least so sure, the surest first.

    Args:
        notes: that were checked.
        least: certainty, 0 to 1.
    """
    listed = [Listed(note.document, one) for note in notes for one in note.suspicions if one.certainty >= least]
    return sorted(listed, key=lambda one: (-one.suspicion.certainty, one.document.identifier, one.suspicion.start))


def write_suspicions(listed: Sequence[Listed], path: Path) -> None:
    """Write a list with its words, as JSON for its owner alone.

    Raises:
        StorageError: no room, no permission.
    """
    stated = {"format": FORMAT, "suspicions": [one.as_json(words=True) for one in listed]}
    write_text(path, json.dumps(stated, indent=1, ensure_ascii=False) + "\n")


def write_corrected(notes: Sequence[Checked], path: Path, least: float) -> int:
    """Write the notes as JSONL, what is at least so sure among their labels, for a person to correct.

    Args:
        notes: that were checked.
        path: the file.
        least: certainty, 0 to 1. What the scheme has no category for is called "OTHER".

    Returns:
        how many labels were added.

    Raises:
        StorageError: no room, no permission.
    """
    added = sum(one.certainty >= least for note in notes for one in note.suspicions)
    write_corpus(_corrected(notes, least), path, "jsonl")
    return added


def _corrected(notes: Sequence[Checked], least: float) -> Iterator[Document]:
    for note in notes:
        document = note.with_doubts(least)
        spans = (
            Annotation(span.start, span.end, span.category or OTHER, span.identifier, span.comment)
            for span in document.annotations
        )
        yield replace(document, annotations=tuple(spans))


def count_by_category(listed: Sequence[Listed]) -> dict[str, int]:
    """How many suspicions there are of each category, the most first."""
    counts: dict[str, int] = {}
    for one in listed:
        name = one.suspicion.category if one.suspicion.category != HIDDEN else _NO_CATEGORY
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
