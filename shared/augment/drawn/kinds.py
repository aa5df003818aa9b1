"""PHI of a kind, drawn from the forms of a data file: a small engine that fills them."""

from __future__ import annotations

import importlib
import re
import string
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from random import Random

from shared.augment.drawn.people import Culture, People, people_of
from shared.errors import ConfigurationError
from shared.generate.dates import fields

LANGUAGES = ("English", "Spanish")
_FILES = {"English": ("english", "en"), "Spanish": ("spanish", "es")}
_DRAWN = re.compile(r"\{(\w+)\}|[89~^]")
_DIGITS, _NONZERO = "0123456789", "123456789"
# What has no spaces, accents and capitals.
_ELECTRONIC = frozenset({"login", "host", "page", "username"})
# A note is of these years, mostly; a birth, or a history, may be of any.
_RECENT, _ANY = (date(1996, 1, 1), date(2030, 12, 31)), (date(1920, 1, 1), date(2030, 12, 31))
_RECENT_SHARE = 0.7


@dataclass(frozen=True, repr=False)
class Kinds:
    """What can be drawn in one language.

    Args:
        forms: of each kind.
        words: lists of words by themselves.
        people: whose names are drawn.
        language: two letters, for dates.
    """

    forms: Mapping[str, Sequence[str]]
    words: Mapping[str, Sequence[str]]
    people: People
    language: str

    def __contains__(self, kind: str) -> bool:
        return kind in self.forms or kind in self.words

    def draw(self, kind: str, chance: Random) -> str:
        """One of a kind, which must be in the files.

        Args:
            kind: its name there.
            chance: the only source of chance.
        """
        return _Drawing(self, chance).one(kind)


@cache
def kinds_of(language: str, *, with_faker: bool = True) -> Kinds:
    """The kinds of a language.

    Args:
        language: one of LANGUAGES.
        with_faker: see `people_of`.

    Raises:
        ConfigurationError: there is no file for it.
    """
    if language not in _FILES:
        raise ConfigurationError(f"expected a language among {', '.join(LANGUAGES)}, got {language!r}")
    name, short = _FILES[language]
    data = tomllib.loads((resources.files("shared.augment.drawn") / f"{name}.toml").read_text(encoding="utf-8"))
    words = {kind: tuple(listed.split()) for kind, listed in data["words"].items()}
    return Kinds(
        data["forms"],
        words | {"profession": _professions(short)},
        people_of(language, with_faker=with_faker),
        short,
    )


def kind_of_category(scheme: str, category: str) -> str | None:
    """The kind that a category of a scheme is drawn as; None where none is known."""
    return _kinds_of_categories().get(scheme, {}).get(category)


@cache
def _kinds_of_categories() -> Mapping[str, Mapping[str, str]]:
    text = (resources.files("shared.augment.drawn") / "kinds.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _professions(language: str) -> tuple[str, ...]:
    # Imported here: it takes time that most commands need not pay.
    provider = importlib.import_module(
        "faker.providers.job.es_ES" if language == "es" else "faker.providers.job"
    ).Provider
    # "Accountant, chartered" is a chartered accountant.
    return tuple(dict.fromkeys(" ".join(reversed(name.lower().split(", "))) for name in provider.jobs))


class _Drawing:
    """One entity: of one person, on one day."""

    def __init__(self, kinds: Kinds, chance: Random) -> None:
        self._kinds, self._chance = kinds, chance
        self._culture: Culture | None = None
        self._day: dict[str, str] | None = None

    def one(self, kind: str) -> str:
        if kind in self._kinds.words:
            return self._chance.choice(self._kinds.words[kind])
        form = self._chance.choice(self._kinds.forms[kind])
        flat = kind in _ELECTRONIC
        return _DRAWN.sub(lambda found: self._filled(found, flat=flat), form)

    def _filled(self, found: re.Match[str], *, flat: bool) -> str:
        name = found.group(1)
        if name is None:
            signs = {"9": _DIGITS, "8": _NONZERO, "~": string.ascii_uppercase, "^": string.ascii_lowercase}
            return self._chance.choice(signs[found.group()])
        drawn = self._field(name)
        return _electronic(drawn) if flat and name in ("given", "family", "place", "nature", "town") else drawn

    def _field(self, name: str) -> str:
        if name in ("given", "family"):
            return self._named(name)
        if name in self._kinds:
            return self.one(name)
        if self._day is None:
            self._day = self._fields()
        return self._day[name]

    def _named(self, part: str) -> str:
        if self._culture is None:
            self._culture = self._kinds.people.culture(self._chance)
        if part == "given":
            return self._chance.choice(self._culture.given)
        return self._kinds.people.family(self._culture, self._chance)

    def _fields(self) -> dict[str, str]:
        first, last = _RECENT if self._chance.random() < _RECENT_SHARE else _ANY
        day = date.fromordinal(self._chance.randint(first.toordinal(), last.toordinal()))
        found = fields(day, self._kinds.language)
        return found | {"U": found["b"].upper()}


def _electronic(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.lower())
    return "".join(sign for sign in plain if sign.isalnum() and sign.isascii()) or "x"
