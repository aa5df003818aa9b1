"""Noun and verb phrases of 2 to 4 words in a note, nested ones too, as a parser shows them.

A constituency parser nests phrases; a shallow one gives chunks side by side, from which the phrases within 4 words are put together again: the
ends of a noun chunk up to its head, a noun phrase with a prepositional one, and a verb with what follows it. Whatever parses, a phrase never goes over a mark, a
digit, a single letter or a name, and is in lower case: how a word is written would tell more than the word.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from protocols.share.fragments import LEAST_WORDS, MOST_LETTERS, MOST_WORDS
from shared.text.tokens import Tokens, tokenise

# One letter is an initial, or the rest of "patient's", but for these two.
WORD = rf"[a-z]{{2,{MOST_LETTERS}}}|a|i"
"""Of a phrase."""
_WORD = re.compile(WORD)
_HEADS = ("NN", "NNS", "NNP", "NNPS")
_CONJUNCTIONS = ("CC", "CJ")


class Kind(StrEnum):
    """Of a phrase."""

    NOUN = "NP"
    VERB = "VP"


Range = tuple["Kind", int, int]
"""A phrase among the tokens of a sentence, half-open."""


class PhraseParser(ABC):
    """What finds phrases of any length.

    Attributes:
        name: with its version, as a manifest states it.
    """

    name: str

    @abstractmethod
    def phrases(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[Range]]:
        """The phrases of every sentence of a note.

        Args:
            sentences: their tokens, as they are written.
        """


class ShallowParser(PhraseParser):
    """What finds parts of speech and chunks."""

    @abstractmethod
    def parse(self, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        """The part of speech (Penn Treebank) and the chunk (such as B-NP) of every word of a sentence, which is in lower case."""

    def phrases(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[Range]]:
        """See `PhraseParser`; put together of chunks."""
        found = []
        for words in sentences:
            parsed = self.parse([word.lower() for word in words])
            found.append(
                [
                    *((Kind.NOUN, *one) for one in _noun_phrases(parsed)),
                    *((Kind.VERB, *one) for one in _verb_phrases(parsed)),
                ]
            )
        return found


@dataclass(frozen=True, order=True, repr=False)
class Phrase:
    """One phrase at one place of a note.

    Args:
        kind: noun or verb phrase.
        text: in lower case, one space between words.
        start, end: in the note, half-open, in code points.
    """

    kind: Kind
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class _Chunk:
    """Tokens of a sentence, half-open."""

    kind: str
    start: int
    end: int


def find_phrases(
    text: str, parser: PhraseParser, tokens: Tokens | None = None, left: Sequence[bool] | None = None
) -> Iterator[Phrase]:
    """Every noun and verb phrase of 2 to 4 words.

    Args:
        text: of a note.
        parser: of its language.
        tokens: of the text, where somebody has them.
        left: which of its sentences are passed over; None for none.
    """
    tokens = tokenise(text) if tokens is None else tokens
    sentences = tokens.sentences()
    passed = [False] * len(sentences) if left is None else left
    places = [(first, end) for (first, end), out in zip(sentences, passed, strict=True) if end > first and not out]
    given = [tokens.words[first:end] for first, end in places]
    for (first, _), words, ranges in zip(places, given, parser.phrases(given), strict=True):
        folded = [word.lower() for word in words]
        usable = _usable(words, folded)
        for kind, start, stop in dict.fromkeys(ranges):
            if LEAST_WORDS <= stop - start <= MOST_WORDS and all(usable[start:stop]):
                spans = tokens.spans[first + start : first + stop]
                yield Phrase(kind, " ".join(folded[start:stop]), int(spans[0, 0]), int(spans[-1, 1]))


def _usable(words: Sequence[str], folded: Sequence[str]) -> list[bool]:
    """Which tokens may stand in a phrase: words of letters that are not written like names."""
    in_capitals = not any(word.islower() for word in words)
    return [
        _WORD.fullmatch(low) is not None
        # Within a sentence a word with a capital is a name, until somebody knows better.
        and (in_capitals or number == 0 or not word[0].isupper() or word.isupper() or low == "i")
        for number, (word, low) in enumerate(zip(words, folded, strict=True))
    ]


def _chunks(parsed: Sequence[tuple[str, str]]) -> list[_Chunk]:
    """Neighbouring tokens of one chunk; a token of none is a chunk of its own, of no kind."""
    starts = [place for place, (_, chunk) in enumerate(parsed) if not chunk.startswith("I-")]
    if parsed and starts[:1] != [0]:
        starts.insert(0, 0)
    return [_Chunk(parsed[start][1].partition("-")[2], start, end) for start, end in pairwise([*starts, len(parsed)])]


def _noun_phrases(parsed: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """The ends of noun chunks, and these with "of" and its like and the chunk behind."""
    chunks = _chunks(parsed)
    for place, chunk in enumerate(chunks):
        if chunk.kind != "NP" or parsed[chunk.end - 1][0] not in _HEADS:
            continue
        ends = [chunk.end, *_behind(chunks, place, ("PP", "NP"))]
        for end in ends:
            for start in range(max(chunk.start, end - MOST_WORDS), chunk.end):
                if parsed[start][0] not in _CONJUNCTIONS:
                    yield start, end


def _verb_phrases(parsed: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """Verbs from each of theirs on, alone and with what follows them: adverb, adjective, noun phrase, prepositional phrase."""
    chunks = _chunks(parsed)
    for place, chunk in enumerate(chunks):
        if chunk.kind != "VP":
            continue
        behind = (("ADVP",), ("ADJP",), ("NP",), ("PP", "NP"))
        ends = [chunk.end, *(end for kinds in behind for end in _behind(chunks, place, kinds))]
        for start in range(chunk.start, chunk.end):
            if parsed[start][0].startswith(("VB", "MD")):
                yield from ((start, end) for end in ends)


def _behind(chunks: Sequence[_Chunk], place: int, kinds: Sequence[str]) -> list[int]:
    """Where chunks of these kinds end that follow one; nothing where others follow."""
    following = chunks[place + 1 : place + 1 + len(kinds)]
    return [following[-1].end] if [one.kind for one in following] == list(kinds) else []
