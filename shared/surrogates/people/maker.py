"""Surrogates of the names of people: every word of a name gets a word, the same word always the same, whatever capitals and accents it has.

A surrogate is drawn uniformly from a public list, so it tells nothing of the name but what is public: how many words it has and how they are written, which
words of the note are the same, and the gender that a list has for a given name (with the settings also its first letter, or the list that it stands on).
It may be the true one, with probability one over the length of the list: a draw that could never be the true one would tell what it is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shared.surrogates.maker import Drawn, Maker, Mention, Plan, Scope
from shared.surrogates.mechanisms.randomness import choose
from shared.surrogates.people.lists import GENDERS, Lists, lists
from shared.surrogates.spelling import cased_like, folded, on_one_line
from shared.surrogates.words.lists import word_lists

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]{2,})?")
# No words that are names as well ("Don", "Do", "Nurse"): these are replaced like names.
_AHEAD = frozenset("dr dra dres drs prof profesor profesora doctor doctora mr mrs ms miss sr sra srta mme mlle".split())
_BEHIND = frozenset("md phd mbbs jr".split())
# They stand ahead of a surname, and go with it.
_PARTICLES = frozenset(
    "de del la las los da das do dos di du des der den van von y e i le el al bin ibn ter ten zu san".split()
)
_SPANISH_SURNAMES = 2


class PeopleMaker(Maker):
    """See the module."""

    kinds = ("person", "kin")

    def read(self, mentions: Sequence[Mention], scope: Scope) -> Plan:
        """See `Maker`."""
        names = _Names(scope)
        texts = [on_one_line(mention.text) for mention in mentions]
        # The longest first: they show which word is the given name.
        for text in sorted(texts, key=lambda text: (-len(_WORD.findall(text)), text)):
            names.learn(text)
        return Drawn([names.write(text, mention.kind) for text, mention in zip(texts, mentions, strict=True)])


class _Names:
    """The words of the names of a note."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._lists: Lists = lists()
        self._roles: dict[str, str] = {}
        self._used: dict[str, str] = {}
        self._taken: set[str] = set()
        self._initials: dict[str, str] = {}

    def learn(self, text: str) -> None:
        """Which words are given names and which surnames, where nobody has said it yet."""
        words = _words(text)
        roles = self._guess(text, words)
        for word, role in zip(words, roles, strict=True):
            if len(word) > 1:
                self._roles.setdefault(folded(word), role)
                self._initials.setdefault(folded(word)[:1], word)

    def _guess(self, text: str, words: Sequence[str]) -> list[str]:
        if not words:
            return []
        before, comma, _ = text.partition(",")
        surnames = len(_words(before)) if comma else 0
        if 0 < surnames < len(words):
            return ["family"] * surnames + ["given"] * (len(words) - surnames)
        if len(words) == 1:
            return [self._role_alone(words[0])]
        if self._scope.language.name == "Spanish":
            # Two surnames, unless the second word is known as a given name alone.
            second = len(words) > 2 or self._role_alone(words[-1]) == "given"
            family = min(_SPANISH_SURNAMES if second else 1, len(words) - 1)
        else:
            family = 1
        return ["given"] * (len(words) - family) + ["family"] * family

    def _role_alone(self, word: str) -> str:
        known = folded(word)
        return "given" if known in self._lists.gender_of and known not in self._lists.is_family else "family"

    def write(self, text: str, kind: str) -> str | None:
        """The surrogate of a name, in its form."""
        if kind == "kin" and (relative := self._relative(text)) is not None:
            return relative
        if any(map(str.isdigit, text)):
            return None
        written, place = "", 0
        matches = list(_WORD.finditer(text))
        joined = drawn = False
        for number, match in enumerate(matches):
            word = match[0]
            if not joined:
                written += text[place : match.start()]
            place = match.end()
            # It goes with the word behind it, where there is one.
            joined = folded(word) in _PARTICLES and not word.isupper() and number + 1 < len(matches)
            if not joined:
                title = _is_title(text, match)
                written += word if title else self._word(word)
                drawn = drawn or not title
        # Titles alone would be written back.
        return written + text[place:] if drawn else None

    def _relative(self, text: str) -> str | None:
        """A word of kinship for another one of the same gender and number."""
        for group in word_lists(self._scope.language.name, "kin"):
            listed = group.split()
            if folded(text) in map(folded, listed):
                return cased_like(choose(self._scope.randomness("kin", folded(text)), listed), text)
        return None

    def _word(self, word: str) -> str:
        known = folded(word)
        if len(word) == 1:
            # "J. Smith" is the same in every note of a patient, whether or not it says "John", too; see `_role`.
            full = None if self._scope.lasts else self._initials.get(known)
            if full is not None:
                return cased_like(self._drawn(folded(full))[:1], word)
            if self._scope.lasts and self._scope.settings.names.initials:
                # Public as the first letter of a name is: unless one name alone has it.
                return cased_like(choose(self._scope.randomness("initial", known), self._candidates(known))[:1], word)
            letter = "abcdefghijklmnopqrstuvwxyz"[self._scope.randomness("initial", known).below(26)]
            return letter.upper() if word.isupper() else letter
        return cased_like(self._drawn(known), word)

    def _drawn(self, known: str) -> str:
        if known in self._used:
            return self._used[known]
        candidates = self._candidates(known)
        chance = self._scope.randomness("name", known)
        drawn = choose(chance, candidates)
        # Two people of a note stay two, as long as there are names.
        if drawn in self._taken and not self._scope.lasts:
            drawn = choose(chance, [name for name in candidates if name not in self._taken] or candidates)
        self._used[known] = drawn
        self._taken.add(drawn)
        return drawn

    def _candidates(self, known: str) -> Sequence[str]:
        settings = self._scope.settings.names
        culture = self._scope.language.name
        if settings.culture:
            stands = self._lists.cultures_of.get(known, ())
            culture = culture if culture in stands or not stands else stands[0]
        names = self._lists.by_culture[culture]
        if self._role(known) == "family":
            listed: Sequence[str] = names.family
        else:
            guess = names.gender_of.get(known, self._lists.gender_of.get(known, ""))
            gender = guess if settings.gender else ""
            listed = names.given[gender] if gender else [*names.given[GENDERS[0]], *names.given[GENDERS[1]]]
        if settings.initials:
            same = [name for name in listed if folded(name)[:1] == known[:1]]
            # One name is no draw.
            listed = same if len(same) > 1 else listed
        return listed

    def _role(self, known: str) -> str:
        # What lasts longer than a note must not hang on the other names of one.
        return self._role_alone(known) if self._scope.lasts else self._roles.get(known, "family")


def _words(text: str) -> list[str]:
    """The words of a name without titles and particles."""
    return [
        match[0] for match in _WORD.finditer(text) if folded(match[0]) not in _PARTICLES and not _is_title(text, match)
    ]


def _is_title(text: str, match: re.Match[str]) -> bool:
    """Whether a word is a title: it begins a name, or ends it, and does not stand alone."""
    word = folded(match[0])
    ahead = word in _AHEAD and match.start() == 0 and len(text.rstrip(". ")) > len(match[0])
    return ahead or (word in _BEHIND and match.start() > 0 and match.end() == len(text.rstrip(".")))


def public_names() -> Mapping[str, Sequence[str]]:
    """Every list that names are drawn from, by what it is of."""
    found: dict[str, Sequence[str]] = {}
    for culture, names in lists().by_culture.items():
        found |= {f"{culture} {gender}": listed for gender, listed in names.given.items()} | {
            f"{culture} family": names.family
        }
    return found
