"""Documents as they are read: with what the character references of their text stand for, and their spans on that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html.entities import html5

from shared.document import Annotation, Document
from shared.text.references.decoding import Decoded, decode

# How far beside a label is looked for the rest of a reference that it cuts: a name has 32 letters at most.
_FAR = 200
_ESCAPED = r"(?:(?:amp|AMP|#0{0,9}38|#[xX]0{0,9}26);)*"
# Of a word; a blank parts words, however it is written. The "&" of each sign may be escaped itself.
_SIGN = rf"(?:[^\W_]|&{_ESCAPED}(?!(?:nb|en|em|thin)sp;|#0*160;|#[xX]0*[aA]0;)#?[A-Za-z0-9]+;)"
_NUMBER = r"#(?:[0-9]{1,16}|[xX][0-9a-fA-F]{1,16});"
_LETTERS = "|".join(
    name for name, signs in html5.items() if name.endswith(";") and (signs.isalpha() or signs in "'\u2019")
)
_BEGUN = re.compile(rf"{_SIGN}*&{_ESCAPED}(?:#[xX]?[0-9a-fA-F]*|[A-Za-z0-9]*)\Z")
# A letter right behind the semicolon goes on with the word, wherever the label ended; "Smith; " is a name and a sign. Behind the semicolon of a
# "&" that was escaped itself, as in "M&amp;uuml;ller", comes the reference.
_REST = re.compile(rf"[A-Za-z0-9#]*;{_ESCAPED}(?:(?:{_NUMBER}|(?:{_LETTERS})){_SIGN}*|{_SIGN}+)")


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
    spans = _in_turn(_whole(note, span) for span in document.annotations)
    return replace(document, text=note.text, annotations=tuple(spans)), note


def decoded_apart(document: Document) -> tuple[Document, Decoded]:
    """The same of a document with labels, of which nothing of what stands outside them depends on what stands in them.

    No reference reaches over the edge of a label, for its other half may be PHI: `mother&ethan` holds one, `mother&peter` none. A label that
    may cut a reference, as what stands beside it tells, has the whole word. What nobody has labelled moves nothing.

    Args:
        document: its annotations are sorted and do not overlap.
    """
    labels = [span for span in document.annotations if not span.doubtful]
    whole = list(_whole_words(document.text, labels))
    edges = [edge for span in (*labels, *whole) for edge in (span.start, span.end)]
    note = decode(document.text, edges)
    if note.is_written_so and whole == labels:
        return document, note
    read = [_moved(note, span) for span in whole]
    doubtful = [_moved(note, span) for span in document.annotations if span.doubtful]
    spans = _in_turn(sorted([*read, *left_over(doubtful, read)], key=lambda span: span.start))
    return replace(document, text=note.text, annotations=tuple(spans)), note


def left_over(doubtful: Iterable[Annotation], labels: Sequence[Annotation]) -> Iterator[Annotation]:
    """What is left of doubtful spans beside labels that have grown over them."""
    for span in doubtful:
        start = max([span.start, *(own.end for own in labels if own.start <= span.start < own.end)])
        end = min([span.end, *(own.start for own in labels if start < own.start < span.end)])
        if start < end:
            yield replace(span, start=start, end=end)


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


def _whole_words(text: str, labels: Sequence[Annotation]) -> Iterator[Annotation]:
    """Labels with the words of the references that they may cut, by what stands beside them alone."""
    behind = 0
    ahead = [*(span.start for span in labels[1:]), len(text)]
    for span, next_start in zip(labels, ahead, strict=False):
        before = text[max(behind, span.start - _FAR) : span.start]
        begun = _BEGUN.search(before) if "&" in before else None
        after = text[span.end : min(next_start, span.end + _FAR)]
        rest = _REST.match(after) if ";" in after else None
        behind = span.end + (0 if rest is None else len(rest[0]))
        grown = begun is not None or rest is not None
        yield replace(span, start=span.start - (0 if begun is None else len(begun[0])), end=behind) if grown else span


def _moved(note: Decoded, span: Annotation) -> Annotation:
    start, end = note.to_read(span.start, span.end)
    return replace(span, start=start, end=end)


def _in_turn(spans: Iterable[Annotation]) -> Iterator[Annotation]:
    """Spans of which each begins behind the one ahead of it."""
    behind = 0
    for span in spans:
        start, behind = max(span.start, behind), max(span.end, behind)
        if start < span.end:
            yield replace(span, start=start)


def _whole(note: Decoded, span: Annotation) -> Annotation:
    """What is read of a span; of one that begins or ends within a reference the whole word."""
    start, end = note.to_read(span.start, span.end)
    if note.is_within(span.start):
        while start and note.text[start - 1].isalnum():
            start -= 1
    if note.is_within(span.end):
        while end < len(note.text) and note.text[end].isalnum():
            end += 1
    return replace(span, start=start, end=end)
