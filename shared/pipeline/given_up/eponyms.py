"""What is called after a person and tells of none: `Kelly clamp`, `Braden 18`, `Jackson-Pratt`.

It takes away what a tagger found, so it asks for much: the very name stands on our list, its own thing stands right behind it (for what is a score
and no common surname: a number that the score may be, and that is no age, time or day), no title stands ahead of it, and the tagger took it for a person or
an institution. A drain or a fracture may be anybody's, and `Kelly bed 4` is a patient. Whatever a pattern finds of it is hidden all the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from foundation.reading import read_text
from shared.document import Annotation, Document
from shared.labels import LabelScheme, categories_of_names

_TITLE = re.compile(r"(?:\b(?:dr|drs|mr|mrs|ms|miss|prof|patient|pt|sr|sra|dra)\.?|,)\s*\Z", re.IGNORECASE)
_BEFORE = 12


@dataclass(frozen=True)
class Eponyms:
    """Gives up what a tagger found.

    Args:
        categories: of people and institutions; no other is looked at.
    """

    categories: Set[str]

    @classmethod
    def of(cls, scheme: LabelScheme) -> Eponyms:
        """For the categories of a scheme."""
        return cls(categories_of_names(scheme, "people") | categories_of_names(scheme, "institutions"))

    def give_up(self, document: Document) -> Document:
        """The document without the spans that are no names."""
        kept = tuple(span for span in document.annotations if not self._is_eponym(span, document.text))
        return document if len(kept) == len(document.annotations) else replace(document, annotations=kept)

    def _is_eponym(self, span: Annotation, text: str) -> bool:
        if span.category not in self.categories or _TITLE.search(text, max(0, span.start - _BEFORE), span.start):
            return False
        if _of_people().search(text, max(0, span.start - _BEFORE), span.start):
            return False
        match = _expression().match(text, span.start)
        if match is not None:
            return match.end("name") >= span.end
        score = _score().match(text, span.start)
        if score is None or score.end("name") < span.end:
            return False
        return int(score["number"]) in _scores()[score["name"]]


@cache
def eponym_names() -> frozenset[str]:
    """What things are called after, in small letters."""
    listed = [_listed()["whole"], *_listed()["things"], *_listed()["signs"]]
    return frozenset(word.lower() for words in listed for word in re.split(r"[\s-]+", words))


@cache
def _listed() -> dict[str, Any]:
    return tomllib.loads(read_text(Path(__file__).with_name("eponyms.toml")))


@cache
def _scores() -> dict[str, range]:
    """What each score may be."""
    stated = (one.replace("-", ":").replace("/", ":").split(":") for one in _listed()["scores"].split())
    return {name: range(int(least), int(most) + 1, int(step)) for name, least, most, step in stated}


@cache
def _expression() -> re.Pattern[str]:
    def any_of(words: str) -> str:
        return "|".join(re.escape(word).replace(r"\-", "[- ]") for word in words.split())

    def named(table: str, possessive: str) -> list[str]:
        return [rf"{name}(?={possessive}[ -](?:{any_of(own)})(?!\w))" for name, own in _listed()[table].items()]

    # The longest first, or "Homan" would keep "Homans sign" from being found.
    pairs = "|".join(sorted(named("things", "") + named("signs", "(?:[’']?s|[’'])?"), reverse=True))
    return re.compile(rf"(?P<name>(?:{any_of(_listed()['whole'])})(?!\w)|{pairs})")


@cache
def _score() -> re.Pattern[str]:
    other = rf"[\s-]*(?:{'|'.join(_listed()['no_score'].split())})(?!\w)"
    number = rf"(?P<number>\d{{1,2}})(?![\w/:-]|\.\d)(?!(?i:{other}))"
    return re.compile(rf"(?P<name>{'|'.join(_scores())}) {number}")


@cache
def _of_people() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(_listed()['of_people'].split())}):?\s*\Z", re.IGNORECASE)
