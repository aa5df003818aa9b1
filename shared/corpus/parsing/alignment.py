"""Offsets that must select the text that their tag quotes.

Corpora count in code points, and so do we. Tools written in Java or JavaScript count UTF-16 units, and some count
a CRLF as one character. Such a counting is taken only when it explains every tag of
the document and the plain one does not; the offsets are converted and the text stays untouched. If none explains all
tags, the document is refused.

Tags that quote nothing fit whatever they cover. Where another counting has them elsewhere, and no tag that does quote says which one holds, the
borders of words do: the document is refused if the plain reading cuts words, or takes white space along, no more seldom than another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from shared.document import Annotation
from shared.errors import AnnotationError

Converter: TypeAlias = Callable[[int], int | None]
Counting: TypeAlias = Callable[[str], Converter | None]

_LINE_ENDS_AS_SPACES = str.maketrans("\r\n\t", "   ")


@dataclass(slots=True)
class Tag:
    """A span as its file gives it, not yet believed; not frozen, for a frozen one takes four times as long to make.

    Args:
        start, end: half-open, in the file's own counting.
        category: its label.
        surface: the text that the file says the span covers; None where the format quotes none.
        identifier, comment: as in `Annotation`.
    """

    start: int
    end: int
    category: str
    surface: str | None = field(default=None, repr=False)
    identifier: str = ""
    comment: str = field(default="", repr=False)


def utf16_units(text: str) -> Converter | None:
    """Offsets as Java and JavaScript count them."""
    if text.isascii():
        return None
    astral = [index for index, character in enumerate(text) if character > "\uffff"]
    starts = [index + order for order, index in enumerate(astral)]

    def convert(position: int) -> int | None:
        before = bisect_left(starts, position)
        halved = before > 0 and starts[before - 1] == position - 1
        return None if halved else position - before

    return convert if astral else None


def crlf_as_one(text: str) -> Converter | None:
    """Offsets of a tool that read the file with its line ends normalised."""
    if "\r\n" not in text:
        return None
    folded: list[int] = []
    found = text.find("\r\n")
    while found >= 0:
        folded.append(found - len(folded))
        found = text.find("\r\n", found + 2)
    return lambda position: position + bisect_left(folded, position)


COUNTINGS: dict[str, Counting] = {"UTF-16 units": utf16_units, "CRLF as one character": crlf_as_one}


def is_counted_alike(text: str) -> bool:
    """Whether all tools count the places of a text alike; in another one labels quote what they cover, so that nobody has to guess."""
    return not any(counting(text) for counting in COUNTINGS.values())


def align(
    text: str, tags: Sequence[Tag], countings: dict[str, Counting], notes: Counter[str]
) -> tuple[Annotation, ...] | None:
    """The tags as annotations of `text`, or None when no counting explains them all.

    Args:
        text: the note.
        tags: its tags, in any order.
        countings: what to try, in order, when plain code points do not fit.
        notes: counts conversions, for the report.
    """
    # Nearly every tag quotes exactly what it covers; only the others are worth a closer look.
    others = [tag for tag in tags if text[tag.start : tag.end] != tag.surface]
    if all(agrees(text[tag.start : tag.end], tag.surface) for tag in others):
        roughness = list(_roughness(text, tags, countings)) if any(tag.surface is None for tag in others) else []
        if any(0 < plain >= other for plain, other in roughness):
            return None
        if roughness:
            notes[
                "documents whose labels quote no text, which other tools may count otherwise, counted in characters"
            ] += 1
        return tuple([Annotation(tag.start, tag.end, tag.category, tag.identifier, tag.comment) for tag in tags])
    if any(tag.surface is None for tag in tags):
        return None
    for name, counting in countings.items():
        converter = counting(text)
        converted = converter and _convert(text, tags, converter)
        if converted:
            notes[f"documents with offsets in another counting, converted: {name}"] += 1
            return converted
    return None


def _convert(text: str, tags: Sequence[Tag], converter: Converter) -> tuple[Annotation, ...] | None:
    converted = []
    for tag in tags:
        start, end = converter(tag.start), converter(tag.end)
        if start is None or end is None or not agrees(text[start:end], tag.surface):
            return None
        converted.append(Annotation(start, end, tag.category, tag.identifier, tag.comment))
    return tuple(converted)


def _roughness(text: str, tags: Sequence[Tag], countings: dict[str, Counting]) -> Iterator[tuple[int, int]]:
    """For each counting that may be meant: how many ends of the spans that it has elsewhere are rough as they are given, and how many by it."""
    for counting in countings.values():
        converter = counting(text)
        if converter is None:
            continue
        places = [(tag, converter(tag.start), converter(tag.end)) for tag in tags]
        if any(start is None or end is None or end > len(text) for _, start, end in places):
            continue
        elsewhere = [
            (tag, start, end)
            for tag, start, end in places
            if start is not None and end is not None and (start, end) != (tag.start, tag.end)
        ]
        if elsewhere and all(tag.surface is None for tag, _, _ in elsewhere):
            plain = sum(_rough_ends(text, tag.start, tag.end) for tag, _, _ in elsewhere)
            yield plain, sum(_rough_ends(text, start, end) for _, start, end in elsewhere)


def _rough_ends(text: str, start: int, end: int) -> int:
    """How many of the two ends of a span lie within a word or at white space."""
    edges = (
        (text[start : start + 1], text[max(0, start - 1) : start]),
        (text[max(0, end - 1) : end], text[end : end + 1]),
    )
    return sum(inside.isspace() or (inside.isalnum() and outside.isalnum()) for inside, outside in edges)


def agrees(covered: str, surface: str | None) -> bool:
    """Whether a quoted text is the covered one; line ends and tabs may be quoted as spaces."""
    if surface is None or covered == surface:
        return True
    spaced = surface.translate(_LINE_ENDS_AS_SPACES)
    if covered.translate(_LINE_ENDS_AS_SPACES) == spaced:
        return True
    return covered.replace("\r\n", "\n").translate(_LINE_ENDS_AS_SPACES) == spaced


def mismatch(text: str, tags: Sequence[Tag], document: str) -> AnnotationError:
    """The error for the first tag that does not fit."""
    for tag in tags:
        if not agrees(text[tag.start : tag.end], tag.surface):
            break
    else:
        return AnnotationError(
            "expected labels at words, got some within words or at white space, which another tool may have counted otherwise (UTF-16 units, or "
            "CRLF as one character); give each label the text that it covers, or correct the offsets",
            document=document,
        )
    return AnnotationError(
        "expected offsets that select the text which the tag quotes, got other characters there; correct the offsets",
        document=document,
        place=f"characters {tag.start}-{tag.end}",
    )
