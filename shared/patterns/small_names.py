"""Names in small letters: words that lists of names have and no dictionary has.

In a note that is typed in haste nothing tells "suarez" from any other word, and a tagger that learned from tidier notes reads over it. A word
that people are called by, and that is no word of the language besides, names somebody however it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from shared.anonymity.names import names_of_countries
from shared.anonymity.shipped_lists import in_no_list
from shared.labels import LabelScheme
from shared.patterns.kinds import Suspicion, category_of

SOURCE = "name in small letters"
_PEOPLE = ("PATIENT", "NOMBRE_SUJETO_ASISTENCIA", "NAME", "PERSON")
# Shorter ones are abbreviations too often.
_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{4,}(?![^\W_])")
# Names that clinical notes use as words, and dictionaries lack.
_WORDS = frozenset("alba alta antero brady carina concha dada hemi lata peri pons".split())
# Share of its matches that were PHI in training notes, but for eponyms: 82 of 87 of MEDDOCAN, 469 of 474 of the hospital of `en_sites` that writes so most,
# whose names are drawn from such lists.
_CERTAINTY = 0.94


class SmallNames:
    """Finds them.

    Args:
        scheme: of the categories; where it has none for people nothing is found.
        language: of the notes, in English; None where nobody knows.
    """

    def __init__(self, scheme: LabelScheme, language: str | None) -> None:
        self._category = category_of(_PEOPLE, scheme)
        self._language = language

    def find(self, text: str) -> Iterator[Suspicion]:
        """Each such word."""
        if self._category is None:
            return
        names = _names(self._language)
        for word in _WORD.finditer(text):
            if word[0] in names:
                yield Suspicion(word.start(), word.end(), self._category, _CERTAINTY, SOURCE)


@cache
def _names(language: str | None) -> frozenset[str]:
    return in_no_list(names_of_countries(), language) - _WORDS
