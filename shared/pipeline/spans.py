"""Spans that several finders mark in one text, made one where they overlap: what anybody marked as PHI is hidden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shared.document import Annotation, Document


def join_spans(document: Document, added: Iterable[Annotation]) -> Document:
    """The document with more spans; of those that overlap, one that covers all, with the category of the document's own.

    Args:
        document: with what was found so far.
        added: in any order; they may overlap.
    """
    own = frozenset(document.annotations)
    joined: list[Annotation] = []
    for span in sorted((*own, *added), key=lambda one: (one.start, one not in own, -one.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            category = last.category if last in own or span not in own else span.category
            joined[-1] = Annotation(last.start, max(last.end, span.end), category)
        else:
            joined.append(span)
    return replace(document, annotations=tuple(joined))
