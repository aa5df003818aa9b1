"""Which language a text is in, or a vocabulary, by the short words that hold its sentences together; offline, and only to warn.

What notes are is told by which language holds most of their words; what a vocabulary is, by which language has most of its
short words among the commonest. Neither guesses where two languages come near each other, or where there is little to see.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import islice

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# Of a text's words: fewer are a list of findings, in whatever language.
_LEAST_PART = 0.12
_LEAST_WORDS = 20
# Of a language's short words among the commonest of a vocabulary.
_COMMONEST = 1000
_LEAST_KNOWN = 0.4
# How far ahead of the next language.
_LEAD = 1.25


def guess_language(texts: Iterable[str]) -> str | None:
    """The language of texts that are of one language, in English ("German"); None where nobody can say."""
    words = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    total = words.total()
    if total < _LEAST_WORDS:
        return None
    parts = {name: sum(words[word] for word in short) / total for name, short in _function_words().items()}
    return _ahead(parts, _LEAST_PART)


def guess_vocabulary(words: Sequence[str]) -> str | None:
    """The language of a vocabulary, its commonest words first; None where nobody can say."""
    common = {word.lower() for word in islice(words, _COMMONEST)}
    parts = {name: len(short & common) / len(short) for name, short in _function_words().items()}
    return _ahead(parts, _LEAST_KNOWN)


def function_words(language: str | None) -> frozenset[str]:
    """The short words of a language, in small letters; none where nobody knows it.

    Args:
        language: in English ("Spanish").
    """
    return _function_words().get(language or "", frozenset())


def known_languages() -> tuple[str, ...]:
    """Every language that can be guessed, in English, in alphabetical order."""
    return tuple(sorted(_function_words()))


def every_function_word() -> frozenset[str]:
    """The short words of all languages that are known, in small letters."""
    return frozenset().union(*_function_words().values())


def _ahead(parts: Mapping[str, float], least: float) -> str | None:
    (first, most), (_, next_most) = sorted(parts.items(), key=lambda item: -item[1])[:2]
    return first if most >= least and most >= _LEAD * next_most else None


@cache
def _function_words() -> Mapping[str, frozenset[str]]:
    text = (resources.files("shared") / "text" / "function_words.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}
