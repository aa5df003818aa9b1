"""The values that every part of the project hands on: documents and their annotations.

Invariants of a `Document`, checked at construction, so that no half-trusted one exists:

- offsets are half-open and count code points of the untouched text;
- its annotations are sorted, lie inside its text, are not empty and do not overlap.

What learns, hides or shares takes a `Document`. An `AnnotatedText` is what somebody says of a text, before that is
trusted; only evaluation, which must judge any answer, takes it as it is. No `repr` shows any text of a note.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from shared.errors import AnnotationError


@dataclass(frozen=True, slots=True, order=True)
class Annotation:
    """One stretch of protected health information.

    Args:
        start: first code point of the span.
        end: one past the last code point.
        category: label in the words of the corpus, such as "PATIENT".
        identifier: the annotation's own id in its file ("T1"), kept for the way back.
        comment: free text of the annotator, kept for the way back.
        doubtful: whether nobody has labelled it: a program takes it for PHI, so it is hidden like PHI, and teaches nothing.
        confidence: how probable it is PHI, in [0, 1], by who found it; None where nobody says.
    """

    start: int
    end: int
    category: str
    identifier: str = ""
    comment: str = ""
    doubtful: bool = False
    confidence: float | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        # A comment is free text and may hold anything.
        return f"Annotation({self.start}, {self.end}, {self.category!r})"


@dataclass(frozen=True, slots=True, repr=False)
class AnnotatedText:
    """A note and spans of it as they were given: in any order, and any of them may overlap.

    Args:
        identifier: unique in its corpus; file stem or record id.
        text: the note, untouched.
        annotations: spans in the order given.
        labelled: whether somebody has said what is PHI in it, be it nothing.
        record: what stood beside it in its file, for a writer of the same format; None where nothing did.
        file: which that was, relative to its corpus.
    """

    identifier: str
    text: str
    annotations: tuple[Annotation, ...] = ()
    labelled: bool = True
    record: Any = field(default=None, compare=False)
    file: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identifier!r}, {len(self.text)} characters, {len(self.annotations)} annotations)"

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hex. Who can guess a note can confirm it: only for public notes."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def covered_text(self, annotation: Annotation) -> str:
        """The text under an annotation. This is PHI: never log it."""
        return self.text[annotation.start : annotation.end]


@dataclass(frozen=True, slots=True, repr=False)
class Document(AnnotatedText):
    """A note and what is known to be PHI in it.

    Args:
        annotations: spans in any order; stored sorted.

    Raises:
        AnnotationError: a span is empty, outside the text, or overlaps another.
    """

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.annotations))
        object.__setattr__(self, "annotations", ordered)
        previous_end = 0
        for span in ordered:
            place = f"characters {span.start}-{span.end}"
            if not 0 <= span.start < span.end <= len(self.text):
                raise AnnotationError(
                    f"expected a span inside the {len(self.text)} characters of the text, got {span.category} here; correct its offsets",
                    document=self.identifier,
                    place=place,
                )
            if span.start < previous_end:
                raise AnnotationError(
                    f"expected spans that do not overlap, but {span.category} starts before the span ahead of it ends at {previous_end}; keep one of the two",
                    document=self.identifier,
                    place=place,
                )
            previous_end = span.end
