"""People who never lived: names from seeded Faker instances, and how clinicians write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from faker import Faker

from shared.errors import ConfigurationError
from shared.generate.dates import age_on
from shared.generate.names import AMBIGUOUS, AMBIGUOUS_MEN, AMBIGUOUS_WOMEN, SHORT

_MAX_REDRAWS = 500


@dataclass(frozen=True, slots=True)
class Person:
    """One identity; every form of the name in a note comes from here.

    Args:
        given, middle: first names; the middle one may be empty.
        family: surnames as they stand together; in Spanish mostly two.
        nickname: what friends say.
        female: decides pronouns and titles.
        birth: day of birth.
    """

    given: str
    middle: str
    family: tuple[str, ...]
    nickname: str
    female: bool
    birth: date

    def form(self, form: str) -> str:
        """The name in a form such as "full" or "last_first.upper".

        Raises:
            ConfigurationError: there is no such form.
        """
        base, _, case = form.partition(".")
        text = self._base(base or "full")
        return {"upper": text.upper, "lower": text.lower}.get(case, lambda: text)()

    def _base(self, form: str) -> str:
        last = " ".join(self.family)
        first_letters = "".join(part[0] for part in (self.given, *self.family))
        forms = {
            "full": f"{self.given} {last}",
            "middle": f"{self.given} {self.middle[:1]}. {last}" if self.middle else f"{self.given} {last}",
            "double": f"{self.given} {self.middle} {last}".replace("  ", " "),
            "last_first": f"{last}, {self.given}",
            "last_first_middle": f"{last}, {self.given} {self.middle[:1]}".rstrip(),
            "last_given": f"{last} {self.given}",
            "last": self.family[0],
            "lasts": last,
            "first": self.given,
            "short": f"{self.given} {self.family[0]}",
            "first_l": f"{self.given} {self.family[0][0]}.",
            "f_last": f"{self.given[0]}. {self.family[0]}",
            "fm_last": f"{self.given[0]}{self.middle[:1]} {self.family[0]}",
            "last_f": f"{self.family[0]} {self.given[0]}",
            "initials": first_letters,
            "initials_dots": ".".join(first_letters) + ".",
            "l_dot": f"{self.family[0][0]}.",
            "nick": self.nickname,
            "nick_last": f"{self.nickname} {self.family[0]}",
            "login": ascii_letters(self.given[0] + self.family[0]).lower(),
        }
        if form not in forms:
            raise ConfigurationError(f"expected a form of a name, got {form}; known are {', '.join(forms)}")
        return forms[form]

    def age_on(self, day: date) -> int:
        """Age in whole years on a day."""
        return age_on(day, self.birth)


@dataclass(frozen=True, slots=True)
class Patient:
    """The person whom a note is about, and the stay that it describes."""

    person: Person
    admission: date
    discharge: date

    @property
    def age(self) -> int:
        """In years, on the day of admission."""
        return self.person.age_on(self.admission)


class People:
    """Draws people of one hospital.

    Args:
        language: "en" or "es".
        locales: (weight, Faker locale).
        avoided: words, in lower case, that may not be a name unless they are listed as ambiguous.
        ambiguous_rate: share of people with an ambiguous surname.
    """

    def __init__(
        self, language: str, locales: tuple[tuple[float, str], ...], avoided: frozenset[str], ambiguous_rate: float
    ) -> None:
        self._language = language
        self._weights = [weight for weight, _ in locales]
        providers = ["faker.providers.person"]
        self._fakers = [Faker(locale, use_weighting=False, providers=providers) for _, locale in locales]
        self._avoided = avoided
        self._ambiguous_rate = ambiguous_rate

    def draw(self, random: Random, birth: date, *, female: bool | None = None, family: tuple[str, ...] = ()) -> Person:
        """One person; depends on `random` alone.

        Args:
            random: source of all chance here; it seeds Faker too.
            birth: day of birth.
            female: sex, or None to draw it.
            family: surnames to inherit.
        """
        faker = random.choices(self._fakers, self._weights)[0]
        faker.seed_instance(random.getrandbits(64))
        female = random.random() < 0.5 if female is None else female
        given = self._given(faker, random, female)
        middle = self._given(faker, random, female) if random.random() < 0.6 else ""
        if not family:
            family = tuple(self._surname(faker, random) for _ in range(self._surnames(random)))
        return Person(given, middle, family, self._nickname(random, given), female, birth)

    def surname(self, random: Random) -> str:
        """A surname for a street or a company."""
        faker = random.choices(self._fakers, self._weights)[0]
        faker.seed_instance(random.getrandbits(64))
        return self._clean(faker.last_name)

    def _surnames(self, random: Random) -> int:
        return 2 if self._language == "es" and random.random() < 0.9 else 1

    def _given(self, faker: Faker, random: Random, female: bool) -> str:
        if random.random() < self._ambiguous_rate / 2:
            return random.choice((AMBIGUOUS_WOMEN if female else AMBIGUOUS_MEN)[self._language])
        return self._clean(faker.first_name_female if female else faker.first_name_male)

    def _surname(self, faker: Faker, random: Random) -> str:
        if random.random() < self._ambiguous_rate:
            return random.choice(AMBIGUOUS[self._language])
        return self._clean(faker.last_name)

    def _clean(self, draw: Callable[[], str]) -> str:
        """A name that is no word of the site's own texts; Faker's lists hold such names."""
        for _ in range(_MAX_REDRAWS):
            name = draw()
            if not any(part.lower() in self._avoided for part in name.replace("-", " ").replace("'", " ").split()):
                return name
        raise ConfigurationError(f"expected a name that no text here holds, got none in {_MAX_REDRAWS}; add a locale")

    def _nickname(self, random: Random, given: str) -> str:
        initial = ascii_letters(given[:1]).upper()
        return random.choice(SHORT[self._language].get(initial, given).split())


def ascii_letters(text: str) -> str:
    """The text without accents and without all that is no ASCII letter or digit."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(character for character in plain if character.isascii() and character.isalnum())


def draw_birth(random: Random, day: date) -> date:
    """A day of birth of someone between 4 and 97 years old, older people being commoner."""
    low, high = random.choices([(4, 17), (18, 44), (45, 69), (70, 97)], [1, 3, 5, 4])[0]
    return day - timedelta(days=random.randint(low * 366, high * 365))
