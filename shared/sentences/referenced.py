"""Documents as they are read: with what the character references of their text stand for, and their spans on that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shared.document import Annotation, Document
from shared.text.references.decoding import Decoded, decode


def decoded(document: Document) -> tuple[Document, Decoded]:
    """A document as it is read, and the way back; the document itself where its text holds no reference.

    Who labels a part of a reference has labelled a part of a letter: the whole word is meant, however short the rest of it is. Of two labels that
    part one reference the first has it.

    Args:
        document: with spans of any origin.
    """
    note = decode(document.text)
    if note.is_written_so:
        return document, note
    spans: list[Annotation] = []
    behind = 0
    for span in document.annotations:
        start, end = _whole(note, span)
        start, behind = max(start, behind), max(end, behind)
        if start < end:
            spans.append(replace(span, start=start, end=end))
    return replace(document, text=note.text, annotations=tuple(spans)), note


def as_written(document: Document, note: Decoded, found: Document) -> Document:
    """A document with what was found in it as it is read.

    Args:
        document: as it is written.
        note: its text, as `decoded` gives it.
        found: what is read, with spans.
    """
    if note.is_written_so:
        return found
    spans = [(note.to_written(span.start, span.end), span) for span in found.annotations]
    return replace(document, annotations=tuple(replace(span, start=start, end=end) for (start, end), span in spans))


def find_decoded(document: Document, find: Callable[[Document], Document]) -> Document:
    """What `find` makes of the spans of a document, as it reads it.

    Args:
        document: as it is written.
        find: takes the document as it is read; gives it with other spans.
    """
    read, note = decoded(document)
    return as_written(document, note, find(read))


def _whole(note: Decoded, span: Annotation) -> tuple[int, int]:
    """What is read of a span; of one that begins or ends within a reference the whole word."""
    start, end = note.to_read(span.start, span.end)
    if note.is_within(span.start):
        while start and note.text[start - 1].isalnum():
            start -= 1
    if note.is_within(span.end):
        while end < len(note.text) and note.text[end].isalnum():
            end += 1
    return start, end
