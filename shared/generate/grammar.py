"""A weighted recursive grammar that writes text piece by piece, so that the span of every slot is exact.

A rule is a tuple of alternatives; an alternative is a template, or a pair of weight and template. In a template

    {rule}            expands a rule, or a word that the note's facts supply ("he", "his")
    {^rule}           the same with its first letter in upper case, unless a slot comes first
    {rule*2-4}        two to four different expansions, joined by ", "
    {rule*2-4;SEP}    the same, joined by SEP
    {one|two|}        one of these templates, all as likely; may be empty and may nest
    [slot:form]       asks the note's facts for a value; only slots carry a PHI category
    <3-9> <0.5-2.0>   a number between the two, both included, with as many decimals as written

Invariant: the text of a piece is PHI if and only if its category is not empty.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import Protocol

from shared.errors import ConfigurationError

Alternative = str | tuple[float, str]
Rules = Mapping[str, tuple[Alternative, ...]]

_NUMBER = re.compile(r"<(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)>")
_REPEAT = re.compile(r"(\^?)([\w@]+)(?:\*(\d+)-(\d+)(?:;(.*))?)?", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_MAX_DEPTH = 60
_MAX_REDRAWS = 20


def split_alternatives(text: str) -> tuple[str, ...]:
    """Alternatives that are parted by "|", wherever their lines break."""
    return tuple(" ".join(one.split()) for one in text.split("|"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is PHI as a whole (category) or not at all ("")."""

    text: str
    category: str = ""


class Facts(Protocol):
    """What a template may ask about the note that it is written into."""

    def word(self, name: str) -> str | None:
        """Text that is not PHI, such as "she"; None if there is no such word."""

    def slot(self, name: str, form: str) -> Piece:
        """PHI of this note, such as the patient's name in one of its forms."""


@dataclass(frozen=True, slots=True)
class _Literal:
    text: str


@dataclass(frozen=True, slots=True)
class _Number:
    low: float
    high: float
    decimals: int


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str
    form: str


@dataclass(frozen=True, slots=True)
class _Reference:
    name: str
    capital: bool
    least: int
    most: int
    separator: str


@dataclass(frozen=True, slots=True)
class _Choice:
    alternatives: tuple[_Template, ...]
    cumulative: tuple[float, ...]


_Node = _Literal | _Number | _Slot | _Reference | _Choice
_Template = tuple[_Node, ...]


class Grammar:
    """Rules, compiled.

    Args:
        rules: name of the rule -> its alternatives.

    Raises:
        ConfigurationError: a template is malformed, or names a rule that does not exist.
    """

    def __init__(self, rules: Rules, words: frozenset[str] = frozenset()) -> None:
        self._choices = {name: _compile_rule(name, alternatives) for name, alternatives in rules.items()}
        known = self._choices.keys() | words
        for name, choice in self._choices.items():
            for node in _walk(choice):
                if isinstance(node, _Reference) and node.name not in known:
                    raise ConfigurationError(f"expected a rule that exists in {{{node.name}}} of rule {name}; add it")

    def __contains__(self, name: str) -> bool:
        return name in self._choices

    @cached_property
    def literal_words(self) -> frozenset[str]:
        """Every word, in lower case, that stands in a rule for text which is not PHI."""
        return frozenset(
            word.lower()
            for name, choice in self._choices.items()
            if not name.startswith("@")
            for node in _walk(choice)
            if isinstance(node, _Literal | _Reference)
            for word in _WORD.findall(node.text if isinstance(node, _Literal) else node.separator)
        )

    def expand(self, rule: str, facts: Facts, random: Random) -> list[Piece]:
        """One text of the rule, as pieces in order."""
        pieces: list[Piece] = []
        _Expansion(self._choices, facts, random).rule(rule, pieces, 0)
        return pieces

    def slots(self) -> frozenset[tuple[str, str]]:
        """Name and form of every slot in the rules."""
        nodes = (node for choice in self._choices.values() for node in _walk(choice))
        return frozenset((node.name, node.form) for node in nodes if isinstance(node, _Slot))

    def reachable_rules(self, start: str) -> frozenset[str]:
        """The rules that an expansion of `start` can come to by itself, without those that give the values of slots."""
        found: set[str] = set()
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in found or name not in self._choices:
                continue
            found.add(name)
            waiting.extend(node.name for node in _walk(self._choices[name]) if isinstance(node, _Reference))
        return frozenset(found)


class _Expansion:
    def __init__(self, choices: Mapping[str, _Choice], facts: Facts, random: Random) -> None:
        self._choices = choices
        self._facts = facts
        self._random = random

    def rule(self, name: str, pieces: list[Piece], depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise ConfigurationError(f"expected rules that end, but {name} recurs {_MAX_DEPTH} deep; lower its weight")
        word = self._facts.word(name)
        if word is None:
            self._choose(self._choices[name], pieces, depth)
        elif word:
            pieces.append(Piece(word))

    def _choose(self, choice: _Choice, pieces: list[Piece], depth: int) -> None:
        weights = choice.cumulative
        index = min(bisect(weights, self._random.random() * weights[-1]), len(weights) - 1)
        for node in choice.alternatives[index]:
            match node:
                case _Literal(text):
                    pieces.append(Piece(text))
                case _Reference():
                    self._reference(node, pieces, depth + 1)
                case _Slot(name, form):
                    pieces.append(self._facts.slot(name, form))
                case _Number(low, high, decimals):
                    pieces.append(Piece(self._number(low, high, decimals)))
                case _Choice():
                    self._choose(node, pieces, depth + 1)

    def _number(self, low: float, high: float, decimals: int) -> str:
        if not decimals:
            return str(self._random.randint(int(low), int(high)))
        return f"{self._random.uniform(low, high):.{decimals}f}"

    def _reference(self, node: _Reference, pieces: list[Piece], depth: int) -> None:
        start = len(pieces)
        if node.most == 1:
            self.rule(node.name, pieces, depth)
        else:
            self._repeat(node, pieces, depth)
        if node.capital and len(pieces) > start and not pieces[start].category:
            text = pieces[start].text
            pieces[start] = Piece(text[:1].upper() + text[1:])

    def _repeat(self, node: _Reference, pieces: list[Piece], depth: int) -> None:
        seen: set[str] = set()
        for _ in range(self._random.randint(node.least, node.most)):
            for _ in range(_MAX_REDRAWS):
                part: list[Piece] = []
                self.rule(node.name, part, depth)
                text = "".join(piece.text for piece in part)
                if text and text not in seen:
                    break
            else:
                return
            if seen:
                pieces.append(Piece(node.separator))
            seen.add(text)
            pieces.extend(part)


def _compile_rule(name: str, alternatives: tuple[Alternative, ...]) -> _Choice:
    weighted = [(1.0, entry) if isinstance(entry, str) else entry for entry in alternatives]
    if not weighted or min(weight for weight, _ in weighted) <= 0:
        raise ConfigurationError(f"expected alternatives of positive weight in rule {name}; give it some")
    templates = tuple(_compile(name, text) for _, text in weighted)
    return _Choice(templates, tuple(accumulate(weight for weight, _ in weighted)))


def _compile(rule: str, text: str) -> _Template:
    nodes: list[_Node] = []
    literal = ""
    place = 0
    while place < len(text):
        node, end = _node(rule, text, place)
        if node is None:
            literal += text[place:end]
        else:
            if literal:
                nodes.append(_Literal(literal))
            literal = ""
            nodes.append(node)
        place = end
    if literal:
        nodes.append(_Literal(literal))
    return tuple(nodes)


def _node(rule: str, text: str, place: int) -> tuple[_Node | None, int]:
    """The node that starts at `place`, or None for one literal character; and where it ends."""
    character = text[place]
    if character == "<" and (match := _NUMBER.match(text, place)):
        low, high = match.groups()
        return _Number(float(low), float(high), len(low.partition(".")[2])), match.end()
    if character == "[":
        end = text.find("]", place)
        if end < 0:
            raise ConfigurationError(f"expected ']' behind '[' in a template of rule {rule}; close it")
        name, _, form = text[place + 1 : end].partition(":")
        return _Slot(name, form), end + 1
    if character == "{":
        end = _closing(rule, text, place)
        return _braces(rule, text[place + 1 : end]), end + 1
    return None, place + 1


def _closing(rule: str, text: str, place: int) -> int:
    depth = 0
    for index in range(place, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if not depth:
            return index
    raise ConfigurationError(f"expected '}}' for every '{{' in a template of rule {rule}; close it")


def _braces(rule: str, body: str) -> _Node:
    parts = _alternatives(body)
    if len(parts) > 1:
        return _compile_rule(rule, tuple(parts))
    match = _REPEAT.fullmatch(body)
    if match is None:
        raise ConfigurationError(f"expected {{name}} or {{one|two}} in a template of rule {rule}; correct its braces")
    capital, name, least, most, separator = match.groups()
    return _Reference(name, bool(capital), int(least or 1), int(most or 1), ", " if separator is None else separator)


def _alternatives(body: str) -> list[str]:
    """`body` cut at every | that stands in no inner pair of braces."""
    parts = [""]
    depth = 0
    for character in body:
        depth += (character == "{") - (character == "}")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _walk(node: _Node) -> Iterator[_Node]:
    yield node
    if isinstance(node, _Choice):
        for template in node.alternatives:
            for inner in template:
                yield from _walk(inner)
