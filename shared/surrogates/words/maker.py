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

_ACRONYM = re.compile(r"[A-ZÁÉÍÓÚÑÇ]{2,6}")
_TOKEN = re.compile(r"\w+|\W+")
_HEALTH = frozenset({"HOSPITAL", "CENTRO_SALUD"})
_LETTERS = "ABCDEFGHIJKLMNOPRSTUV"
_LONGEST_CODE = 2
_ENGLISH_ENDS = ("st", "nd", "rd", "th")
_NUMBER = re.compile(r"(?P<begin>[^\W\d]*)(?P<digits>\d+)(?P<end>[^\W\d]*)")


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
            return _street(text, scope)
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


def _street(text: str, scope: Scope) -> str:
    """Numbers drawn, words such as "Avenue" as they are, and the name of one street in the place of all other words."""
    known = frozenset(map(folded, word_lists(scope.language.name, "street_words")[0].split()))
    tokens = [(token, _street_part(token, known)) for token in _TOKEN.findall(text)]
    names = [token for token, part in tokens if part == "name"]
    drawn = choose(scope.randomness("street", folded(" ".join(names))), word_lists(scope.language.name, "streets"))
    model = next((name for name in names if name[:1].isupper()), names[0] if names else "")
    written, named = "", False
    for place, (token, part) in enumerate(tokens):
        if part == "name":
            # The words behind the first, and what stands between them, are one name with it.
            written += "" if named else cased_like(drawn, model)
            named = True
        elif part == "gap" and named and place + 1 < len(tokens) and tokens[place + 1][1] == "name":
            continue
        else:
            written += (
                _house(token, known, scope.randomness("house", folded(text), str(place))) if part == "drawn" else token
            )
    return written


def _house(token: str, known: frozenset[str], chance: Randomness) -> str:
    """A number of a house, "2nd" and "Nº12" with what they begin and end with."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        return redraw(token, chance)
    begin, digits, end = match["begin"], redraw(match["digits"], chance), match["end"]
    return (
        (begin if folded(begin) in known else redraw(begin, chance))
        + digits
        + ("th" if end.lower() in _ENGLISH_ENDS else redraw(end, chance))
    )


def _street_part(token: str, known: frozenset[str]) -> str:
    if not any(map(str.isalnum, token)):
        return "gap"
    if folded(token) in known:
        return "word"
    # "3ºB": whatever holds a digit, and a letter or two alone, is a number of a house.
    return "drawn" if any(map(str.isdigit, token)) or len(token) <= _LONGEST_CODE else "name"
