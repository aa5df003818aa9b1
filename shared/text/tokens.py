"""Tokens and sentences as offsets into the untouched text, for any language that puts spaces between words.

A token is a run of letters, a run of digits, an ellipsis, or one other visible character; combining marks and what has no
width stay with the character that they follow, and a word is without what has no width. A character reference (`Garc&iacute;a`) is what it stands for. This is the aggressive tokenisation of Friedrich et al. 2019 (section 6: spaCy tokens
split further at punctuation and where a digit meets a letter), with the split of letter and digit made in both
directions, so that "d:03/04/2019t:" gives up its date.

A sentence never holds more than MAX_SENTENCE_TOKENS tokens: a note of 5 MB in one line becomes many sentences of
bounded size, not one that exhausts the memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shared.text.references.decoding import decode

MAX_SENTENCE_TOKENS = 384

# A line at least this long, in characters, that ends without punctuation was probably wrapped by a printer.
_WRAPPED_LINE = 55
# All that Unicode has put marks and format characters into; to look through the rest would cost every start a fifth of a second.
_PLANES_WITH_MARKS = (range(0x80, 0x20000), range(0xE0000, 0xE1000))


def _mark_class() -> str:
    """Character class of every combining mark, joiner, variation selector, and of what has no width."""
    points = [
        point
        for plane in _PLANES_WITH_MARKS
        for point, category in zip(plane, map(unicodedata.category, map(chr, plane)), strict=True)
        if category in ("Mn", "Mc", "Me", "Cf")
    ]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _latin_letters() -> str:
    """The letters below U+0100, which a pattern tests by one bitmap instead of three categories."""
    return "".join(re.findall(r"[^\W\d_]", "".join(map(chr, range(0x100)))))


MARKS = _mark_class()
_LATIN = _latin_letters()
# Few texts have a mark, and the class of marks is slow to test: it is asked only of characters beyond Latin-1, and of the
# soft hyphen.
_BEYOND = r"(?=[^\x00-\xac\xae-\xff])"
_TOKEN = (
    rf"[{_LATIN}]+(?:{_BEYOND}[^\W\d_]*(?:[{MARKS}]+[^\W\d_]*)*)?"
    rf"|{_BEYOND}[^\W\d_]+(?:[{MARKS}]+[^\W\d_]*)*"
    rf"|\d+(?:{_BEYOND}[{MARKS}]+\d*)*|\.\.\.|\S(?:{_BEYOND}[{MARKS}]+)?"
)
_WHOLE = re.compile(_TOKEN)
# A token with the white space ahead of it, so that the pieces of a text are the text and their lengths the offsets.
_PIECE = re.compile(rf"\s*(?:{_TOKEN})")

# Format characters, without the joiners: those belong to the spelling of a word.
_NO_WIDTH = re.compile(r"[\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]+")

_TERMINATORS = frozenset({".", "!", "?", "...", "…", "。", "؟", "।"})
_CLOSERS = frozenset("\"')]}»”’")
# A sentence ends in fewer signs than that; text that is nothing else is read in time that grows with it.
_MOST_CLOSERS = 32
_ENDS = _TERMINATORS | _CLOSERS
_OPENERS = frozenset("\"'([{«“‘¿¡")
_BULLETS = frozenset({"-", "*", "•", "·", ".", "o"})
# Abbreviations that stand before a name or a number; a dot after one of them ends no sentence.
ABBREVIATIONS = frozenset(
    "dr dra drs dras mr mrs ms sr sra srta st ste prof d dña dn fr fdo lic ldo ilmo av avd avda c cl pl pza ctra urb nº n no núm num "
    "tel tlf telf ext fax apdo dpto dept vs approx aprox etc e i fig ref p pp rev gen capt sgt lt col jr mt ft blvd ave rd hosp "
    "m mme mlle bd pr inc co ltd esc km edf edif gral cra paseo calle avenida".split()
)


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """Where the tokens and sentences of one text lie.

    Args:
        words: the tokens' texts, in order. These may be PHI: never log them.
        spans: int32 `[tokens, 2]`, half-open offsets in code points.
        sentence_starts: int32 `[sentences]`, index of each sentence's first token, ascending from 0.
    """

    words: list[str]
    spans: NDArray[np.int32]
    sentence_starts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Tokens({len(self.words)} tokens, {len(self.sentence_starts)} sentences)"

    def sentence_ends(self) -> NDArray[np.int32]:
        """One past each sentence's last token, int32 `[sentences]`."""
        ends = np.empty_like(self.sentence_starts)
        ends[:-1] = self.sentence_starts[1:]
        ends[-1:] = len(self.words)
        return ends

    def sentences(self) -> list[tuple[int, int]]:
        """Half-open ranges of token indices, one a sentence."""
        bounds = [*self.sentence_starts.tolist(), len(self.words)]
        return list(pairwise(bounds))


@dataclass(frozen=True, slots=True)
class Placeholders:
    """Tokens that each stand for something that is not looked at.

    Args:
        places: int64 `[placeholders]`, indices of tokens, ascending.
        characters: how many each counts for in a line.
        tokens: how many each counts for in a sentence.
    """

    places: NDArray[np.int64]
    characters: int
    tokens: int

    def columns(self, spans: NDArray[np.int32]) -> NDArray[np.int32]:
        """Offsets `[tokens, 2]` in the text with each placeholder as long as it counts."""
        longer = np.zeros(len(spans) + 1, dtype=np.int32)
        longer[self.places + 1] = self.characters - 1
        added = np.cumsum(longer, dtype=np.int32)
        return spans + np.stack([added[:-1], added[1:]], axis=1)

    def counted(self, tokens: int) -> NDArray[np.int64]:
        """How many tokens stand ahead of each, and ahead of the end, int64 `[tokens + 1]`."""
        ahead = np.arange(tokens + 1)
        more = np.zeros(tokens + 1, dtype=np.int64)
        more[self.places + 1] = self.tokens - 1
        return ahead + np.cumsum(more)


_NONE = Placeholders(np.zeros(0, dtype=np.int64), 1, 1)


def tokenise(text: str, seen: Callable[[str], str] | None = None) -> Tokens:
    """Cut a text into tokens and sentences.

    Args:
        text: any text; white space belongs to no token.
        seen: how it is shown, every character in its place; None as it is.
    """
    note = decode(text)
    shown = note.text if seen is None else seen(note.text)
    words, spans = cut_tokens(shown)
    return Tokens(words, note.all_to_written(spans), cut_sentences(shown, words, spans))


def cut_tokens(text: str) -> tuple[list[str], NDArray[np.int32]]:
    """Words and offsets of a text's tokens, as in Tokens; a reference is the signs that it is written with."""
    # Without white space at the end every piece ends with a token, and the pattern never has to step back.
    pieces = _PIECE.findall(text.rstrip())
    words = list(map(str.lstrip, pieces))
    spans = np.empty((len(words), 2), dtype=np.int32)
    ends = np.cumsum(np.fromiter(map(len, pieces), dtype=np.int32, count=len(words)), out=spans[:, 1])
    np.subtract(ends, np.fromiter(map(len, words), dtype=np.int32, count=len(words)), out=spans[:, 0])
    if not text.isascii() and _NO_WIDTH.search(text):
        words = [_NO_WIDTH.sub("", word) or word for word in words]
    return words, spans


def is_token(word: str) -> bool:
    """Whether `tokenise` gives a word as it is, of itself alone."""
    found = _WHOLE.match(word)
    return found is not None and found.end() == len(word) and _NO_WIDTH.sub("", word) in ("", word)


def cut_sentences(
    text: str, words: list[str], spans: NDArray[np.int32], placeholders: Placeholders = _NONE
) -> NDArray[np.int32]:
    """Where the sentences start, as in Tokens.

    Args:
        text: that was cut into tokens.
        words: the tokens.
        spans: their offsets.
        placeholders: tokens that stand for something else.
    """
    if not words:
        return np.zeros(0, dtype=np.int32)
    starts = [0]
    columns = placeholders.columns(spans)
    line_start = 0
    candidates = _candidates(text, words, spans)
    edges = zip(
        candidates,
        spans[candidates - 1, 1].tolist(),
        spans[candidates, 0].tolist(),
        columns[candidates - 1, 1].tolist(),
        columns[candidates, 0].tolist(),
        strict=True,
    )
    for index, end, start, column, next_column in edges:
        gap = text[end:start]
        broken = "\n" in gap or "\r" in gap
        if _starts_sentence(words, index, gap, broken, column - line_start):
            starts.append(index)
        if broken:
            line_start = next_column
    return np.array(_bounded(starts, words, placeholders.counted(len(words))), dtype=np.int32)


def _candidates(text: str, words: list[str], spans: NDArray[np.int32]) -> NDArray[np.int64]:
    """Where a sentence can start at all, found at array speed: behind a line break, or behind white space after what ends one.

    Returns:
        indices of tokens, ascending, none twice, none 0.
    """
    starts, ends = spans[:, 0], spans[:, 1]
    closing = np.fromiter(map(_ENDS.__contains__, words), dtype=np.bool_, count=len(words))
    candidate = np.zeros(len(words), dtype=np.bool_)
    np.logical_and(closing[:-1], starts[1:] > ends[:-1], out=candidate[1:])
    breaks = [*_places("\n", text), *_places("\r", text)]
    behind = np.searchsorted(starts, np.array(breaks, dtype=np.int32))
    candidate[behind[behind < len(words)]] = True
    candidate[0] = False
    return np.flatnonzero(candidate)


def _places(character: str, text: str) -> Iterator[int]:
    # Several times as fast as a pattern.
    place = text.find(character)
    while place >= 0:
        yield place
        place = text.find(character, place + 1)


def _starts_sentence(words: list[str], index: int, gap: str, broken: bool, line_length: int) -> bool:
    word = words[index]
    before = index - 1
    least = max(0, before - _MOST_CLOSERS)
    while before > least and words[before] in _CLOSERS:
        before -= 1
    terminated = words[before] in _TERMINATORS and not (
        words[before] == "." and before > 0 and _abbreviates(words[before - 1])
    )
    if not broken:
        return terminated and (word in _OPENERS or not word[0].islower())
    if gap.replace("\r\n", "\n").replace("\r", "\n").count("\n") > 1:
        return True
    if word in _BULLETS or word[0].isdigit():
        return True
    if word[0].islower():
        return terminated or line_length < _WRAPPED_LINE
    return terminated or words[index - 1] in {":", ";"} or line_length < _WRAPPED_LINE


def _abbreviates(word: str) -> bool:
    """Whether a dot behind `word` belongs to it: an initial or a known abbreviation."""
    return (len(word) == 1 and word.isalpha()) or word.lower() in ABBREVIATIONS


def _bounded(starts: list[int], words: list[str], counted: NDArray[np.int64]) -> list[int]:
    """The starts, with more of them where a sentence is longer than MAX_SENTENCE_TOKENS."""
    ahead = counted[[*starts, len(words)]]
    if np.diff(ahead).max() <= MAX_SENTENCE_TOKENS:
        return starts
    bounded: list[int] = []
    for start, end in pairwise([*starts, len(words)]):
        bounded.append(start)
        while counted[end] - counted[start] > MAX_SENTENCE_TOKENS:
            start = _cut(words, start, counted)
            bounded.append(start)
    return bounded


def _cut(words: list[str], start: int, counted: NDArray[np.int64]) -> int:
    """Where to cut a sentence that is too long: behind the last comma, semicolon or colon that fits, else at the bound."""
    limit = int(np.searchsorted(counted, counted[start] + MAX_SENTENCE_TOKENS, side="right")) - 1
    for index in range(limit, (start + limit) // 2, -1):
        if words[index - 1] in {";", ",", ":"}:
            return index
    return limit
