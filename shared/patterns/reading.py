"""How patterns read a note: references decoded, what looks alike alike, a word without the marks and the signs of no width within it, a paragraph without its breaks."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shared.patterns.kinds import Suspicion
from shared.text.plain_signs import plain_signs
from shared.text.references.decoding import Decoded, decode
from shared.text.tokens import MARKS

# What belongs to the sign ahead of it: marks, what has no width, and the second sign of a line end.
_MARKED = re.compile(rf"(?:\n(?<=\r\n)|(?=[^\x00-\xac\xae-\xff])[{MARKS}])+")
# A line of this length was probably wrapped, unless the next is an item of a list or begins with a label; a longer one is a paragraph.
_WRAPPED = re.compile(r"\n(?<=[^\n]{50}\n)(?<![^\n]{140}\n)(?=[^\W_]|\()(?!\d{1,2}[.)]|[^\W\d_]{1,20}:)")
# How far ahead of a wrap begins what goes on behind it.
_AHEAD = 60
_MOST_MARKS = 8
_FIRST = re.compile(r"(?:^|[\n.:;?!])[\s\"'(-]*$")


@dataclass(frozen=True, repr=False)
class Reading:
    """A note as patterns read it, and the way back.

    Args:
        text: read.
        marked: places in it of letters that have marks in the note, ascending.
        longer: by how many signs the note is longer ahead of each of them, and behind the last.
        decoded: the note, with what its references stand for, which all this is of.
    """

    text: str
    marked: tuple[int, ...]
    longer: tuple[int, ...]
    decoded: Decoded

    def __repr__(self) -> str:
        return f"Reading({len(self.text)} signs)"

    def stretches(self) -> Iterator[tuple[str, int, int]]:
        """A text of this length, and where in it a match may begin: all of it, then, with the lines around it joined, what is ahead of each wrap."""
        yield self.text, 0, len(self.text)
        joined = join_wrapped(self.text)
        first = last = 0
        for wrap in _WRAPPED.finditer(self.text):
            place = wrap.start()
            # From a blank to a blank, so that no word and no number is taken for its own end.
            start = max(place - _AHEAD, joined.rfind(" ", max(0, place - _AHEAD), place - _AHEAD // 2) + 1)
            if start > last + _AHEAD:
                if first < last:
                    yield joined, first, last
                first = start
            last = max(place, joined.find(" ", place + 1, place + _AHEAD)) + 1
        if first < last:
            yield joined, first, last

    def in_note(self, found: Suspicion) -> Suspicion:
        """The same stretch of the note, as far as the words end of which it has a part.

        Args:
            found: in one of the texts of `stretches`.
        """
        start, end = found.start, found.end
        while start and self.text[start - 1 : start + 1].isalpha():
            start -= 1
        while end < len(self.text) and self.text[end - 1 : end + 1].isalpha():
            end += 1
        start, end = self.decoded.to_written(self._place(start), self._place(end))
        return replace(found, start=start, end=end)

    def _place(self, place: int) -> int:
        return place + self.longer[bisect_left(self.marked, place)]


def join_wrapped(text: str) -> str:
    """A text of the same length in which lines that were probably wrapped are one.

    Args:
        text: in plain signs.
    """
    return _WRAPPED.sub(" ", text)


def begins_sentence(text: str, place: int) -> bool:
    """Whether a word begins a sentence, or a line: there it has a capital whatever it is.

    Args:
        text: in plain signs.
        place: of the word.
    """
    return _FIRST.search(text, max(0, place - 8), place) is not None


def read(text: str) -> Reading:
    """A note as patterns read it.

    Args:
        text: of the note.
    """
    decoded = decode(text)
    text = decoded.text
    if text.isascii() and "\r\n" not in text:
        return Reading(plain_signs(text), (), (0,), decoded)
    pieces: list[str] = []
    marked: list[int] = []
    longer = [0]
    end = 0
    for match in _MARKED.finditer(text, 1):
        letter = match.start() - 1
        pieces += text[end:letter], _composed(text[letter], match[0])
        marked.append(letter - longer[-1])
        longer.append(longer[-1] + len(match[0]))
        end = match.end()
    return Reading(plain_signs("".join([*pieces, text[end:]])), tuple(marked), tuple(longer), decoded)


def _composed(letter: str, marks: str) -> str:
    """One sign for a letter and its marks: with those that it has a sign for."""
    # To compose a thousand marks, which no word has, takes a thousand times a thousand steps.
    seen = "".join(mark for mark in marks[:_MOST_MARKS] if unicodedata.combining(mark))
    return unicodedata.normalize("NFC", letter + seen)[0]
