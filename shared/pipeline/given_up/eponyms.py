"""What is called after a person and tells of none: `Kelly clamp`, `Braden 18`, `Jackson-Pratt`.

The one step behind a tagger that gives something up, so it asks for much: the very name stands on our list, what it names stands right
behind it (or a number, as behind a score), no title stands ahead of it, and the tagger took it for a person or an institution. Whatever a pattern finds of it
is hidden all the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

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
        match = _expression().match(text, span.start)
        return match is not None and match.end("name") >= span.end


@cache
def _expression() -> re.Pattern[str]:
    listed = tomllib.loads(read_text(Path(__file__).with_name("eponyms.toml")))

    def any_of(name: str) -> str:
        return "|".join(re.escape(word).replace(r"\-", "[- ]") for word in listed[name].split())

    # A score has a number behind it: "Braden 18".
    behind = rf"(?:[’']?s)?[ -](?:{any_of('behind')}|\d{{1,2}}(?![\d/:.-]))(?!\w)"
    return re.compile(rf"(?P<name>(?:{any_of('whole')})(?!\w)|(?:{any_of('names')})(?={behind}))")
