"""A note as `impersonal` reads it: like patterns do, so that a word with marks, or with signs of no width within it, is the word that is seen.

What is looked at are tokens of that reading; what is left of a span lies in the note, and no edge of it is new within a token of the tokeniser.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.document import Annotation
from shared.patterns.reading import read
from shared.text.tokens import cut_tokens

# Three dots are one token of the tokeniser.
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\.\.\.|[^\w\s]|_")
# No word of a list is longer; to compose a thousand marks takes a thousand times a thousand steps.
_LONGEST_WORD = 100


@dataclass(frozen=True)
class Token:
    """A word or a mark.

    Args:
        text: composed, without signs of no width. May be PHI: never log it.
        start, end: in the text that is read.
    """

    text: str
    start: int
    end: int

    @property
    def is_mark(self) -> bool:
        """Whether no letter and no digit is in it."""
        return not any(map(str.isalnum, self.text))

    @property
    def is_small(self) -> bool:
        """Whether it is a word in small letters."""
        return self.text.isalpha() and self.text == self.text.lower()

    @property
    def has_one_capital(self) -> bool:
        """Whether it is written as names are."""
        return self.text == self.text.capitalize() and not self.is_small and not self.text.isupper()


class ReadNote:
    """The text that is read, and the way to the note and back.

    Args:
        note: its text.
    """

    def __init__(self, note: str) -> None:
        reading = read(note)
        self.text = reading.text
        self._note, self._reading = note, reading
        # Where in the note the marks of each marked letter begin.
        self._marks = [at + more + 1 for at, more in zip(reading.marked, reading.longer[:-1], strict=True)]

    def tokens(self, span: Annotation) -> list[Token]:
        """What a span of the note consists of."""
        if not self._marks:
            return [Token(match[0], *match.span()) for match in _TOKEN.finditer(self.text, span.start, span.end)]
        found = _TOKEN.finditer(self.text, self._place(span.start), self._place(span.end))
        return [Token(self._written(match), *match.span()) for match in found]

    def left(self, span: Annotation, tokens: Sequence[Token]) -> Annotation:
        """What is left of a span.

        Args:
            span: of the note.
            tokens: those of it that are left, one or more.
        """
        start, end = tokens[0].start, tokens[-1].end
        if self._marks:
            start = span.start if start == self._place(span.start) else self._in_note(start)
            end = span.end if end == self._place(span.end) else self._in_note(end)
        if (start, end) == (span.start, span.end):
            return span
        covered = self._note[span.start : span.end]
        # In ASCII the tokens are those of the tokeniser, put together.
        if not covered.isascii():
            for first, last in (cut_tokens(covered)[1] + span.start).tolist():
                start = first if first < start < last else start
                end = last if first < end < last else end
        return replace(span, start=start, end=end)

    def _written(self, match: re.Match[str]) -> str:
        """A word with the marks that no sign has in it: without them it would be another."""
        word = match[0]
        if not word[0].isalnum():
            return word
        written = self._note[self._in_note(match.start()) : self._in_note(match.end())]
        if len(written) == len(word):
            return word
        if len(written) > _LONGEST_WORD:
            return written
        return unicodedata.normalize("NFC", "".join(filter(str.isprintable, written)))

    def _place(self, place: int) -> int:
        """In the text that is read; within the marks of a letter, the place behind it."""
        number = bisect_left(self._marks, place)
        return max(place - self._reading.longer[number], self._reading.marked[number - 1] + 1) if number else place

    def _in_note(self, place: int) -> int:
        return place + self._reading.longer[bisect_left(self._reading.marked, place)]
