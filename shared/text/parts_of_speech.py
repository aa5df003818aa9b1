"""The part of speech of each word of a sentence, by a grammar's lists, endings and signs: offline, and the same on every machine.

Khin et al. 2018 take the tagger of NLTK, whose model is fetched, and is of English alone. This one asks, in this order: signs and digits, the lists
of a language, a capital inside of a sentence, endings; and then what stands before. It is no parser: docs/adr/0047 says how often it is right.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

PARTS = (
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
)
"""The universal parts of speech (Universal Dependencies, version 2)."""
LANGUAGES = ("", "English", "Spanish")
"""A head names the language of its notes by its place here; the first stands for any of the others."""

_NUMBER = {part: number for number, part in enumerate(PARTS)}
_SYMBOLS = frozenset("$%€£+=<>±°*/~^|#@µ")
_LETTERS_AHEAD = 3


@dataclass(frozen=True)
class _Grammar:
    words: Mapping[str, str]
    endings: tuple[tuple[str, str], ...]
    verb_behind: frozenset[str]


def parts_of_speech(words: Sequence[str], starts: NDArray[np.int64], language: str = "") -> NDArray[np.uint8]:
    """The part of speech of each token, an index into PARTS, uint8 `[tokens]`.

    Args:
        words: tokens of sentences laid end to end. None is empty.
        starts: index of each sentence's first token.
        language: one of LANGUAGES.
    """
    grammar = _grammar(language)
    first = np.zeros(len(words), dtype=np.bool_)
    first[starts] = True
    found: list[str] = []
    before = ""
    for word, begins in zip(words, first.tolist(), strict=True):
        part, small = _word(word, grammar, begins=begins), word.lower()
        if not begins and small not in grammar.words:
            if part == "VERB" and found[-1] == "DET":
                part = "NOUN"
            elif part == "NOUN" and before in grammar.verb_behind and not _ends(small, grammar):
                part = "VERB"
        found.append(part)
        before = small
    return np.array([_NUMBER[part] for part in found], dtype=np.uint8)


def _word(word: str, grammar: _Grammar, *, begins: bool) -> str:
    small = word.lower()
    if small in grammar.words:
        return grammar.words[small]
    if not any(map(str.isalpha, word)):
        return _without_letters(word)
    if any(map(str.isdigit, word)):
        return "NUM" if word[0].isdigit() else "X"
    if word[0].isupper() and not begins:
        return "PROPN"
    return _ends(small, grammar) or ("PROPN" if word.isupper() and len(word) > 1 else "NOUN")


def _ends(small: str, grammar: _Grammar) -> str:
    """What an ending says; "" for nothing."""
    for ending, part in grammar.endings:
        if small.endswith(ending) and len(small) >= len(ending) + _LETTERS_AHEAD:
            return part
    return ""


def _without_letters(word: str) -> str:
    if any(map(str.isdigit, word)):
        return "NUM"
    return "SYM" if _SYMBOLS.issuperset(word) else "PUNCT"


@cache
def _grammar(language: str) -> _Grammar:
    """Of a language, or of all; of what stands in several, the first has the say."""
    text = (resources.files("shared") / "text" / "parts_of_speech.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    chosen = [tables[language]] if language else list(tables.values())
    words: dict[str, str] = {}
    endings: dict[str, str] = {}
    behind: set[str] = set()
    for table in chosen:
        for part, listed in table["words"].items():
            for word in listed.split():
                words.setdefault(word, part)
        behind |= set(table["verb_behind"].split())
        for part, listed in table["endings"].items():
            for ending in listed.split():
                endings.setdefault(ending, part)
    return _Grammar(words, tuple(sorted(endings.items(), key=lambda item: (-len(item[0]), item[0]))), frozenset(behind))
