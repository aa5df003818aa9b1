"""Relatives of the patient: word of kinship, name, age."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from shared.generate.person import Patient, People, Person


@dataclass(frozen=True, slots=True)
class Relative:
    """Someone of the patient's family and what they are called there."""

    kinship: str
    person: Person


@dataclass(frozen=True, slots=True)
class _Kinship:
    """A word, whether it means a woman, years older than the patient, and whether the surname is shared."""

    word: str
    female: bool
    years: int
    shares_name: bool


_KINSHIPS = {
    "en": (
        _Kinship("mother", True, 28, True),
        _Kinship("father", False, 30, True),
        _Kinship("sister", True, 3, False),
        _Kinship("brother", False, -2, True),
        _Kinship("daughter", True, -29, True),
        _Kinship("son", False, -27, True),
        _Kinship("wife", True, -2, True),
        _Kinship("husband", False, 2, True),
        _Kinship("aunt", True, 24, False),
        _Kinship("uncle", False, 25, True),
        _Kinship("niece", True, -24, False),
        _Kinship("nephew", False, -25, True),
        _Kinship("cousin", True, 4, False),
        _Kinship("granddaughter", True, -52, False),
        _Kinship("grandson", False, -50, True),
        _Kinship("partner", False, 1, False),
        _Kinship("grandmother", True, 54, False),
        _Kinship("ex-husband", False, 3, False),
    ),
    "es": (
        _Kinship("madre", True, 28, False),
        _Kinship("padre", False, 30, True),
        _Kinship("hermana", True, 3, True),
        _Kinship("hermano", False, -2, True),
        _Kinship("hija", True, -29, False),
        _Kinship("hijo", False, -27, False),
        _Kinship("esposa", True, -2, False),
        _Kinship("marido", False, 2, False),
        _Kinship("tía", True, 24, False),
        _Kinship("tío", False, 25, False),
        _Kinship("sobrina", True, -24, False),
        _Kinship("sobrino", False, -25, False),
        _Kinship("prima", True, 4, False),
        _Kinship("nieta", True, -52, False),
        _Kinship("nieto", False, -50, False),
        _Kinship("cuñado", False, 1, False),
        _Kinship("abuela", True, 54, False),
        _Kinship("suegra", True, 24, False),
    ),
}
_SPOUSES = frozenset({"wife", "husband", "partner", "ex-husband", "esposa", "marido", "suegra", "cuñado"})
_WIVES = frozenset({"wife", "esposa"})
_HUSBANDS = frozenset({"husband", "ex-husband", "marido"})


def draw_relative(random: Random, people: People, patient: Patient, language: str, taken: set[str]) -> Relative:
    """Someone who can be a living relative of a patient of this age and whose kinship is not taken yet."""
    fitting = [kinship for kinship in _KINSHIPS[language] if _fits(kinship, patient) and kinship.word not in taken]
    kinship = random.choice(fitting or _KINSHIPS[language][:4])
    years = kinship.years + random.randint(-3, 3)
    birth = patient.person.birth - timedelta(days=round(365.25 * years) + random.randint(0, 364))
    family = patient.person.family if kinship.shares_name and random.random() < 0.8 else ()
    return Relative(kinship.word, people.draw(random, birth, female=kinship.female, family=family))


def _fits(kinship: _Kinship, patient: Patient) -> bool:
    if not 4 < patient.age + kinship.years < 96:
        return False
    if kinship.word in _SPOUSES and patient.age < 25:
        return False
    return kinship.word not in (_HUSBANDS if not patient.person.female else _WIVES)
