"""Whole spans in the place of labelled PHI of which a bank has pieces alone, drawn at the provider where codes are read.

Of a span of any form (address, e-mail, institution) a share tells its category, a public length and whether it has letters. The bank that drew
it holds no public span that could tell of somebody, only pieces: put one behind another they make "Hospital San Juan de la" or "lain .", and a
head learns that e-mails end ahead of their host. So the provider draws one of the forms of `shared.augment.drawn`, of as many words, with
names of the release's own lists. The same holds for categories of which no public note has a span, and for days, of which a bank puts
months and names together, since some are both. All that is drawn from is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    """Draws spans by their pattern.

    Args:
        bank: that drew the surrogates of the shares.
        kinds: what can be drawn.
        named: kind of each category that has one, by its number.
        always: categories that the bank does not draw either where it has whole spans of them.
    """

    def __init__(
        self, bank: SurrogateBank, kinds: Kinds, named: Mapping[int, str], always: frozenset[int] = frozenset()
    ) -> None:
        self._bank, self._kinds, self._named = bank, kinds, dict(named)
        # What the bank draws well is not drawn here.
        self._left = frozenset(category for category in named if bank.has_whole(category)) - always
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
        if category in self._left or category not in self._named:
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
        chance = Random(category)
        found: dict[Pattern, list[tuple[str, ...]]] = {}
        for _ in range(_DRAWN):
            words = tuple(cut_tokens(self._kinds.draw(self._named[category], chance))[0])
            found.setdefault(self._bank.pattern(category, words), []).append(words)
        return found


def drawn_spans(bank: SurrogateBank, scheme: LabelScheme, language: str | None) -> DrawnSpans | None:
    """What draws spans for shares under a scheme; None in languages whose forms nobody has written.

    Args:
        bank: that drew their surrogates.
        scheme: of the labels.
        language: of the notes; None where nobody knows.
    """
    if language not in LANGUAGES:
        return None
    kinds = kinds_of(language, with_faker=False)
    names = tuple(word.capitalize() for listed in bank.lists for word in listed)
    if names:
        kinds = replace(kinds, people=People((Culture(names, names),), ()))
    named = {number: kind_of_category(scheme.name, category) for category, number in scheme.category_index.items()}
    known = {number: kind for number, kind in named.items() if kind is not None and kind in kinds}
    return DrawnSpans(bank, kinds, known, categories_of_dates(scheme))
