"""Dates, ages and spans of time: every spelling read and written in its own way, moved by the mechanism and nothing else."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.generate.dates import fields
from shared.surrogates.mechanisms import discrete_laplace as laplace
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import SurrogateSettings, TimeSettings
from shared.surrogates.time import maker
from shared.surrogates.time.languages import in_words, languages
from shared.surrogates.time.moments import DAYS, Moment, day_moment
from shared.surrogates.time.order import in_order
from shared.surrogates.time.reading import read_time

TODAY = datetime.date(2024, 5, 1)
EXACT = Fraction(1000)


def note(*spans: str, category: str = "DATE") -> Document:
    """A note of these spans alone, a blank between."""
    text, annotations = "", []
    for span in spans:
        annotations.append(Annotation(len(text), len(text) + len(span), category))
        text += span + " "
    return Document("n", text, tuple(annotations))


def replaced(*spans: str, category: str = "DATE", language: str = "English", **settings: Any) -> list[str]:
    chosen = SurrogateSettings(language=language, **settings)
    made = Surrogates(chosen, today=TODAY).replace(note(*spans, category=category))
    return [one.surrogate for one in made.mapping]


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What every noise is; the last one stays."""
    steps = [10]
    monkeypatch.setattr(maker, "discrete_laplace", lambda chance, epsilon: steps.pop(0) if len(steps) > 1 else steps[0])
    return steps


ROWS = [
    # language, as it is written, ten units later
    ("English", "02/12/2020", "02/22/2020"),
    ("Spanish", "02/12/2020", "12/12/2020"),
    ("French", "02/12/2020", "12/12/2020"),
    ("English", "2/3/20", "02/13/20"),
    ("English", "February 26, 2020", "March 7, 2020"),
    ("English", "Feb. 26, 2020", "March 7, 2020"),
    ("English", "FEB 26 2020", "MARCH 7 2020"),
    ("English", "26th of February 2020", "7th of March 2020"),
    ("English", "the 3rd of May", "the 13th of May"),
    ("English", "Wednesday, February 26, 2020", "Saturday, March 7, 2020"),
    ("English", "29-Oct-07", "8-November-07"),
    ("English", "2020-02-26", "2020-03-07"),
    ("English", "20200226", "20200307"),
    ("English", "March 2020", "January 2021"),
    ("English", "03/2020", "01/2021"),
    ("English", "2003", "2013"),
    ("English", "'03", "'13"),
    ("English", "10 years ago", "20 years ago"),
    ("English", "a week ago", "eleven weeks ago"),
    ("English", "3-week", "13-week"),
    ("English", "since last year", "since 11 years ago"),
    ("English", "12 to 14 March 2020", "22 to 24 March 2020"),
    ("English", "10/12-14/2019", "10/22-24/2019"),
    ("English", "2/3-5", "02/13-15"),
    ("English", "03/02-03/07", "03/12-03/17"),
    ("English", "12/20-12/31/2019", "12/30-01/10/2020"),
    ("English", "12/20/19-12/31/19", "12/30/19-01/10/20"),
    ("English", "10-12 March 2020", "20-22 March 2020"),
    ("English", "10 - 12 March", "20 - 22 March"),
    ("English", "10/12 March 2020", "20/22 March 2020"),
    ("English", "2/3/4 May", "12/13/14 May"),
    ("English", "03-04/2020", "01-02/2021"),
    ("Spanish", "10/12 de marzo", "20/22 de marzo"),
    ("Spanish", "2-3 de mayo de 2020", "12-13 de mayo de 2020"),
    ("Spanish", "2-3/V/2020", "12-13/V/2020"),
    ("Spanish", "03-04/2020", "01-02/2021"),
    ("French", "10-12 mars 2020", "20-22 mars 2020"),
    ("Spanish", "10-12/03/2019", "20-22/03/2019"),
    ("Spanish", "12 - 14/10/19", "22 - 24/10/19"),
    ("Spanish", "10-12/03", "20-22/03"),
    ("Spanish", "3 /4/ 2019", "13 /04/ 2019"),
    ("Spanish", "26 feb", "7 marzo"),
    ("Spanish", "15 de marzo de 2020", "25 de marzo de 2020"),
    ("Spanish", "MARZO DEL 2020", "ENERO DEL 2021"),
    ("Spanish", "quince de marzo", "veinticinco de marzo"),
    ("Spanish", "3-IV-2020", "13-IV-2020"),
    ("Spanish", "miercoles 26 de febrero de 2020", "sábado 7 de marzo de 2020"),
    ("Spanish", "hace 3 semanas", "hace 13 semanas"),
    ("Spanish", "hace un mes", "hace once meses"),
    ("Spanish", "hace veintiuna semanas", "hace treinta y una semanas"),
    ("Spanish", "hace treinta y un meses", "hace cuarenta y un meses"),
    ("Spanish", "hace once días", "hace veintiún días"),
    ("Spanish", "ayer", "hace 11 días"),
    ("French", "1er mars 2020", "11 mars 2020"),
    ("Spanish", "1º de mayo", "11 de mayo"),
    ("French", "22 mars", "1er avril"),
    ("French", "26 févr. 2020", "7 mars 2020"),
    ("French", "le 3 decembre", "le 13 décembre"),
    ("French", "il y a 3 semaines", "il y a 13 semaines"),
    ("French", "il y a un an", "il y a onze ans"),
    ("French", "il y a vingt et une semaines", "il y a trente et une semaines"),
]
AGES = [
    ("English", "40", "50"),
    ("English", "40-year-old", "50-year-old"),
    ("English", "fifty-three", "sixty-three"),
    ("English", "3 months", "13 months"),
    ("Spanish", "40 años", "50 años"),
    ("Spanish", "cuarenta y un años", "cincuenta y un años"),
    ("Spanish", "1 año", "11 años"),
    ("French", "1 an", "11 ans"),
]


@pytest.mark.parametrize(("language", "written", "later"), ROWS)
def test_every_spelling_is_written_again_in_its_pattern(
    moved: list[int], language: str, written: str, later: str
) -> None:
    assert replaced(written, language=language) == [later]


@pytest.mark.parametrize(("language", "written", "later"), AGES)
def test_ages_do_not_crash_and_keep_their_unit(moved: list[int], language: str, written: str, later: str) -> None:
    assert replaced(written, category="AGE", language=language) == [later]


@pytest.mark.parametrize(
    "text", ["soon", "31/02/2020", "45/45/2020", "the 3rd of Brumaire", "2 3 4 5", "12 de Octubre Hospital", "½"]
)
def test_what_is_not_understood_is_redacted_never_left(text: str) -> None:
    assert replaced(text) == ["[DATE]"]


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("Spanish", "10-12/03"),
        ("Spanish", "10-12/03/2019"),
        ("English", "10/12-14/2019"),
        ("English", "12/20-31/2019"),
        ("English", "03/02-03/07"),
        ("English", "10.12/03"),
        ("English", "10/12/14-2019"),
        ("Spanish", "10-12-14/03/2019"),
        ("English", "10.12/13-2019"),
        ("English", "10-12 March 2020"),
        ("English", "10/11/12 March 2020"),
        ("English", "10-12-14 March"),
        ("English", "10-12/2020"),
        ("English", "10th/12th March"),
        ("Spanish", "10-12 de marzo"),
        ("Spanish", "10-12/III/2020"),
        ("French", "10 - 12 mars"),
    ],
)
def test_no_number_of_a_range_is_read_as_a_year_that_stays(moved: list[int], language: str, written: str) -> None:
    """Days moved by a month and a half leave the year, so what is read as a year would stand in every surrogate."""
    moved[:] = [45]
    (made,) = replaced(written, language=language)
    before, after = (re.findall(r"\d{1,2}(?!\d)", re.sub(r"\b\d{4}\b", "", one)) for one in (written, made))
    assert made.startswith("[") or all(int(one) != int(other) for one, other in zip(before, after, strict=True))


def test_the_same_date_in_two_spellings_is_replaced_twice_by_the_same() -> None:
    for _ in range(20):
        one, other, third, fourth = replaced(
            "02/26/2020", "February 26, 2020", "Feb 26", "2020-02-26", epsilon=Fraction(1, 10)
        )
        date = datetime.datetime.strptime(one, "%m/%d/%Y").date()
        assert other == f"{date:%B} {date.day}, {date.year}"
        assert third == f"{date:%B} {date.day}"
        assert fourth == date.isoformat()


def test_dates_of_a_note_get_noise_of_their_own() -> None:
    """The reference code seeds its generator again for every value, so that all get the same noise."""
    seen = set()
    for _ in range(30):
        first, second = (
            datetime.date.fromisoformat(one) for one in replaced("2001-01-01", "2011-01-01", epsilon=Fraction(1, 10))
        )
        seen.add((first - datetime.date(2001, 1, 1)) == (second - datetime.date(2011, 1, 1)))
    assert False in seen


def test_noise_needs_no_floating_point(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("float", "exp", "log"):
        assert name not in vars(laplace)
    epsilons: list[object] = []
    draw = laplace.discrete_laplace
    monkeypatch.setattr(
        maker, "discrete_laplace", lambda chance, epsilon: epsilons.append(epsilon) or draw(chance, epsilon)
    )
    replaced("2001-01-01", "40 years ago")
    assert epsilons == [Fraction(1, 2), Fraction(1, 2)]


def test_errors_do_not_grow_along_a_chain() -> None:
    """The reference code moves each date by the noise of its interval to the one ahead, so that the last is off by the sum."""
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=100 * number) for number in range(20)]
    off = []
    for _ in range(40):
        surrogates = replaced(*map(str, days), epsilon=Fraction(4))
        off.append(
            [abs((datetime.date.fromisoformat(one) - day).days) for one, day in zip(surrogates, days, strict=True)]
        )
    first, last = (sum(row[at] for row in off) / len(off) for at in (0, -1))
    # Each is 5 on average; a sum of 20 is 22.
    assert last < 15
    assert first < 15


@given(st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True), st.data())
def test_the_order_of_events_is_kept_and_days_stay_apart(true: list[int], data: st.DataObject) -> None:
    moments = [Moment("date", "day", 730_000 + day) for day in true]
    noisy = [moment.moved(data.draw(st.integers(-90, 90))) for moment in moments]
    done = in_order(moments, noisy)
    for one, placed in zip(moments, done, strict=True):
        for other, beside in zip(moments, done, strict=True):
            assert (one < other) == (placed < beside)


@given(
    st.lists(
        st.tuples(st.sampled_from(["day", "month", "year"]), st.integers(729_000, 731_000)),
        min_size=2,
        max_size=6,
        unique=True,
    ),
    st.data(),
)
def test_order_is_kept_among_days_months_and_years(drawn: list[tuple[str, int]], data: st.DataObject) -> None:
    moments = list(dict.fromkeys(Moment("date", unit, 0).at(day) for unit, day in drawn))
    noisy = [moment.moved(data.draw(st.integers(-5, 5))) for moment in moments]
    done = in_order(moments, noisy)
    for one, placed in zip(moments, done, strict=True):
        assert placed.unit == one.unit
        for other, beside in zip(moments, done, strict=True):
            if one.days[1] < other.days[0]:
                assert placed.days[1] < beside.days[0]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8), st.integers(0, 30))
def test_what_is_in_order_already_is_left_alone(steps: list[int], start: int) -> None:
    moments = [Moment("date", "day", 730_000 + start + 7 * number) for number in range(len(steps))]
    assert in_order(moments, moments) == moments


def test_what_comes_out_hangs_on_noise_and_order_alone(moved: list[int]) -> None:
    """Two notes of equal order, moved to the same noisy values, are written alike: that is what post-processing means."""
    outputs = []
    for first, second in ((1, 20), (5, 9)):
        moved[:] = [15 - first, 12 - second, 0]
        outputs.append(replaced(f"2020-03-{first:02}", f"2020-03-{second:02}"))
    assert outputs[0] == outputs[1]


def test_a_stay_keeps_its_days_positive() -> None:
    for _ in range(200):
        admitted, discharged = replaced("02/12/2020", "February 13, 2020", epsilon=Fraction(1, 20))
        one = datetime.datetime.strptime(admitted, "%m/%d/%Y")
        assert one < datetime.datetime.strptime(discharged, "%B %d, %Y")


def test_surrogates_are_plausible_whatever_the_noise() -> None:
    for _ in range(50):
        made = replaced("2020-01-01", "1901-01-01", "3 weeks ago", "today", epsilon=Fraction(1, 10_000))
        first, second = (datetime.date.fromisoformat(one) for one in made[:2])
        assert 1935 <= second.year <= first.year <= 2027
        assert re.fullmatch(r"[1-9]\d* weeks? ago", made[2])
        (age,) = replaced("95", category="AGE", epsilon=Fraction(1, 1000))
        assert 1 <= int(age) <= 89


@pytest.mark.parametrize("written", ["12/04/1925", "1925", "April 12, 1925", "101 years", "103 years ago"])
def test_no_age_above_89_is_told_by_what_a_tagger_calls_a_date(written: str) -> None:
    """45 CFR 164.514(b)(2)(i)(C) counts all elements of dates that tell such an age, the year too."""
    (made,) = replaced(written, epsilon=EXACT)
    number = int(max(re.findall(r"\d+", made), key=len))
    assert number == 89 if "years" in written else number == TODAY.year - 89


def test_a_birth_too_long_ago_is_redacted_where_dates_keep_their_distances() -> None:
    born, seen = replaced("1925-04-12", "2020-01-31", time=TimeSettings(shift=True))
    assert born == "[DATE]"
    assert datetime.date.fromisoformat(seen)


@pytest.mark.parametrize(("days", "shown"), [(300, ["[DATE]", "2025-02-14"]), (-300, ["[DATE]", "2023-06-25"])])
@pytest.mark.parametrize("born", ["1934-04-12", "04/12/1934"])
def test_no_age_above_89_is_told_by_two_dates_that_keep_their_distance(
    born: str, days: int, shown: list[str], moved: list[int]
) -> None:
    """A shift that puts the birth within the bounds leaves all its days to the day when somebody was 90."""
    moved[:] = [days]
    assert replaced(born, "2024-04-20", time=TimeSettings(shift=True)) == shown


def test_a_birth_that_the_shift_puts_ahead_of_the_bounds_is_redacted() -> None:
    """Else it would tell that the shift was one back."""
    for _ in range(40):
        (born,) = replaced("1935-01-01", time=TimeSettings(shift=True))
        assert born == "[DATE]" or born >= "1935-01-01"


def test_day_and_month_stand_in_one_order_throughout_a_note(moved: list[int]) -> None:
    """It is read in the order that the note shows; that is not always the one in which it is written, or a 13th would be told from a 12th."""
    assert replaced("13/02/2020", "03/04/2020") == ["02/23/2020", "04/13/2020"]
    assert replaced("02/13/2020", "03/04/2020", language="Spanish") == ["23/02/2020", "14/03/2020"]
    assert replaced("03/04/2020", time=TimeSettings(day_first=True)) == ["13/04/2020"]


def test_the_unit_of_a_category_says_for_what_epsilon_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Fraction] = []
    monkeypatch.setattr(maker, "discrete_laplace", lambda chance, epsilon: asked.append(epsilon) or 0)
    replaced("2020-01-01", epsilon=Fraction(7), units={"DATE": "week"})
    replaced("3 weeks ago", epsilon=Fraction(7), units={"DATE": "day"})
    replaced("3 weeks ago", epsilon=Fraction(7))
    assert asked == [1, 49, 7]


def test_one_shift_leaves_the_days_between_dates_and_says_so() -> None:
    shifted = Surrogates(SurrogateSettings(language="English", time=TimeSettings(shift=True)), today=TODAY)
    made = shifted.replace(note("2020-01-31", "March 1, 2020", "40 years ago"))
    first = datetime.date.fromisoformat(made.mapping[0].surrogate)
    second = datetime.datetime.strptime(made.mapping[1].surrogate, "%B %d, %Y").date()
    assert (second - first).days == 30
    assert made.budget.intervals_public
    assert not Surrogates(SurrogateSettings(), today=TODAY).replace(note("2020-01-31")).budget.intervals_public


def test_an_age_is_moved_also_where_dates_are_shifted() -> None:
    settings = SurrogateSettings(language="English", time=TimeSettings(shift=True), epsilon=Fraction(1, 10))
    ages = {Surrogates(settings).replace(note("40", category="AGE")).text for _ in range(40)}
    assert len(ages) > 3


@given(st.dates(datetime.date(1930, 1, 1), datetime.date(2023, 12, 31)), st.sampled_from(["en", "es"]), st.data())
def test_every_date_of_the_generator_is_read_as_itself(day: datetime.date, language: str, data: st.DataObject) -> None:
    pattern = data.draw(
        st.sampled_from(
            [
                "{mm}/{dd}/{Y}",
                "{d} {B} {Y}",
                "{B} {d}, {Y}",
                "{o} of {B} {Y}",
                "{dd}.{mm}.{Y}",
                "{d}-{R}-{Y}",
                "{A}, {B} {d} {Y}",
            ]
            if language == "en"
            else [
                "{dd}/{mm}/{Y}",
                "{d} de {B} de {Y}",
                "{d} de {B} del año {Y}",
                "{Y}/{mm}/{dd}",
                "{dd}{mm}{Y}",
                "{dd}/{mm}/{y}",
                "{w} de {B} de {Y}",
            ]
        )
    )
    written = pattern.format(**fields(day, language))
    settings = SurrogateSettings(
        language={"en": "English", "es": "Spanish"}[language],
        epsilon=EXACT,
        time=TimeSettings(
            day_first="{dd}/{mm}" in pattern or "{dd}.{mm}" in pattern or "{dd}{mm}" in pattern, earliest=1930
        ),
    )
    # Noise of epsilon 1000 is 0 but with probability exp(-1000): what is read is what is written.
    assert Surrogates(settings, today=TODAY).replace(note(written)).text.rstrip() == written


@pytest.mark.parametrize("language", languages())
def test_numbers_in_words_are_read_as_they_are_written(language: str) -> None:
    for number in range(1, 100):
        read = read_time(in_words(number, language), "age", languages()[language])
        assert read is not None
        assert [one.numbers["W"] for one in read] == [number]


def test_neighbouring_dates_differ_by_no_more_than_epsilon_says() -> None:
    """A count, not a proof: what is proved is in test_mechanisms. It sees a mechanism that is wired wrongly."""
    draws, chosen = 4000, SurrogateSettings(language="English", epsilon=Fraction(1), patient_entities=1)
    surrogates = Surrogates(chosen, key=b"always the same", today=TODAY)
    counts = [
        Counter(
            surrogates.replace(Document(f"{day} {at}", day, (Annotation(0, 10, "DATE"),))).text for at in range(draws)
        )
        for day in ("2020-05-10", "2020-05-11")
    ]
    for one, other in (counts, counts[::-1]):
        for output, count in one.items():
            if count > 400:
                assert count <= 2.72 * 1.2 * other[output]


def test_no_moment_leaves_the_calendar() -> None:
    assert day_moment(2020, 1, 1).moved(10**9).date.year == 2199
    assert Moment("date", "year", 2000).moved(-(10**9)).value == 1800
    assert set(DAYS) == {"day", "week", "month", "year", "decade"}
