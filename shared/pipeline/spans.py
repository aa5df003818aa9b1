"""Spans that several finders mark in one text, brought together: what anybody marked as PHI is hidden."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
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
            known = [one.confidence for one in (last, span) if one.confidence is not None]
            joined[-1] = Annotation(last.start, max(last.end, span.end), category, confidence=max(known, default=None))
        else:
            joined.append(span)
    return replace(document, annotations=tuple(joined))


def complete_spans(document: Document, added: Iterable[Annotation]) -> Document:
    """The document with more spans around its own, which stay what they are.

    Args:
        document: with what was found so far.
        added: in any order; one that overlaps a span of its own category makes it longer, of one that overlaps another category there
            is what that leaves.
    """
    own = document.annotations
    pieces = [piece for span in added for piece in _left_by(own, span, document.text)]
    kept: list[Annotation] = []
    for span in sorted((*own, *pieces), key=lambda one: (one.start, -one.end)):
        last = kept[-1] if kept else None
        if last is None or span.start >= last.end:
            kept.append(span)
        elif span.category == last.category:
            kept[-1] = Annotation(last.start, max(last.end, span.end), last.category)
        elif span.end > last.end:
            kept.append(replace(span, start=last.end))
    return replace(document, annotations=tuple(kept))


def _left_by(own: Sequence[Annotation], span: Annotation, text: str) -> Iterator[Annotation]:
    """What spans of other categories leave of one, without the white space and the marks that part them."""
    first = bisect_right(own, span.start, key=lambda one: one.end)
    others = [one for one in own[first : bisect_left(own, span.end, key=_start)] if one.category != span.category]
    if not others:
        yield span
        return
    edges = [span.start, *(edge for one in others for edge in (one.start, one.end)), span.end]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if start < end and (piece := _stripped(start, end, text, span)):
            yield piece


def _start(span: Annotation) -> int:
    return span.start


def _stripped(start: int, end: int, text: str, span: Annotation) -> Annotation | None:
    while start < end and start > span.start and not text[start].isalnum():
        start += 1
    while end > start and end < span.end and not text[end - 1].isalnum():
        end -= 1
    return replace(span, start=start, end=end) if start < end else None
