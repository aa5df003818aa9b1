"""Whole spans in the place of labelled PHI of which a bank has pieces alone, drawn at the provider where codes are read.

Of a span of any form (address, e-mail, institution) a share tells its category, a public length and whether it has letters. The bank that drew
it holds no public span that could tell of somebody, only pieces: put one behind another they make "Hospital San Juan de la" or "lain .", and a
head learns that e-mails end ahead of their host. So the provider draws one of the forms of `shared.augment.drawn`, of as many words, with
names of the release's own lists. The same holds for categories of which no public note has a span, and for days, of which a bank puts
months and names together, since some are both. All that is drawn from is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from random import Random

import numpy as np

from shared.anonymity.surrogates import Pattern, SurrogateBank
from shared.augment.drawn.kinds import LANGUAGES, Kinds, kind_of_category, kinds_of
from shared.augment.drawn.people import Culture, People
from shared.labels import LabelScheme, categories_of_dates
from shared.text.tokens import cut_tokens

# Spans of each kind, drawn once; a share has fewer of most categories.
_DRAWN = 2000
_LETTERS = "Aa"


class DrawnSpans:
    """Draws spans by their pattern. What it draws from is read when the first is drawn: in-house nothing is.

    Args:
        bank: that drew the surrogates of the shares.
        scheme: of the labels.
        language: of the notes, one of LANGUAGES.
    """

    def __init__(self, bank: SurrogateBank, scheme: LabelScheme, language: str) -> None:
        self._bank, self._scheme, self._language = bank, scheme, language
        # Of days it has whole spans, but puts months and names together.
        always = categories_of_dates(scheme)
        self._left = frozenset(number for number in scheme.category_index.values() if bank.has_whole(number)) - always
        self._found: dict[int, dict[Pattern, list[tuple[str, ...]]]] = {}

    def draw(self, category: int, words: Sequence[str], generator: np.random.Generator) -> list[str] | None:
        """A span of the pattern of another, of as many words.

        Args:
            category: its number.
            words: a word of the casing class of each, punctuation as it is.
            generator: of the training.

        Returns:
            None where the bank draws the category, or no form has the pattern.
        """
        if category in self._left:
            return None
        if category not in self._found:
            self._found[category] = self._by_pattern(category)
        patterns = [self._bank.pattern(category, said) for said in (words, [_LETTERS] * len(words))]
        # Of a category without a public span even the bank's signs are those of another: a profession in digits.
        fitting = next((found for one in patterns if (found := self._found[category].get(one))), None)
        if fitting is None:
            return None
        drawn = fitting[int(generator.integers(len(fitting)))]
        return self._bank.written_like(category, words, list(drawn))

    def _by_pattern(self, category: int) -> dict[Pattern, list[tuple[str, ...]]]:
        kind = kind_of_category(self._scheme.name, self._scheme.categories[category])
        found: dict[Pattern, list[tuple[str, ...]]] = {}
        if kind is None or kind not in self._kinds:
            return found
        chance = Random(category)
        for _ in range(_DRAWN):
            words = tuple(cut_tokens(self._kinds.draw(kind, chance))[0])
            found.setdefault(self._bank.pattern(category, words), []).append(words)
        return found

    @cached_property
    def _kinds(self) -> Kinds:
        kinds = kinds_of(self._language, with_faker=False)
        names = tuple(word.capitalize() for listed in self._bank.lists for word in listed)
        return replace(kinds, people=People((Culture(names, names),), ())) if names else kinds


def drawn_spans(bank: SurrogateBank, scheme: LabelScheme, language: str | None) -> DrawnSpans | None:
    """What draws spans for shares under a scheme; None in languages whose forms nobody has written.

    Args:
        bank: that drew their surrogates.
        scheme: of the labels.
        language: of the notes; None where nobody knows.
    """
    return DrawnSpans(bank, scheme, language) if language in LANGUAGES and language is not None else None
