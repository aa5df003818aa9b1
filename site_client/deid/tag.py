"""Notes as they are, with what was found beside them."""

from __future__ import annotations

from dataclasses import replace

from shared.document import Annotation, Document
from site_client.deid.mode import Mode


class Tag(Mode):
    """Hides nothing: for a person or a program that goes on from the annotations."""

    name = "tag"
    writes = "brat annotations beside the text"
    format = "brat"
    hides = False

    def turn(self, document: Document) -> Document:
        """The document itself; a comment says how sure a span is, where somebody knows."""
        return replace(document, annotations=tuple(map(_commented, document.annotations)))


def _commented(span: Annotation) -> Annotation:
    if span.confidence is None or span.comment:
        return span
    return replace(span, comment=f"confidence {span.confidence:.2f}")


TAG = Tag()
