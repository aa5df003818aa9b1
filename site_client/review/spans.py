"""A span as a review knows it: who says that it is PHI, how sure that is, and whether a person has looked at it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from shared.document import Annotation


class Source(StrEnum):
    """Who says that a span is PHI."""

    PERSON = "person"
    LABEL = "label"
    FOUND = "found"
    DOUBT = "doubt"
    """The pipeline is not sure enough to call it PHI, or a pattern or a list of names knows it. No PHI unless somebody accepts it."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """One.

    Args:
        start, end: half-open, in code points.
        category: of the project's scheme.
        source: who says so.
        certainty: probability that it is PHI; None where nobody knows.
        accepted: whether a person has said that it is PHI, of this category and from there to there.
    """

    start: int
    end: int
    category: str
    source: Source = Source.PERSON
    certainty: float | None = None
    accepted: bool = True

    def to_json(self) -> list[object]:
        """For the journal and the page."""
        return [self.start, self.end, self.category, self.source.value, self.certainty, self.accepted]

    @property
    def is_phi(self) -> bool:
        """Whether it counts as PHI once its note is finished."""
        return self.accepted or self.source is not Source.DOUBT

    @property
    def confidence(self) -> float:
        """How sure one may be of what it counts as, PHI or not, from 0 to 1; what nobody knows is not sure at all."""
        if self.certainty is None:
            return 0.0
        return self.certainty if self.is_phi else 1 - self.certainty

    def annotation(self) -> Annotation:
        """As training data."""
        return Annotation(self.start, self.end, self.category)


def span_of(value: object, categories: Set[str], characters: int) -> Span:
    """A span as `Span.to_json` writes it.

    Args:
        value: parsed JSON.
        categories: it has one of them.
        characters: of the text; it lies inside.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, list) or len(value) != 6:
        raise ValueError("expected a span of six values")
    start, end, category, source, certainty, accepted = value
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= characters:
        raise ValueError("expected a span inside its text")
    if not isinstance(category, str) or category not in categories or type(accepted) is not bool:
        raise ValueError("expected a category of the scheme, and whether it is accepted")
    if certainty is not None and not (type(certainty) in (int, float) and 0 <= certainty <= 1):
        raise ValueError("expected a probability")
    return Span(start, end, category, Source(source), certainty, accepted)
