"""What was found once in a note is found wherever the note says it again, and whole.

A tagger sees one sentence at a time: it may find a name in the first and half of it in the second. What is the same but for capitals,
accents, the width of its signs, and the marks and white space between its words is the same; so is a name by one of its words. A blank without width
may stand between two words or within one. Short spans and those in lower case are left alone: they are ages, units and professions, and words of their own
elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.embeddings.generalised import strip_accents
from shared.pipeline.spans import join_spans
from shared.text.tokens import Tokens, tokenise

Sayings = Mapping[tuple[str, ...], str]
"""What was found, as words in one spelling, and the category of it."""
ArePublic = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Which words are common in public text and name nobody, bool `[words]`."""

_LEAST_CHARACTERS = 4
_LEAST_DIGITS = 5
# What may stand between two words of a mention: "Smith, John", "Garcia - Lopez", but not the whole of a line.
_LONGEST_GAP = 3
# A note does not say more words than that a second time; each of its words would be held against all of them.
_MOST_WORDS = 50
# What parts words and is not seen.
_BLANK, _NOT_BLANK = re.compile("[\u200b\ufeff]"), re.compile("[^\u200b\ufeff]+")


def nobody_knows(words: Sequence[str]) -> NDArray[np.bool_]:
    """No word is public: where nobody has said which are."""
    return np.zeros(len(words), dtype=np.bool_)


def with_repeated(
    document: Document,
    people: Set[str] = frozenset(),
    are_public: ArePublic = nobody_knows,
    tokens: Tokens | None = None,
    also: Sayings = MappingProxyType({}),
) -> Document:
    """The document with a span for every further mention of what is annotated; where spans overlap they are one.

    Args:
        document: with what was found.
        people: categories whose names are found by one of their words, too.
        are_public: tells words from names.
        tokens: of its text, where somebody has them.
        also: what else is looked for, such as what other notes of the same patient say; see `sayings_of`.
    """
    note = _Note(document.text, tokenise(document.text) if tokens is None else tokens)
    sought: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, category in {**also, **note.sayings(document, people, are_public)}.items():
        sought.setdefault(words[0], []).append((words, category))
    mentions = [
        Annotation(*note.edges(first, last), category)
        for first in range(len(note.words))
        for word, _ in note.words_from(first)
        if word in sought
        for words, category in sought[word]
        if (last := note.end_of(first, words)) is not None
    ]
    return join_spans(document, mentions) if mentions else document


def sayings_of(document: Document, people: Set[str] = frozenset(), are_public: ArePublic = nobody_knows) -> Sayings:
    """What `with_repeated` looks for of a document, to be looked for in others. It is PHI: never log it."""
    return _Note(document.text, tokenise(document.text)).sayings(document, people, are_public)


class _Note:
    """The words of a text, without its marks.

    Args:
        text: untouched.
        tokens: of it.
    """

    def __init__(self, text: str, tokens: Tokens) -> None:
        self._text = text
        kept = [index for index, word in enumerate(tokens.words) if word[0].isalnum()]
        self._spans: list[list[int]] = tokens.spans[kept].tolist()
        words = [tokens.words[index] for index in kept]
        self._joined: set[int] = set()
        if _BLANK.search(text):
            words = self._split()
        self._starts = np.array([start for start, _ in self._spans], dtype=np.int64)
        self.words = [word.lower() if word.isascii() else _folded(word) for word in words]

    def _split(self) -> list[str]:
        """The words, parted where a blank without width stands; those that it parts from the word ahead are remembered as joined to it."""
        words: list[str] = []
        spans: list[list[int]] = []
        for start, end in self._spans:
            for piece in _NOT_BLANK.finditer(self._text, start, end):
                if piece.start() > start:
                    self._joined.add(len(words))
                words.append("".join(filter(str.isprintable, piece[0])))
                spans.append([*piece.span()])
        self._spans = spans
        return words

    def _whole(self, first: int, last: int) -> tuple[str, ...]:
        """The words with those put together that are joined."""
        starts = [at for at in range(first, last) if at == first or at not in self._joined]
        return tuple("".join(self.words[at:end]) for at, end in pairwise([*starts, last]))

    def words_from(self, first: int) -> Iterator[tuple[str, int]]:
        """The word that begins here, and what it is with those that are joined to it; each with the number of the word behind."""
        word, last = self.words[first], first + 1
        yield word, last
        while last in self._joined:
            word, last = word + self.words[last], last + 1
            yield word, last

    def sayings(self, document: Document, people: Set[str], are_public: ArePublic) -> dict[tuple[str, ...], str]:
        """What is looked for."""
        edges = np.array([(span.start, span.end) for span in document.annotations], dtype=np.int64).reshape(-1, 2)
        places = np.searchsorted(self._starts, edges).tolist()
        found = [tuple(self.words[first:last]) for first, last in places]
        every = list({word for words in found for word in words})
        public = dict(zip(every, are_public(every).tolist(), strict=True))
        said: dict[tuple[str, ...], str] = {}
        for span, words, (first, last) in zip(document.annotations, found, places, strict=True):
            text = document.covered_text(span)
            # A program that finds words takes them for names; it is not believed a second time.
            if len(words) <= _MOST_WORDS and not all(map(public.__getitem__, words)) and _is_telling(text):
                said.setdefault(words, span.category)
                if self._joined:
                    said.setdefault(self._whole(first, last), span.category)
            if span.category in people and text != text.lower():
                for word in words:
                    if not public[word] and len(word) >= _LEAST_CHARACTERS and word.isalpha():
                        said.setdefault((word,), span.category)
        return said

    def end_of(self, first: int, words: tuple[str, ...]) -> int | None:
        """The number of the word behind, if the words stand here, as words of their own, and not written like words that name nobody; else None."""
        last = first
        for word in words:
            ends = [end for said, end in self.words_from(last) if said == word] if last < len(self.words) else []
            if not ends:
                return None
            last = ends[0]
        start, end = self.edges(first, last)
        if any(self._spans[at][0] - self._spans[at - 1][1] > _LONGEST_GAP for at in range(first + 1, last)):
            return None
        if self._text[max(0, start - 1) : start].isalnum() or self._text[end : end + 1].isalnum():
            return None
        written = self._text[start:end]
        return last if written != written.lower() or not any(map(str.isalpha, written)) else None

    def edges(self, first: int, last: int) -> tuple[int, int]:
        """Where the words from one up to another begin and end."""
        return self._spans[first][0], self._spans[last - 1][1]


def _is_telling(text: str) -> bool:
    if sum(map(str.isdigit, text)) >= _LEAST_DIGITS:
        return True
    return sum(map(str.isalnum, text)) >= _LEAST_CHARACTERS and text != text.lower()


def _folded(word: str) -> str:
    return strip_accents(unicodedata.normalize("NFKC", word).casefold())
