"""A partly found entity is widened to its whole: each rule looks at what stands right beside a span, and at nothing else.

- A name of a person goes on over initials, over a comma, and over a word with a capital that is not public.
- An institution goes on over the words that institutions end with, and over "of" and "and" between two parts of it.
- A town goes on over "North", "San" and their like ahead of it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from foundation.reading import read_text
from shared.document import Annotation, Document
from shared.labels import LabelScheme, categories_of_names
from shared.patterns.kinds import CAPITALS, SMALL
from shared.patterns.reading import join_wrapped
from shared.pipeline.mentions import ArePublic, nobody_knows
from shared.pipeline.spans import complete_spans
from shared.text.plain_signs import plain_signs

_BESIDE = {
    name: words.split()
    for name, words in tomllib.loads(read_text(Path(__file__).with_name("beside_names.toml"))).items()
}


def _any_of(name: str) -> str:
    return f"(?:{'|'.join(_BESIDE[name])})"


# How far ahead of a span its rest may begin.
_REACH = 60
_WORD = rf"(?:(?:[{CAPITALS}]'|{_any_of('joined')})?[{CAPITALS}](?:[{SMALL}]{{1,30}}|[{CAPITALS}]{{1,30}}))(?!\w)"
_INITIAL = rf"[{CAPITALS}](?:\.(?!\w)|(?=\s?(?:[,;)|\n\d]|$|R\.?N\b|M\.?D\b)))"
_INITIALS = rf"(?:[{CAPITALS}]\. ?)"
_PARTICLES = rf"(?:{_any_of('particles')} ){{0,3}}"
# What a name of a person goes on with: an initial, and maybe the surname; a hyphen, a comma or a blank, and a word.
_NAME_BEHIND = re.compile(
    rf"(?:,? ?(?P<initial>(?:(?!{_any_of('degrees')}){_INITIALS}){{0,2}}{_INITIAL})(?: {_PARTICLES}(?P<after>{_WORD}))?"
    rf"|(?:-| {_PARTICLES}|, ?|(?<=\b[{CAPITALS}])\. )(?P<word>{_WORD}))"
)
_NAME_AHEAD = re.compile(
    rf"(?<![\w'])(?:(?P<word>{_WORD})(?:-|,? ){_INITIALS}{{0,2}}{_PARTICLES}|{_INITIALS}{{1,2}}{_PARTICLES})\Z"
)
_BETWEEN_NAMES = re.compile(rf",? ?(?:[{CAPITALS}]\.? ){{0,2}}{_PARTICLES}|[-']")
_BETWEEN_PARTS = re.compile(r" (?:of|and|de|del|de la|de los|y) (?:the |la )?|, | & |-| - | ")
_INSTITUTION_BEHIND = re.compile(rf"(?: {_any_of('institution_behind')}(?!\w)){{1,4}}")
_INSTITUTION_AHEAD = re.compile(rf"(?<!\w)(?:{_any_of('institution_of')} of|{_any_of('institution_ahead')}) \Z")
_TOWN_AHEAD = re.compile(rf"(?<!\w){_any_of('town_ahead')} \Z", re.IGNORECASE)
_NO_NAMES = frozenset(_BESIDE["no_names"])
_NO_NAMES_IN_CAPITALS = frozenset(word.upper() for word in _BESIDE["no_names_in_capitals"])


@dataclass(frozen=True)
class WholeEntities:
    """Widens what was found.

    Args:
        people, institutions, towns: categories of their names.
        are_public: tells words from names.
    """

    people: Set[str]
    institutions: Set[str]
    towns: Set[str]
    are_public: ArePublic = nobody_knows

    @classmethod
    def of(cls, scheme: LabelScheme, are_public: ArePublic) -> WholeEntities:
        """For the categories of a scheme."""
        people, institutions, towns = (
            categories_of_names(scheme, kind) for kind in ("people", "institutions", "towns")
        )
        return cls(people, institutions, towns, are_public)

    def widen(self, document: Document) -> Document:
        """The document with its spans widened, as far as the next of another category."""
        # One sign for one sign: offsets stay.
        text = join_wrapped(plain_signs(document.text))
        widened = [self._widened(span, text) for span in document.annotations]
        wider = complete_spans(
            document, [new for new, span in zip(widened, document.annotations, strict=True) if new is not span]
        )
        return replace(wider, annotations=tuple(self._bridged(wider.annotations, text)))

    def _widened(self, span: Annotation, text: str) -> Annotation:
        start, end = span.start, span.end
        named = span.category in self.people | self.institutions | self.towns
        if named and (behind := _INSTITUTION_BEHIND.match(text, end)):
            end = behind.end()
        if span.category in self.people:
            start, end = self._name_ahead(start, text), self._name_behind(end, text)
        elif span.category in self.institutions:
            start = _ahead(_INSTITUTION_AHEAD, start, text)
        elif span.category in self.towns:
            start = _ahead(_TOWN_AHEAD, start, text)
        return span if (start, end) == (span.start, span.end) else Annotation(start, end, span.category)

    def _name_behind(self, end: int, text: str) -> int:
        match = _NAME_BEHIND.match(text, end)
        if match is None:
            return end
        if match["initial"]:
            return match.end() if match["after"] and self._is_name(match["after"]) else match.end("initial")
        return match.end() if self._is_name(match["word"]) else end

    def _name_ahead(self, start: int, text: str) -> int:
        match = _NAME_AHEAD.search(text, max(0, start - _REACH), start)
        if match is None or (match["word"] and not self._is_name(match["word"])):
            return start
        return match.start()

    def _is_name(self, word: str) -> bool:
        listed = word.lower() in _NO_NAMES or word in _NO_NAMES_IN_CAPITALS
        return not listed and not bool(self.are_public([word])[0])

    def _bridged(self, spans: Sequence[Annotation], text: str) -> list[Annotation]:
        """Spans that are parts of one name, as one."""
        bridged: list[Annotation] = []
        for span in spans:
            last = bridged[-1] if bridged else None
            if last is not None and last.category == span.category and self._are_one(last, span, text):
                bridged[-1] = Annotation(last.start, max(last.end, span.end), last.category)
            else:
                bridged.append(span)
        return bridged

    def _are_one(self, first: Annotation, second: Annotation, text: str) -> bool:
        if first.category in self.people:
            return _BETWEEN_NAMES.fullmatch(text, first.end, second.start) is not None
        return (
            first.category in self.institutions and _BETWEEN_PARTS.fullmatch(text, first.end, second.start) is not None
        )


def _ahead(expression: re.Pattern[str], start: int, text: str) -> int:
    match = expression.search(text, max(0, start - _REACH), start)
    return start if match is None else match.start()
