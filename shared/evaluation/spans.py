"""Spans as evaluation meets them: they may overlap, be empty or, read as the official scripts read, lie anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.document import AnnotatedText, Annotation, Document


@dataclass(frozen=True, slots=True, order=True, repr=False)
class TaggedAnnotation(Annotation):
    """A span with the name of its XML element, which the official scripts compare besides its TYPE.

    Args:
        element: such as "NAME".
    """

    element: str = ""


def element_of(span: Annotation) -> str:
    """Name of the element that the span came as, "" where none is known."""
    return span.element if isinstance(span, TaggedAnnotation) else ""


def hiding_spans(document: AnnotatedText) -> Sequence[Annotation]:
    """The spans that hide anything, cut to the text and sorted."""
    if isinstance(document, Document):
        return document.annotations
    size = len(document.text)
    cut = (replace(span, start=max(span.start, 0), end=min(span.end, size)) for span in document.annotations)
    return sorted(span for span in cut if span.start < span.end)
