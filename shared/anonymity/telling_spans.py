"""Spans of public notes that could tell of somebody: a bank of surrogates holds none, and a hospital looks for them in its own notes.

A telling span has five digits or more, or two words or more that no public list holds: a file number, a full name. A provider's bank has no
need of them, since surrogates draw numbers anew and put names together word by word. One that a hospital finds among its own
patients was taken from there, or would show one of them by chance. Common words and short numbers stand everywhere and say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.anonymity.public_lists import PublicList, on_public_lists
from shared.embeddings.generalised import strip_accents

_DIGITS = 5
_WORDS = 2

Span = tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Telling:
    """Decides what spans are telling.

    Args:
        hidden: words that no public list holds.
    """

    hidden: frozenset[str]

    @classmethod
    def of(cls, spans: Iterable[Span], lists: Sequence[PublicList]) -> Telling:
        """What is needed for these spans, under these public lists."""
        words = sorted({word for span in spans for word in span if any(map(str.isalpha, word))})
        held = on_public_lists(words, lists)
        return cls(frozenset(word for word, on in zip(words, held.tolist(), strict=True) if not on))

    def tells(self, span: Span) -> bool:
        """Whether a span could tell of somebody; a number of zeros alone could not."""
        digits = "".join(character for word in span for character in word if character.isdigit())
        named = sum(word in self.hidden for word in span)
        return (len(digits) >= _DIGITS and bool(digits.strip("0"))) or named >= _WORDS

    def cut(self, span: Span) -> list[Span]:
        """A span in pieces with one hidden word each, every number of it as zeros.

        A piece begins with the token ahead of its hidden word where that is no hidden one itself, so that what stands behind a
        sign such as "@" is still known to.
        """
        plain = tuple("0" * len(word) if word.isdecimal() else word for word in span)
        places = [place for place, word in enumerate(plain) if word in self.hidden][1:]
        pieces, start = [], 0
        for place in places:
            pieces.append(plain[start:place])
            start = place if plain[place - 1] in self.hidden else place - 1
        return [*pieces, plain[start:]]


class SpanSearch:
    """Looks for telling spans in notes of any number; its memory does not grow with them.

    Args:
        spans: any; only the telling ones are looked for.
        lists: public words.
    """

    def __init__(self, spans: Sequence[Span], lists: Sequence[PublicList]) -> None:
        telling = Telling.of(spans, lists)
        self._by_first: dict[str, set[Span]] = {}
        for span in filter(telling.tells, spans):
            folded = tuple(map(strip_accents, span))
            self._by_first.setdefault(folded[0], set()).add(folded)
        self._found: set[Span] = set()

    def add(self, words: Sequence[str]) -> None:
        """Looks at the tokens of a note."""
        known = {word: strip_accents(word) for word in set(words)}
        folded = [known[word] for word in words]
        for place, word in enumerate(folded):
            for span in self._by_first.get(word, ()):
                if tuple(folded[place : place + len(span)]) == span:
                    self._found.add(span)

    @property
    def found(self) -> int:
        """How many of the spans stand in the notes so far."""
        return len(self._found)
