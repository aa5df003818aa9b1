"""The facts of one note: every slot asks here, so that names, numbers and days agree from the first line to the last.

A slot is named after its kind, with a digit where a note needs several ("doctor2", "city3"); the same name gives
the same value again, in any form. A star asks for a fresh value each time ("past*").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from shared.errors import ConfigurationError
from shared.generate.dates import fields, number_in_words
from shared.generate.grammar import Grammar, Piece
from shared.generate.kinship import Relative, draw_relative
from shared.generate.person import Patient, People, Person, ascii_letters, draw_birth
from shared.generate.profile import SiteProfile
from shared.generate.slots import CATEGORIES, DATE_SLOTS
from shared.generate.wording import SEXES, gendered_words

_FIRST_YEAR, _LAST_YEAR = 2003, 2023
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
_DAYS_AGO = {"recent": (1, 60), "past": (30, 900), "old": (900, 9000)}
_GROWN_UP = 18
_CHILD = 14

# In Spanish, words of kinship are PHI and therefore slots.
_KINSHIP_WORDS = frozenset({"kin1", "kin2", "kin3", "kin4"})
_DOCTOR_TITLES = frozenset(f"{title}{number}" for title in ("dr", "eldr") for number in range(1, 5))
_ADDRESS_PARTS = frozenset(
    {"first_ascii", "last_ascii", "doctor_login", "doctor_ascii", "code_letters", "birth_digits"}
)


def word_names(language: str) -> frozenset[str]:
    """Every name that `NoteFacts.word` knows."""
    extra = _KINSHIP_WORDS if language == "en" else _DOCTOR_TITLES
    return frozenset(gendered_words(language, True, Random(0))) | _ADDRESS_PARTS | extra | {"surname", "later"}


@dataclass(frozen=True, slots=True)
class Setting:
    """What all notes of one hospital share."""

    profile: SiteProfile
    grammar: Grammar
    people: People
    roster: tuple[Person, ...]


def _cased(word: str, form: str) -> str:
    return word.capitalize() if form == "cap" else word


class NoteFacts:
    """Draws the facts of one note when they are first asked for.

    Args:
        setting: the hospital.
        random: source of all chance of this note.
    """

    def __init__(self, setting: Setting, random: Random) -> None:
        self._setting = setting
        self._random = random
        self._language = setting.profile.language
        self.patient = self._draw_patient()
        self._doctors = random.sample(setting.roster, min(4, len(setting.roster)))
        self._values: dict[str, str] = {}
        self._days: dict[str, date] = {}
        self._relatives: dict[str, Relative] = {}
        self._minute = random.randrange(24 * 60)
        self._words = gendered_words(self._language, self.patient.person.female, random)
        self._words |= self._address_parts()
        if self._language == "es":
            self._words |= self._doctor_titles()

    def word(self, name: str) -> str | None:
        """Text that is not PHI; see `grammar.Facts`."""
        if name == "surname":
            return self._setting.people.surname(self._random)
        if name == "later":
            self._minute += self._random.randint(2, 45)
            return f"{self._minute // 60 % 24:02}:{self._minute % 60:02}"
        if name in _KINSHIP_WORDS and self._language == "en":
            return self._relative(name).kinship
        return self._words.get(name)

    def slot(self, name: str, form: str) -> Piece:
        """PHI of this note; see `grammar.Facts`."""
        base = name.rstrip("0123456789*")
        category = CATEGORIES[self._language].get(base)
        if category is None:
            known = ", ".join(CATEGORIES[self._language])
            raise ConfigurationError(f"expected a slot of language {self._language}, got {name}; known are {known}")
        return Piece(self._value(name, base, form), category)

    def _value(self, name: str, base: str, form: str) -> str:
        if base in DATE_SLOTS:
            return self._date(name, base, form or "text")
        special: dict[str, Callable[[], str]] = {
            "patient": lambda: self.patient.person.form(form),
            "doctor": lambda: self._doctor(name).form(form),
            "relative": lambda: self._relative(name).person.form(form),
            "kin": lambda: _cased(self._relative(name).kinship, form),
            "sex": lambda: self._sex(form),
            "age": lambda: self._age(self.patient.age, form),
            "kinage": lambda: self._age(self._relative("kin1").person.age_on(self.patient.admission), form),
        }
        if base in special:
            return special[base]()
        rule = name if f"@{name}" in self._setting.grammar else base
        if name == "profession" and self.patient.age < _GROWN_UP:
            rule = "profession_young"
        return self._remembered(name, f"{rule}_{form}" if form else rule)

    def _remembered(self, name: str, rule: str) -> str:
        if name.endswith("*"):
            return self._filled(rule)
        key = f"{name}:{rule}"
        if key not in self._values:
            self._values[key] = self._filled(rule)
        return self._values[key]

    def _filled(self, rule: str) -> str:
        pieces = self._setting.grammar.expand(f"@{rule}", self, self._random)
        pattern = "".join(piece.text for piece in pieces)
        draw = self._random
        fill = {
            "#": lambda: str(draw.randrange(10)),
            "%": lambda: str(draw.randint(1, 9)),
            "~": lambda: draw.choice(_LETTERS),
        }
        return "".join(fill[character]() if character in fill else character for character in pattern)

    def _doctor(self, name: str) -> Person:
        number = name.removeprefix("doctor")
        if number == "*":
            return self._random.choice(self._setting.roster)
        return self._doctors[(int(number or 1) - 1) % len(self._doctors)]

    def _relative(self, name: str) -> Relative:
        """The relative behind "kin1" and "relative1", which is one person; "kin*" is someone new each time."""
        number = name.removeprefix("kin").removeprefix("relative") or "1"
        if number in self._relatives:
            return self._relatives[number]
        taken = {relative.kinship for relative in self._relatives.values()}
        relative = draw_relative(self._random, self._setting.people, self.patient, self._language, taken)
        if number != "*":
            self._relatives[number] = relative
        return relative

    def _sex(self, form: str) -> str:
        person = self.patient.person
        if form in ("", "cap"):
            child = self.patient.age < _CHILD and self._random.random() < 0.8
            words = ("niña", "niño") if child else ("mujer", self._random.choice(("varón", "hombre")))
            return _cased(words[not person.female], form)
        return SEXES[form][not person.female]

    def _age(self, age: int, form: str) -> str:
        age = max(age, 1)
        unit = " años" if self._language == "es" else ""
        forms = {
            "": f"{age}{unit}",
            "number": str(age),
            "words": f"{number_in_words(min(age, 99), self._language)}{unit}",
            "decade": f"{age // 10 * 10}s",
            "glued": f"{age}a",
        }
        if form not in forms:
            raise ConfigurationError(f"expected a form of an age, got {form}; known are {', '.join(forms)}")
        return forms[form]

    def _date(self, name: str, base: str, form: str) -> str:
        profile = self._setting.profile
        if form not in profile.dates:
            raise ConfigurationError(f"expected a form of dates at {profile.name}, got {form}; add it to its profile")
        if name not in self._days or name.endswith("*"):
            self._days[name] = self._day(base)
        return self._random.choice(profile.dates[form]).format(**fields(self._days[name], self._language))

    def _day(self, base: str) -> date:
        draw, admission, discharge = self._random, self.patient.admission, self.patient.discharge
        if base == "stay":
            return admission + timedelta(days=draw.randint(0, (discharge - admission).days))
        if base == "next":
            return discharge + timedelta(days=draw.randint(3, 120))
        if base in _DAYS_AGO:
            latest, earliest = _DAYS_AGO[base]
            lived = (admission - self.patient.person.birth).days
            return admission - timedelta(days=draw.randint(latest, min(earliest, lived)))
        return {"admit": admission, "discharge": discharge, "birth": self.patient.person.birth}[base]

    def _draw_patient(self) -> Patient:
        draw = self._random
        admission = date(draw.randint(_FIRST_YEAR, _LAST_YEAR), 1, 1) + timedelta(days=draw.randint(0, 364))
        birth = draw_birth(draw, admission)
        person = self._setting.people.draw(draw, birth)
        return Patient(person, admission, admission + timedelta(days=draw.randint(1, 15)))

    def _doctor_titles(self) -> dict[str, str]:
        titles: dict[str, str] = {}
        for number, doctor in enumerate(self._doctors, start=1):
            titles[f"dr{number}"] = "Dra." if doctor.female else "Dr."
            titles[f"eldr{number}"] = "la Dra." if doctor.female else "el Dr."
        return titles

    def _address_parts(self) -> dict[str, str]:
        """Parts of electronic addresses, which only the values of slots use."""
        person, doctor = self.patient.person, self._doctors[0]
        return {
            "first_ascii": ascii_letters(person.given).lower(),
            "last_ascii": ascii_letters(person.family[0]).lower(),
            "doctor_login": doctor.form("login"),
            "doctor_ascii": ascii_letters(doctor.family[0]).lower(),
            "birth_digits": f"{person.birth.year % 100:02}{person.birth:%m%d}",
            "code_letters": (ascii_letters("".join(person.family))[:3] + ascii_letters(person.given)[:1]).upper(),
        }
