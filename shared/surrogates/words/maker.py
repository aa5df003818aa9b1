"""Surrogates of professions, institutions, departments and streets: drawn by category from public words, whatever they replace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shared.surrogates.maker import Drawn, Maker, Mention, Plan, Scope
from shared.surrogates.mechanisms.randomness import Randomness, choose
from shared.surrogates.people.lists import lists
from shared.surrogates.places.gazetteer import Atlas
from shared.surrogates.signs.formats import redraw
from shared.surrogates.spelling import cased_like, folded, on_one_line
from shared.surrogates.words.lists import word_lists
from shared.surrogates.words.streets import street

_ACRONYM = re.compile(r"[A-ZÁÉÍÓÚÑÇ]{2,6}")
_HEALTH = frozenset({"HOSPITAL", "CENTRO_SALUD"})
_LETTERS = "ABCDEFGHIJKLMNOPRSTUV"


class WordsMaker(Maker):
    """See the module.

    Args:
        atlas: names of towns that institutions are called after.
    """

    kinds = ("profession", "institution", "department", "street")

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    def read(self, mentions: Sequence[Mention], scope: Scope) -> Plan:
        """See `Maker`."""
        return Drawn([self._one(mention, on_one_line(mention.text), scope) for mention in mentions])

    def _one(self, mention: Mention, text: str, scope: Scope) -> str | None:
        if not any(map(str.isalnum, text)):
            return None
        if mention.kind == "street":
            return street(text, scope)
        chance = scope.randomness(mention.kind, folded(text))
        if mention.kind == "institution":
            return self._institution(mention.category, text, chance, scope)
        drawn = cased_like(choose(chance, word_lists(scope.language.name, mention.kind + "s")), text)
        digits = "".join(filter(str.isdecimal, text))
        return f"{drawn} {redraw(digits, chance)}" if mention.kind == "department" and digits else drawn

    def _institution(self, category: str, text: str, chance: Randomness, scope: Scope) -> str:
        if _ACRONYM.fullmatch(text):
            return "".join(choose(chance, _LETTERS) for _ in text)
        language = scope.language.name
        pattern = choose(chance, word_lists(language, "hospitals" if category in _HEALTH else "organizations"))
        while "{family}" in pattern:
            pattern = pattern.replace("{family}", choose(chance, lists().by_culture[language].family), 1)
        towns = self._atlas.level("place", language)
        town = choose(chance, towns.names) if towns else choose(chance, lists().by_culture[language].family)
        return cased_like(pattern.replace("{place}", town), text)
