"""What was found once in a note is found wherever the note says it again, and whole.

A tagger sees one sentence at a time: it may find a name in the first and half of it in the second. What is the same but for capitals,
accents, the width of its signs, and the marks and white space between its words is the same; so is a name by one of its words. A blank without width
may stand between two words or within one. What is short or in lower case is left alone, for it is an age, a unit or a profession, and a word of its own
elsewhere, unless it can be nothing else: an address with "@", letters and digits in one, a number of three parts; and a name of two or three letters, in the
spelling that names have, that no list of words has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from shared.anonymity.shipped_lists import shipped_lists
from shared.document import Annotation, Document
from shared.embeddings.generalised import strip_accents
from shared.pipeline.given_up.impersonal import is_name
from shared.pipeline.spans import join_spans
from shared.sentences.referenced import as_written, decoded
from shared.text.language import function_words
from shared.text.tokens import Tokens, tokenise

Sayings = Mapping[tuple[str, ...], str]
"""What was found, as words in one spelling, and the category of it."""
ArePublic = Callable[[Sequence[str]], NDArray[np.bool_]]
"""Which words are common in public text and name nobody, bool `[words]`."""

_LEAST_CHARACTERS = 4
_LEAST_DIGITS = 5
_LEAST_LETTERS = 2
# An address; a word that goes on with a digit, which a number with a unit does not; a number of three parts, of four digits or more.
_UNMISTAKABLE = re.compile(r"[^\W_]@[^\W_]|[^\W\d_]\d")
_OF_THREE_PARTS = re.compile(r"(?=(?:\D*\d){4})\d+(?:[-/.]\d+){2,}")
# What may stand between two words of a mention: "Smith, John", "Garcia - Lopez", but not the whole of a line.
_LONGEST_GAP = 3
# Where a line ends between them it may be filled up with blanks, and the next one be indented, as far as lists and columns are.
_LONGEST_INDENT = 80
_LINES_OF_ONE_END = 2
# A note does not say more words than that a second time; each of its words would be held against all of them.
_MOST_WORDS = 50
# What begins a sentence or stands for a day, though people are called by it: what the lists of words lack.
_WORDS = frozenset(
    "don fox fry gay guy joy key new ray sue jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun ene abr ago dic "
    "lun mie jue vie sab dom".split()
)
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
    read, way = decoded(document)
    note = _Note(read.text, tokenise(read.text) if tokens is None or not way.is_written_so else tokens)
    sought = {**also, **note.sayings(read, people, are_public)}
    mentions = list(note.mentions(_Sought.of(sought))) if sought else []
    return as_written(document, way, join_spans(read, mentions) if mentions else read)


def sayings_of(document: Document, people: Set[str] = frozenset(), are_public: ArePublic = nobody_knows) -> Sayings:
    """What `with_repeated` looks for of a document, to be looked for in others. It is PHI: never log it."""
    read, _ = decoded(document)
    return _Note(read.text, tokenise(read.text)).sayings(read, people, are_public)


class SayingFinder:
    """Finds in many documents what others say.

    Args:
        sayings: of those, see `sayings_of`.
    """

    def __init__(self, sayings: Sayings) -> None:
        self._sought = _Sought.of(sayings)

    def __repr__(self) -> str:
        return "SayingFinder(...)"

    def find(self, document: Document) -> Iterator[Annotation]:
        """Every mention in a document, of two words or more also in small letters; in no order. They may overlap, and touch what is annotated."""
        read, way = decoded(document)
        for one in _Note(read.text, tokenise(read.text)).mentions(self._sought, in_small_letters=True):
            start, end = way.to_written(one.start, one.end)
            yield Annotation(start, end, one.category)


class _Sought:
    """What is looked for behind the same words, so that these are read once however much begins with them."""

    __slots__ = ("category", "following", "longest")

    def __init__(self) -> None:
        self.following: dict[str, _Sought] = {}
        self.category: str | None = None
        self.longest = 0

    @classmethod
    def of(cls, sayings: Sayings) -> _Sought:
        """All of it, by its first words."""
        root = cls()
        root.longest = max((len(word) for words in sayings for word in words), default=0)
        for words, category in sayings.items():
            found = root
            for word in words:
                found = found.following.setdefault(word, cls())
            found.category = category
        return root


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
        self._joined: set[int] = set()
        self.words = self._split() if _BLANK.search(text) else [folded(tokens.words[index]) for index in kept]
        self._starts = np.array([start for start, _ in self._spans], dtype=np.int64)

    def _split(self) -> list[str]:
        """The words, parted where a blank without width stands; those that it parts from the word ahead are remembered as joined to it."""
        words: list[str] = []
        spans: list[list[int]] = []
        for start, end in self._spans:
            begun, unseen = len(words), 0
            for piece in _NOT_BLANK.finditer(self._text, start, end):
                word = folded("".join(filter(str.isprintable, piece[0])))
                if not word:
                    # Of pieces that are not seen either there may be any number.
                    unseen = piece.end()
                    continue
                if piece.start() > start:
                    self._joined.add(len(words))
                if len(words) > begun:
                    spans[-1][1] = max(unseen, spans[-1][1])
                words.append(word)
                spans.append([*piece.span()])
        self._spans = spans
        return words

    def _whole(self, first: int, last: int) -> tuple[str, ...]:
        """The words with those put together that are joined."""
        starts = [at for at in range(first, last) if at == first or at not in self._joined]
        return tuple("".join(self.words[at:end]) for at, end in pairwise([*starts, last]))

    def _words_from(self, first: int, longest: int) -> Iterator[tuple[str, int]]:
        """The word that begins here, and what it is with those that are joined to it, up to a length; each with the number of the word behind."""
        word, last = self.words[first], first + 1
        yield word, last
        while last in self._joined and len(word) < longest and last - first < _MOST_WORDS and self._is_near(last):
            word, last = word + self.words[last], last + 1
            yield word, last

    def sayings(self, document: Document, people: Set[str], are_public: ArePublic) -> dict[tuple[str, ...], str]:
        """What is looked for."""
        edges = np.array([(span.start, span.end) for span in document.annotations], dtype=np.int64).reshape(-1, 2)
        places = np.searchsorted(self._starts, edges).tolist()
        found = [tuple(self.words[first:last]) for first, last in places]
        cut = [self._cut(span, first, last) for span, (first, last) in zip(document.annotations, places, strict=True)]
        every = list({word for words in (*found, *cut) for word in words})
        public = dict(zip(every, are_public(every).tolist(), strict=True))
        said: dict[tuple[str, ...], str] = {}
        for span, words, part, (first, last) in zip(document.annotations, found, cut, places, strict=True):
            text = document.covered_text(span)
            # A program that finds words takes them for names; it is not believed a second time.
            if len(words) <= _MOST_WORDS and not all(map(public.__getitem__, words)) and _is_telling(text):
                said.setdefault(words, span.category)
                if self._joined:
                    said.setdefault(self._whole(first, last), span.category)
            if len(part) <= _MOST_WORDS and not all(map(public.__getitem__, part)) and _is_telling(text):
                said.setdefault(part, span.category)
            if text == text.lower() or (span.category not in people and len(words) != 1):
                continue
            for word in part if span.category in people else ():
                if not public[word] and word.isalpha() and len(word) >= _LEAST_CHARACTERS:
                    said.setdefault((word,), span.category)
            for at in range(first, last):
                word = self.words[at]
                long = span.category in people and len(word) >= _LEAST_CHARACTERS
                if not public[word] and word.isalpha() and (long or self._is_short_name(at, first, last)):
                    said.setdefault((word,), span.category)
        return said

    def _cut(self, span: Annotation, first: int, last: int) -> tuple[str, ...]:
        """The words of a span that begins or ends within one, as far as it covers them: "DrQuill", of which somebody has labelled the name; else none.

        Args:
            span: of the text.
            first: of the words that begin in it.
            last: behind them.
        """
        begun = first > 0 and self._spans[first - 1][1] > span.start
        ends = last > 0 and self._spans[last - 1][1] > span.end
        if not begun and not ends:
            return ()
        covered = [
            self._text[max(start, span.start) : min(end, span.end)] for start, end in self._spans[first - begun : last]
        ]
        words = (folded("".join(filter(str.isprintable, piece))) for piece in covered)
        return tuple(filter(None, words))

    def mentions(self, sought: _Sought, *, in_small_letters: bool = False) -> Iterator[Annotation]:
        """Wherever one of these is said, as words of their own, and not written like words that name nobody; unless several of those are asked for."""
        for first in range(len(self.words)):
            waiting = [(sought, first)]
            while waiting:
                said, at = waiting.pop()
                for word, last in self._words_from(at, sought.longest):
                    found = said.following.get(word)
                    if found is None:
                        continue
                    # Two words of a name name somebody in small letters, too.
                    in_small = in_small_letters and last > first + 1
                    if found.category is not None and self._is_mention(first, last, in_small):
                        yield Annotation(*self._edges(first, last), found.category)
                    if last < len(self.words) and self._is_near(last):
                        waiting.append((found, last))

    def _is_near(self, at: int) -> bool:
        """Whether no more stands between a word and the one ahead than between two words of a mention; blanks beside the end of one line are none."""
        end, start = self._spans[at - 1][1], self._spans[at][0]
        if start - end <= _LONGEST_GAP:
            return True
        if start - end > _LONGEST_INDENT:
            return False
        # With the first letter behind it, for blanks that end with a line are one line.
        lines = self._text[end : start + 1].splitlines()
        return len(lines) == _LINES_OF_ONE_END and sum(len(line.strip()) for line in lines) <= _LONGEST_GAP

    def _is_mention(self, first: int, last: int, in_small_letters: bool) -> bool:
        start, end = self._edges(first, last)
        beside = self._text[max(0, start - 1) : start] + self._text[end : end + 1]
        # A number that goes on is another number; the same one is no other for the letters that it is glued to.
        if any(map(str.isalnum, beside)) and not self._is_glued_number(first, last, beside):
            return False
        written = self._text[start:end]
        if last == first + 1 and len(self.words[first]) < _LEAST_CHARACTERS and written.isalpha():
            # Two capitals are an abbreviation.
            return written[0].isupper() and (written[1:].islower() or len(written) > _LEAST_LETTERS)
        return in_small_letters or written != written.lower() or _is_unmistakable(written)

    def _is_short_name(self, at: int, first: int, last: int) -> bool:
        """Whether a word of two or three letters is written like a name, and is no word of another kind.

        Args:
            at: its number.
            first, last: of the words that were found. By itself a word in capitals is an abbreviation, but not beside a longer one.
        """
        word, (start, end) = self.words[at], self._spans[at]
        written = self._text[start:end]
        if not _LEAST_LETTERS <= len(word) < _LEAST_CHARACTERS or not written[0].isupper() or _is_word(word):
            return False
        return written[1:].islower() or any(len(other) >= _LEAST_CHARACTERS for other in self.words[first:last])

    def _is_glued_number(self, first: int, last: int, beside: str) -> bool:
        """Whether these words are a number that is nothing else, with letters beside it and no further digit: "MRN482139"."""
        digits = "".join(self.words[first:last])
        return digits.isdecimal() and len(digits) >= _LEAST_DIGITS and not any(map(str.isdecimal, beside))

    def _edges(self, first: int, last: int) -> tuple[int, int]:
        """Where the words from one up to another begin and end."""
        return self._spans[first][0], self._spans[last - 1][1]


def _is_telling(text: str) -> bool:
    long = sum(map(str.isalnum, text)) >= _LEAST_CHARACTERS
    return _is_unmistakable(text) or (long and text != text.lower())


def _is_unmistakable(text: str) -> bool:
    """Whether it is nothing else wherever it is written so, whatever its capitals."""
    if sum(map(str.isdigit, text)) >= _LEAST_DIGITS or _OF_THREE_PARTS.fullmatch(text):
        return True
    return sum(map(str.isalnum, text)) >= _LEAST_CHARACTERS and _UNMISTAKABLE.search(text) is not None


@cache
def _is_word(word: str) -> bool:
    """Whether a short word is one of grammar or of clinical notes, or is a word of a dictionary, though people are called by it."""
    own, *_ = shipped_lists()
    return (
        word in _WORDS
        or is_name(word)
        or word in function_words("English") | function_words("Spanish")
        or bool(own.holds([word])[0])
    )


def folded(word: str) -> str:
    """A word in the one spelling in which words are compared: without capitals, accents and widths."""
    return word.lower() if word.isascii() else strip_accents(unicodedata.normalize("NFKC", word).casefold())
