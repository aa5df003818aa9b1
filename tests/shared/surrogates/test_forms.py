"""The form of a surrogate tells nothing of the value: what one writer writes of any two values is, once both are drawn as the same, the same text."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.spelling import strip_accents
from shared.surrogates.time import maker
from shared.surrogates.time.languages import Language, in_words, languages

TODAY = datetime.date(2024, 5, 1)
DAYS = st.dates(datetime.date(1950, 1, 1), datetime.date(2023, 12, 31))
Writer = Callable[[datetime.date], str]


def drawn(text: str, steps: int, language: str, category: str = "DATE") -> str:
    """What stands for it when its noise is so many units."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(maker, "discrete_laplace", lambda chance, epsilon: steps)
        made = Surrogates(SurrogateSettings(language=language, epsilon=Fraction(1)), today=TODAY).replace(
            Document("n", text, (Annotation(0, len(text), category),))
        )
    return made.text


def writers(language: Language) -> Iterator[tuple[str, Writer]]:
    """Habits of people, each of whom writes all dates alike."""
    name = language.name
    of = {"English": "", "Spanish": "de ", "French": ""}[name]
    short = [{"sep": "sept"}.get(one, one) if name == "English" else one for one in language.short_months]

    def cut(day: datetime.date, point: str) -> str:
        """Who writes "Feb." writes "May"."""
        word, whole = short[day.month - 1], language.months[day.month - 1]
        return word + point * (word != whole)

    def long(day: datetime.date) -> str:
        return language.months[day.month - 1]

    def numbers(day: datetime.date, form: str) -> str:
        first, second = (day.month, day.day) if name == "English" else (day.day, day.month)
        return form.format(first, second, day.year, day.year % 100)

    yield "no zeros", lambda day: numbers(day, "{0}/{1}/{2}")
    yield "zeros", lambda day: numbers(day, "{0:02}/{1:02}/{2}")
    yield "short year", lambda day: numbers(day, "{0}-{1}-{3:02}")
    yield "short month", lambda day: f"{day.day} {cut(day, '')} {day.year}"
    yield "point", lambda day: f"{day.day} {cut(day, '.')} {day.year}"
    yield "capitals", lambda day: f"{day.day:02} {cut(day, '').upper()} {day.year}"
    yield "months", lambda day: f"{day.day} {of}{long(day)} {of}{day.year}"
    yield "no accents", lambda day: f"{day.day} {of}{strip_accents(long(day))} {of}{day.year}"
    yield (
        "weekday",
        lambda day: f"{strip_accents(language.weekdays[day.weekday()])} {day.day} {of}{long(day)} {of}{day.year}",
    )
    yield "Roman", lambda day: f"{day.day}-{'I II III IV V VI VII VIII IX X XI XII'.split()[day.month - 1]}-{day.year}"
    if name == "English":
        yield "three letters", lambda day: f"{day:%d-%b-%y}"
        yield "ordinal", lambda day: f"{day:%B} {day.day}{_end(day.day)}, {day.year}"
    if name == "French":
        yield (
            "elision",
            lambda day: f"le {day.day} {'d’' if long(day)[0] in 'ao' else 'de '}{long(day)} {day.year}",
        )
    else:
        yield "words", lambda day: f"{in_words(day.day, name)} of {long(day)}" if name == "English" else _spanish(day)


def _end(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _spanish(day: datetime.date) -> str:
    return f"{in_words(day.day, 'Spanish')} de {languages()['Spanish'].months[day.month - 1]} de {day.year}"


HABITS = [(name, habit, write) for name, one in languages().items() for habit, write in writers(one)]


@pytest.mark.parametrize(
    ("language", "write"), [pytest.param(name, write, id=f"{name}, {habit}") for name, habit, write in HABITS]
)
@given(one=DAYS, other=DAYS, target=DAYS)
def test_a_date_is_written_alike_whatever_it_was(
    language: str, write: Writer, one: datetime.date, other: datetime.date, target: datetime.date
) -> None:
    if " of " in write(target):
        # Its year is the public one.
        one, other, target = (day.replace(year=2000, day=min(day.day, 28)) for day in (one, other, target))
    first, second = (drawn(write(day), (target - day).days, language) for day in (one, other))
    assert first == second
    assert not first.startswith("[")


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("English", "9/11/2020", "10/11/2020"),
        ("English", "12/02/2020", "13/02/2020"),
        ("English", "Apr 30, 2020", "May 1, 2020"),
        ("English", "Apr. 30, 2020", "May 1, 2020"),
        ("English", "Aug 31, 2020", "Sept 1, 2020"),
        ("Spanish", "9/11/2020", "10/11/2020"),
        ("Spanish", "02/12/2020", "02/13/2020"),
        ("French", "3 avr 2020", "3 févr 2020"),
        ("French", "3 avril 2020", "3 fevrier 2020"),
    ],
)
def test_neighbours_have_their_surrogates_in_common(language: str, one: str, other: str) -> None:
    """As far as both are moved: a year each way of dates that are read less than a year apart."""
    near, far = (
        {drawn(text, steps, language) for steps in range(-most, most + 1)} for text, most in ((one, 20), (other, 400))
    )
    assert near <= far


@pytest.mark.parametrize(
    ("language", "category", "one", "other"),
    [
        ("English", "DATE", (1, "1 yr ago"), (3, "3 yrs ago")),
        ("English", "DATE", (1, "1-year"), (3, "3-years")),
        ("English", "DATE", (7, "07 days ago"), (12, "12 days ago")),
        ("French", "DATE", (1, "il y a 1 année"), (3, "il y a 3 années")),
        ("Spanish", "DATE", (1, "hace 1 año"), (3, "hace 3 años")),
        ("English", "AGE", (7, "07 years"), (12, "12 years")),
        ("English", "AGE", (1, "1 mo"), (3, "3 mos")),
        ("English", "DATE", (2009, "in 09"), (2010, "in 10")),
        ("Spanish", "DATE", (0, "los lunes"), (5, "los sabados")),
    ],
)
def test_a_number_is_written_alike_whatever_it_was(
    language: str, category: str, one: tuple[int, str], other: tuple[int, str]
) -> None:
    for target in range(8):
        first, second = (drawn(text, one[0] + target - value, language, category) for value, text in (one, other))
        assert first == second


def test_an_hour_is_written_alike_whatever_it_was() -> None:
    for one, other in (("9:30", "10:30"), ("9:05 pm", "11:05 pm")):
        lengths = [{len(drawn(text, 0, "English")) for _ in range(60)} for text in (one, other)]
        assert lengths[0] == lengths[1] == {len(other)}
