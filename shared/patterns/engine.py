"""PHI that rules find: every kind of `recognisers/*.toml`, tried only where it may begin, at one pass over a text.

A rule reads the text alone. It knows no context, so a match is a suspicion, for a person or a threshold to judge. Searching for all
expressions everywhere would take thirty times as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, starmap, takewhile

from shared.labels import LabelScheme
from shared.patterns.kinds import PLACES, Rule, Suspicion, read_kinds
from shared.patterns.reading import read

_DIGITS = re.compile(r"[0-9]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LEADING = "(+#'"
_CODE_LETTERS = 4
_CODE = re.compile(rf"(?<![A-Za-z])[A-Za-z]{{1,{_CODE_LETTERS}}}[-/]?\Z")
# How far from a text that a note must hold an expression is tried.
_WINDOW = 160
_GROUP = re.compile(r"\(\?P<\w+>")


class Patterns:
    """The kinds that a scheme counts as PHI.

    Args:
        scheme: names the categories.
        language: of the notes, in English; None where nobody knows.
        least: certainty that a kind must have.
    """

    def __init__(self, scheme: LabelScheme, language: str | None = None, least: float = 0.0) -> None:
        kinds = [kind for kind in read_kinds(scheme, language) if kind.certainty >= least]
        self.kinds = {kind.name: kind.category for kind in kinds}
        """What `source` of a finding may be, in the order of the files, and its category."""
        self._digit, self._led, self._code = (
            [rule for kind in kinds for rule in kind.places[place]] for place in PLACES
        )
        self._after: dict[str, list[Rule]] = {}
        for words, rules in chain.from_iterable(kind.after for kind in kinds):
            for word in words:
                self._after.setdefault(word, []).extend(rules)
        self._holds: dict[str, list[Rule]] = {}
        for texts, rules in chain.from_iterable(kind.holds for kind in kinds):
            for text in texts:
                self._holds.setdefault(text, []).extend(rules)
        self._any_digit = _any_of(self._digit)

    @property
    def rules(self) -> frozenset[Rule]:
        """Every rule that is tried."""
        return frozenset(
            [*self._digit, *self._led, *self._code, *chain(*self._after.values()), *chain(*self._holds.values())]
        )

    def find(self, text: str) -> Iterator[Suspicion]:
        """What looks like PHI; matches may overlap, and come in no order."""
        reading = read(text)
        found = chain.from_iterable(starmap(self._found, reading.stretches()))
        yield from map(reading.in_note, dict.fromkeys(found))

    def _found(self, text: str, first: int, last: int) -> Iterator[Suspicion]:
        """Of a text, what begins in a stretch of it."""
        places = (self._at_digits, self._after_words, self._held)
        for place, rule in chain.from_iterable(one(text, first, last) for one in places):
            if (match := rule.expression.match(text, place)) and (found := rule.suspicion(match)):
                yield found

    def _at_digits(self, text: str, first: int, last: int) -> Iterator[tuple[int, Rule]]:
        for run in _DIGITS.finditer(text, first, last):
            place = run.start()
            # Most numbers are none of all, which one expression tells.
            if self._any_digit.match(text, place):
                yield from ((place, rule) for rule in self._digit)
            if place and text[place - 1] in _LEADING:
                yield from ((place - 1, rule) for rule in self._led)
            if (ahead := _CODE.search(text, max(0, place - _CODE_LETTERS - 1), place)) is not None:
                yield from ((ahead.start(), rule) for rule in self._code)

    def _after_words(self, text: str, first: int, last: int) -> Iterator[tuple[int, Rule]]:
        for word in _LETTERS.finditer(text, first, last):
            for rule in self._after.get(word[0].lower(), ()):
                yield word.start(), rule

    def _held(self, text: str, first: int, last: int) -> Iterator[tuple[int, Rule]]:
        for held, rules in self._holds.items():
            for start, end in _surroundings(held, text, first, min(len(text), last + _WINDOW)):
                for rule in rules:
                    matches = rule.expression.finditer(text, start, end)
                    yield from ((match.start(), rule) for match in takewhile(lambda one: one.start() < last, matches))


def _surroundings(held: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where expressions are tried for a text that a stretch holds: around every place of it, none twice."""
    place = text.find(held, start, end)
    while place >= 0:
        first, last = max(start, place - _WINDOW), place + len(held) + _WINDOW
        while 0 <= (place := text.find(held, place + 1, end)) <= last + _WINDOW:
            last = place + len(held) + _WINDOW
        yield first, last


def _any_of(rules: list[Rule]) -> re.Pattern[str]:
    """Matches where one of the rules does; its groups have no names, which would come twice."""
    return re.compile("|".join(f"(?:{_GROUP.sub('(?:', rule.expression.pattern)})" for rule in rules), re.VERBOSE)
