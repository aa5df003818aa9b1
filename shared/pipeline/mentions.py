"""What was found once in a note is found wherever the note says it again, and whole.

A tagger sees one sentence at a time: it may find a name in the first and half of it in the second. What is the same but for capitals,
accents, and the marks and white space between its words is the same; so is a name by one of its words. Short spans and those in
lower case are left alone: they are ages, units and professions, and words of their own elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from shared.document import Annotation, Document
from shared.embeddings.generalised import strip_accents
from shared.pipeline.spans import join_spans
from shared.text.tokens import Tokens, tokenise

ArePublic = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Which words are common in public text and name nobody, bool `[words]`."""

_LEAST_CHARACTERS = 4
_LEAST_DIGITS = 5
# What may stand between two words of a mention: "Smith, John", "Garcia - Lopez", but not the whole of a line.
_LONGEST_GAP = 3


def nobody_knows(words: Sequence[str]) -> NDArray[np.bool_]:
    """No word is public: where nobody has said which are."""
    return np.zeros(len(words), dtype=np.bool_)


def with_repeated(
    document: Document,
    people: Set[str] = frozenset(),
    are_public: ArePublic = nobody_knows,
    tokens: Tokens | None = None,
) -> Document:
    """The document with a span for every further mention of what is annotated; where spans overlap they are one.

    Args:
        document: with what was found.
        people: categories whose names are found by one of their words, too.
        are_public: tells words from names.
        tokens: of its text, where somebody has them.
    """
    note = _Note(document.text, tokenise(document.text) if tokens is None else tokens)
    sought: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, category in note.sayings(document, people, are_public):
        sought.setdefault(words[0], []).append((words, category))
    mentions = [
        Annotation(*note.edges(first, len(words)), category)
        for first, word in enumerate(note.words)
        if word in sought
        for words, category in sought[word]
        if note.says(first, words)
    ]
    return join_spans(document, mentions) if mentions else document


class _Note:
    """The words of a text, without its marks.

    Args:
        text: untouched.
        tokens: of it.
    """

    def __init__(self, text: str, tokens: Tokens) -> None:
        self._text = text
        kept = [index for index, word in enumerate(tokens.words) if word[0].isalnum()]
        self._starts = tokens.spans[kept, 0]
        self._spans: list[list[int]] = tokens.spans[kept].tolist()
        self.words = [word.lower() if word.isascii() else _folded(word) for word in map(tokens.words.__getitem__, kept)]

    def sayings(
        self, document: Document, people: Set[str], are_public: ArePublic
    ) -> Iterator[tuple[tuple[str, ...], str]]:
        """What is looked for, as words, and the category of it."""
        edges = np.array([(span.start, span.end) for span in document.annotations], dtype=np.int64).reshape(-1, 2)
        places = np.searchsorted(self._starts, edges).tolist()
        found = [tuple(self.words[first:last]) for first, last in places]
        every = list({word for words in found for word in words})
        public = dict(zip(every, are_public(every).tolist(), strict=True))
        said: dict[tuple[str, ...], str] = {}
        for span, words in zip(document.annotations, found, strict=True):
            text = document.covered_text(span)
            # A program that finds words takes them for names; it is not believed a second time.
            if not all(map(public.__getitem__, words)) and _is_telling(text):
                said.setdefault(words, span.category)
            if span.category in people and text != text.lower():
                for word in words:
                    if not public[word] and len(word) >= _LEAST_CHARACTERS and word.isalpha():
                        said.setdefault((word,), span.category)
        yield from said.items()

    def says(self, first: int, words: tuple[str, ...]) -> bool:
        """Whether the words stand here, as words of their own, and not written like words that name nobody."""
        last = first + len(words)
        if tuple(self.words[first:last]) != words:
            return False
        start, end = self.edges(first, len(words))
        if any(self._spans[at][0] - self._spans[at - 1][1] > _LONGEST_GAP for at in range(first + 1, last)):
            return False
        if self._text[max(0, start - 1) : start].isalnum() or self._text[end : end + 1].isalnum():
            return False
        written = self._text[start:end]
        return written != written.lower() or not any(map(str.isalpha, written))

    def edges(self, first: int, count: int) -> tuple[int, int]:
        """Where so many words from one on begin and end."""
        return self._spans[first][0], self._spans[first + count - 1][1]


def _is_telling(text: str) -> bool:
    if sum(map(str.isdigit, text)) >= _LEAST_DIGITS:
        return True
    return sum(map(str.isalnum, text)) >= _LEAST_CHARACTERS and text != text.lower()


def _folded(word: str) -> str:
    return strip_accents(word.casefold())
