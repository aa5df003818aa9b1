"""Tokens and sentences as offsets into the untouched text, for any language that puts spaces between words.

A token is a run of letters, a run of digits, an ellipsis, or one other visible character; combining marks stay with
the character that they follow. This is the aggressive tokenisation of Friedrich et al. 2019 (section 5.1: spaCy tokens
split further at punctuation and where a digit meets a letter), with the split of letter and digit made in both
directions, so that "d:03/04/2019t:" gives up its date.

A sentence never holds more than MAX_SENTENCE_TOKENS tokens: a note of 5 MB in one line becomes many sentences of
bounded size, not one that exhausts the memory.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

MAX_SENTENCE_TOKENS = 384

# A line at least this long, in characters, that ends without punctuation was probably wrapped by a printer.
_WRAPPED_LINE = 55


def _mark_class() -> str:
    """Character class of every combining mark, joiner and variation selector."""
    points = [
        point
        for point in range(0x300, sys.maxunicode + 1)
        if unicodedata.category(chr(point)) in ("Mn", "Mc", "Me") or point in (0x200C, 0x200D)
    ]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_MARKS = _mark_class()
_TOKEN = re.compile(rf"[^\W\d_]+(?:[{_MARKS}]+[^\W\d_]*)*|\d+|\.\.\.|\S[{_MARKS}]*")

_TERMINATORS = frozenset({".", "!", "?", "...", "…", "。", "؟", "।"})
_CLOSERS = frozenset("\"')]}»”’")
_OPENERS = frozenset("\"'([{«“‘¿¡")
_BULLETS = frozenset({"-", "*", "•", "·", ".", "o"})
# Abbreviations that stand before a name or a number; a dot after one of them ends no sentence.
_ABBREVIATIONS = frozenset(
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

    def sentences(self) -> list[tuple[int, int]]:
        """Half-open ranges of token indices, one a sentence."""
        bounds = [*self.sentence_starts.tolist(), len(self.words)]
        return list(pairwise(bounds))


def tokenise(text: str) -> Tokens:
    """Cut a text into tokens and sentences.

    Args:
        text: any text; white space belongs to no token.
    """
    flat: list[int] = []
    words: list[str] = []
    extend = flat.extend
    add = words.append
    for match in _TOKEN.finditer(text):
        extend(match.span())
        add(match.group())
    spans = np.array(flat, dtype=np.int32).reshape(-1, 2)
    return Tokens(words, spans, _sentence_starts(text, words, flat))


def _sentence_starts(text: str, words: list[str], flat: list[int]) -> NDArray[np.int32]:
    starts: list[int] = []
    if not words:
        return np.zeros(0, dtype=np.int32)
    spans = np.array(flat, dtype=np.int64).reshape(-1, 2)
    # A sentence can only start behind white space: everything else is skipped at array speed.
    gaps = np.flatnonzero(spans[1:, 0] > spans[:-1, 1]) + 1
    starts.append(0)
    line_start = 0
    for index in gaps.tolist():
        gap = text[flat[2 * index - 1] : flat[2 * index]]
        broken = "\n" in gap or "\r" in gap
        if _starts_sentence(words, index, gap, broken, flat[2 * index - 1] - line_start):
            starts.append(index)
        if broken:
            line_start = flat[2 * index]
    return np.array(_bounded(starts, words), dtype=np.int32)


def _starts_sentence(words: list[str], index: int, gap: str, broken: bool, line_length: int) -> bool:
    word = words[index]
    before = index - 1
    while before > 0 and words[before] in _CLOSERS:
        before -= 1
    terminated = words[before] in _TERMINATORS and not (words[before] == "." and before > 0 and _abbreviates(words[before - 1]))
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
    return (len(word) == 1 and word.isalpha()) or word.lower() in _ABBREVIATIONS


def _bounded(starts: list[int], words: list[str]) -> list[int]:
    """The starts, with more of them where a sentence is longer than MAX_SENTENCE_TOKENS."""
    bounded: list[int] = []
    for start, end in pairwise([*starts, len(words)]):
        bounded.append(start)
        while end - start > MAX_SENTENCE_TOKENS:
            start = _cut(words, start)
            bounded.append(start)
    return bounded


def _cut(words: list[str], start: int) -> int:
    """Where to cut a sentence that is too long: behind the last comma, semicolon or colon that fits, else at the bound."""
    limit = start + MAX_SENTENCE_TOKENS
    for index in range(limit, start + MAX_SENTENCE_TOKENS // 2, -1):
        if words[index - 1] in {";", ",", ":"}:
            return index
    return limit
