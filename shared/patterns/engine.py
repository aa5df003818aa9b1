"""PHI that rules find: the kinds of `patterns.toml`, each with regular expressions and how sure a match is.

A rule reads the text alone. It knows no context, so a match is a suspicion, for a person or a threshold to judge. An expression is tried
only where it may begin, at one pass over the words of the text: searching for all of them everywhere takes thirty times as long.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from foundation.reading import read_text
from shared.labels import HIDDEN, LabelScheme

CAPITALS = "A-ZÁÉÍÓÚÜÑÇÀÈÌÒÙÂÊÎÔÛÄËÏÖ"
_FILE = Path(__file__).with_name("patterns.toml")
# What `re` has no name for: a letter that is a capital, and one that is none.
_CLASSES = {r"\p{U}": CAPITALS, r"\p{l}": "a-záéíóúüñçàèìòùâêîôûäëïöß'’"}
_INSIDE = re.compile(r"\[[^\]]*\]")
_DIGITS = re.compile(r"[0-9]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CODE_LETTERS = 4
_CODE = re.compile(rf"(?<![A-Za-z])[A-Za-z]{{1,{_CODE_LETTERS}}}[-/]?\Z")


@dataclass(frozen=True, order=True)
class Suspicion:
    """A stretch of text that may be PHI.

    Args:
        start, end: half-open, in code points.
        category: of the scheme, HIDDEN where it has none for it.
        certainty: share of such findings that are PHI, as far as is known; 0 to 1.
        source: what found it.
    """

    start: int
    end: int
    category: str
    certainty: float
    source: str


@dataclass(frozen=True)
class Rule:
    """One expression of a kind.

    Args:
        kind: its name.
        category: that a match has.
        certainty: of a match.
        expression: compiled; its group `phi` is the PHI, or else all of it.
    """

    kind: str
    category: str
    certainty: float
    expression: re.Pattern[str]

    def suspicion(self, match: re.Match[str]) -> Suspicion:
        """What a match says."""
        group = "phi" if "phi" in self.expression.groupindex else 0
        return Suspicion(match.start(group), match.end(group), self.category, self.certainty, self.kind)


class Patterns:
    """The kinds of `patterns.toml` that a scheme counts as PHI.

    Args:
        scheme: names the categories.
    """

    def __init__(self, scheme: LabelScheme) -> None:
        self._digit: list[Rule] = []
        self._code: list[Rule] = []
        self._after: dict[str, list[Rule]] = {}
        self._holds: list[tuple[str, Rule]] = []
        for kind, stated in tomllib.loads(read_text(_FILE)).items():
            category = category_of(stated["categories"], scheme)
            if category is None and stated.get("optional", False):
                continue

            def rules(
                patterns: Sequence[str],
                kind: str = kind,
                category: str | None = category,
                sure: float = stated["certainty"],
            ) -> list[Rule]:
                return [Rule(kind, HIDDEN if category is None else category, sure, _compiled(one)) for one in patterns]

            self._digit += rules(stated.get("digit", ()))
            self._code += rules(stated.get("code", ()))
            for place in stated.get("after", ()):
                found = rules(place["patterns"])
                for word in place["words"]:
                    self._after.setdefault(word, []).extend(found)
            for place in stated.get("holds", ()):
                self._holds += [(text, rule) for text in place["texts"] for rule in rules(place["patterns"])]

        self._any_digit = re.compile("|".join(f"(?:{rule.expression.pattern})" for rule in self._digit), re.VERBOSE)

    def find(self, text: str) -> Iterator[Suspicion]:
        """What looks like PHI; matches may overlap, and come in no order."""
        for place, rule in chain(self._at_digits(text), self._after_words(text), self._held(text)):
            if match := rule.expression.match(text, place):
                yield rule.suspicion(match)

    def _at_digits(self, text: str) -> Iterator[tuple[int, Rule]]:
        for run in _DIGITS.finditer(text):
            place = run.start()
            # Most numbers are none of all, which one expression tells.
            if self._any_digit.match(text, place):
                yield from ((place, rule) for rule in self._digit)
            if (ahead := _CODE.search(text, max(0, place - _CODE_LETTERS - 1), place)) is not None:
                yield from ((ahead.start(), rule) for rule in self._code)

    def _after_words(self, text: str) -> Iterator[tuple[int, Rule]]:
        lower = text.lower()
        # A letter whose small one is two would move all that follows it.
        if len(lower) != len(text):
            lower = "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)
        for word in self._after.keys() & frozenset(_LETTERS.findall(lower)):
            place = lower.find(word)
            while place >= 0:
                if (
                    not lower[max(0, place - 1) : place].isalpha()
                    and not lower[place + len(word) : place + len(word) + 1].isalpha()
                ):
                    yield from ((place, rule) for rule in self._after[word])
                place = lower.find(word, place + 1)

    def _held(self, text: str) -> Iterator[tuple[int, Rule]]:
        for held, rule in self._holds:
            if held in text:
                yield from ((match.start(), rule) for match in rule.expression.finditer(text))


def category_of(names: Sequence[str], scheme: LabelScheme) -> str | None:
    """The first of some names that a scheme has; None where it has none."""
    return next((name for name in names if name in scheme.category_index), None)


def _compiled(pattern: str) -> re.Pattern[str]:
    def replaced(found: re.Match[str]) -> str:
        text = found[0]
        for name, letters in _CLASSES.items():
            text = text.replace(name, letters)
        return text

    pattern = _INSIDE.sub(replaced, pattern)
    for name, letters in _CLASSES.items():
        pattern = pattern.replace(name, f"[{letters}]")
    return re.compile(pattern, re.VERBOSE)
