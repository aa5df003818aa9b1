"""The worst misses as a reader would meet them: what is hidden is hidden here too, what stays in clear stands among its words.

That is PHI. It is for the hospital's own screen and for a page that is its owner's alone, never for JSON, a log or another program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from foundation.printable import escape_unprintable
from shared.document import AnnotatedText, Annotation, Document
from shared.evaluation.hospital import characters_that_count, hidden_characters
from shared.evaluation.spans import hiding_spans

SHOWN = 100
_AROUND = 60
_LONGEST = 200
_CLEAR, _IN_CLEAR, _HIDDEN = range(3)


@dataclass(frozen=True, repr=False)
class Piece:
    """A stretch of a note as a reader would meet it.

    Args:
        text: of the note; the category where it is hidden.
        in_clear: whether it is PHI that nothing hides.
        hidden: whether it is hidden.
    """

    text: str
    in_clear: bool
    hidden: bool


@dataclass(frozen=True, repr=False)
class Leak:
    """An entity of which something stays in clear.

    Args:
        document: id of its note.
        span: as it is labelled.
        characters: that stay in clear, of those that count.
        in_part: whether some of it is hidden.
        pieces: it, and what stands around it.
    """

    document: str
    span: Annotation
    characters: int
    in_part: bool
    pieces: tuple[Piece, ...]

    def __repr__(self) -> str:
        return f"Leak({self.document!r}, {self.span.start}-{self.span.end})"

    def line(self, *, words: bool) -> str:
        """One line for a terminal.

        Args:
            words: whether it may hold words of the note.
        """
        how = "in part" if self.in_part else "whole"
        place = f"{escape_unprintable(self.document)} {self.span.start}-{self.span.end}"
        shown = "".join(_on_a_terminal(one) for one in self.pieces) if words else ""
        return f"  {self.span.category:14} {how:8} {place}" + ("  " + " ".join(shown.split()) if words else "")


def worst_misses(
    gold: Sequence[AnnotatedText], found: Sequence[Document], people: Set[str], most: int = SHOWN
) -> tuple[list[Leak], int]:
    """The worst, and how many there are in all.

    What is in clear whole comes before what is hidden in part, names of people before other kinds, more characters before fewer.

    Args:
        gold: labelled notes.
        found: the same as they are hidden.
        people: categories of names of people.
        most: to give back.
    """

    def rank(miss: tuple[int, Annotation, int, bool]) -> tuple[bool, bool, int, int, int]:
        at, span, characters, in_part = miss
        return in_part, span.category not in people, -characters, at, span.start

    every = [
        (at, *miss) for at, (note, hiding) in enumerate(zip(gold, found, strict=True)) for miss in _misses(note, hiding)
    ]
    chosen = sorted(every, key=rank)[:most]
    return [
        Leak(gold[at].identifier, span, characters, in_part, _in_context(gold[at], found[at], span))
        for at, span, characters, in_part in chosen
    ], len(every)


def _misses(note: AnnotatedText, found: Document) -> Iterator[tuple[Annotation, int, bool]]:
    hidden = hidden_characters(found)
    for span in hiding_spans(note):
        positions = characters_that_count(note, span)
        clear = int((~hidden[positions]).sum())
        if clear:
            yield span, clear, clear < len(positions)


def _in_context(note: AnnotatedText, found: Document, span: Annotation) -> tuple[Piece, ...]:
    end = min(span.end, span.start + _LONGEST)
    first, last = max(0, span.start - _AROUND), min(len(note.text), end + _AROUND)
    state, owner = _states(note, found)
    pieces = []
    for (kind, at), places in groupby(range(first, last), key=lambda place: (int(state[place]), int(owner[place]))):
        stretch = list(places)
        text = found.annotations[at].category if kind == _HIDDEN else note.text[stretch[0] : stretch[-1] + 1]
        pieces.append(Piece(text, kind == _IN_CLEAR, kind == _HIDDEN))
    cut = Piece("…", in_clear=False, hidden=False)
    return (*([cut] if first else []), *pieces, *([cut] if last < len(note.text) else []))


def _states(note: AnnotatedText, found: Document) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each character whether it is clear, PHI in clear or hidden, and by which span: int64 `[characters]`."""
    state = np.full(len(note.text), _CLEAR, dtype=np.int64)
    owner = np.full(len(note.text), -1, dtype=np.int64)
    for one in hiding_spans(note):
        state[one.start : one.end] = _IN_CLEAR
    for number, one in enumerate(found.annotations):
        state[one.start : one.end], owner[one.start : one.end] = _HIDDEN, number
    return state, owner


def _on_a_terminal(piece: Piece) -> str:
    text = escape_unprintable(" ".join(piece.text.split()) if piece.hidden else piece.text.replace("\n", " "))
    if piece.in_clear:
        return f">>{text}<<"
    return f"[{text}]" if piece.hidden else text
