"""Identities, their forms, their dates and their relatives."""

from __future__ import annotations

import random as global_random
from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import ConfigurationError
from shared.generate.dates import age_on, fields, number_in_words
from shared.generate.kinship import draw_relative
from shared.generate.names import AMBIGUOUS
from shared.generate.person import Patient, People, Person, draw_birth

ADA = Person("Ada", "Maria", ("Stone", "Field"), "Addie", True, date(1950, 3, 31))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("full", "Ada Stone Field"),
        ("last", "Stone"),
        ("lasts.upper", "STONE FIELD"),
        ("last_first", "Stone Field, Ada"),
        ("first.lower", "ada"),
        ("middle", "Ada M. Stone Field"),
        ("initials_dots", "A.S.F."),
        ("f_last", "A. Stone"),
        ("nick", "Addie"),
        ("login", "astone"),
    ],
)
def test_form_of_a_name(form: str, expected: str) -> None:
    assert ADA.form(form) == expected


def test_unknown_form_of_a_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="form of a name"):
        ADA.form("backwards")


def people(avoided: frozenset[str] = frozenset(), rate: float = 0.0, language: str = "en") -> People:
    return People(language, ((1.0, "en_US" if language == "en" else "es_ES"),), avoided, rate)


def test_a_person_depends_on_the_source_of_chance_alone() -> None:
    first, second = people(), people()
    second.draw(Random(99), ADA.birth)
    assert first.draw(Random(7), ADA.birth) == second.draw(Random(7), ADA.birth)


def test_drawing_leaves_the_global_generator_alone() -> None:
    before = global_random.getstate()
    people().draw(Random(1), ADA.birth)
    assert global_random.getstate() == before


def test_avoided_words_are_no_names() -> None:
    free = [people().draw(Random(seed), ADA.birth) for seed in range(200)]
    avoided = frozenset(name.lower() for person in free[:20] for name in (person.given, person.family[0]))
    names = [people(avoided).draw(Random(seed), ADA.birth) for seed in range(200)]
    assert not avoided & {part.lower() for person in names for part in (person.given, person.middle, *person.family)}


def test_too_many_avoided_words_are_an_error_and_no_endless_loop() -> None:
    class Everything(frozenset[str]):
        def __contains__(self, word: object) -> bool:
            return True

    with pytest.raises(ConfigurationError, match="locale"):
        people(Everything()).draw(Random(1), ADA.birth)


@pytest.mark.parametrize("language", ["en", "es"])
def test_some_surnames_are_words_on_purpose(language: str) -> None:
    drawn = [people(rate=1.0, language=language).draw(Random(seed), ADA.birth) for seed in range(20)]
    assert {name for person in drawn for name in person.family} <= set(AMBIGUOUS[language])


@pytest.mark.parametrize(
    ("number", "language", "words"),
    [
        (0, "en", "zero"),
        (21, "en", "twenty-one"),
        (90, "en", "ninety"),
        (29, "es", "veintinueve"),
        (53, "es", "cincuenta y tres"),
    ],
)
def test_number_in_words(number: int, language: str, words: str) -> None:
    assert number_in_words(number, language) == words


@pytest.mark.parametrize(
    ("day", "ordinal"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (12, "12th"), (13, "13th"), (22, "22nd")]
)
def test_ordinal(day: int, ordinal: str) -> None:
    assert fields(date(2020, 1, day), "en")["o"] == ordinal


@given(st.dates(date(1900, 1, 1), date(2030, 12, 31)))
def test_fields_of_a_day_agree_with_its_iso_form(day: date) -> None:
    named = fields(day, "es")
    assert "{Y}-{mm}-{dd}".format(**named) == day.isoformat()
    assert named["y"] == named["Y"][2:]


def test_age_changes_on_the_birthday() -> None:
    assert [age_on(date(2000, 3, day), ADA.birth) for day in (30, 31)] == [49, 50]


@given(st.integers(0, 10**6), st.sampled_from(["en", "es"]))
def test_a_relative_can_be_alive_and_of_the_right_age(seed: int, language: str) -> None:
    random = Random(seed)
    day = date(2015, 6, 1)
    drawer = people(language=language)
    person = drawer.draw(random, draw_birth(random, day))
    relative = draw_relative(random, drawer, Patient(person, day, day), language, set())
    older = relative.person.age_on(day) - person.age_on(day)
    assert 0 <= relative.person.age_on(day) < 101
    assert older > 10 if relative.kinship in {"mother", "father", "madre", "padre", "abuela"} else older < 70
