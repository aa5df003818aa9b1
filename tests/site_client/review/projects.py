"""Reviews of tiny notes."""

from __future__ import annotations

from pathlib import Path

from shared.document import Annotation, Document
from shared.labels import LabelScheme
from site_client.review.project import Project, begin
from site_client.review.spans import Source, Span

SCHEME = LabelScheme("ab", ("A", "B"))
TEXT = "Anna met Berta and Carla at noon.\nDora left."


def person(start: int, end: int, category: str = "A") -> Span:
    return Span(start, end, category)


def found(start: int, end: int, certainty: float | None, category: str = "A") -> Span:
    return Span(start, end, category, Source.FOUND, certainty, accepted=False)


def doubt(start: int, end: int, certainty: float | None, category: str = "B") -> Span:
    return Span(start, end, category, Source.DOUBT, certainty, accepted=False)


def notes(count: int = 3) -> list[Document]:
    """The first has a label, the others have none."""
    return [Document(f"n{number}", TEXT, () if number else (Annotation(0, 4, "A"),)) for number in range(count)]


def project(folder: Path, documents: list[Document] | None = None) -> Project:
    return begin(folder, SCHEME, notes() if documents is None else documents, "source")
