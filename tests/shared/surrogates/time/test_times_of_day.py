"""Times of the day: of a clock time and of a word such as "morning" nothing stays but that it was one."""

from __future__ import annotations

import datetime
import re
from collections import Counter

import pytest

from shared.document import Annotation, Document
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.spelling import folded
from shared.surrogates.time.languages import languages

TODAY = datetime.date(2024, 5, 1)
DRAWS = 300


def drawn(number: int, *spans: str, language: str = "English") -> list[str]:
    """Under one of many keys; it does not hang on the text of the note, as that of a note without a patient does."""
    text, annotations = "", []
    for span in spans:
        annotations.append(Annotation(len(text), len(text) + len(span), "DATE"))
        text += span + " | "
    surrogates = Surrogates(
        SurrogateSettings(language=language), patients={"n": "p"}, key=number.to_bytes(32, "big"), today=TODAY
    )
    replaced = surrogates.replace(Document("n", text, tuple(annotations)))
    assert replaced.budget.redacted == 0
    return [one.surrogate for one in replaced.mapping]


def half(text: str) -> str:
    """How it is written, behind the numbers."""
    return re.sub(r"^[\d:h]+", "", text)


@pytest.mark.parametrize(
    ("written", "halves"),
    [
        ("3:15 pm", {" am", " pm"}),
        ("11:40 am", {" am", " pm"}),
        ("3:15PM", {"AM", "PM"}),
        ("3:15 Pm", {" Am", " Pm"}),
        ("3:15 a.m.", {" a.m.", " p.m."}),
        ("3:15 P.M.", {" A.M.", " P.M."}),
        ("3:15 p.m", {" a.m", " p.m"}),
        ("3:15 p. m.", {" a. m.", " p. m."}),
        ("3:15:20 am", {" am", " pm"}),
    ],
)
def test_both_halves_of_the_day_come_out_of_either(written: str, halves: set[str]) -> None:
    counts = Counter(half(drawn(number, written)[0]) for number in range(DRAWS))
    assert set(counts) == halves
    # 150 on average, five deviations each way.
    assert all(106 < count < 194 for count in counts.values())


def test_the_half_that_is_drawn_hangs_on_the_key_and_not_on_the_true_one() -> None:
    for number in range(DRAWS):
        assert half(drawn(number, "3:15 am")[0]) == half(drawn(number, "3:15 pm")[0])


def test_the_same_time_is_the_same_throughout_a_note_in_whatever_spelling() -> None:
    for number in range(20):
        one, other, third, fourth = drawn(number, "3:15 pm", "03:15 pm", "3:15 P.M.", "3:15 pm")
        assert one == other == fourth
        assert folded(one.replace("m", "")) == folded(third.lower().replace("m", "").replace(".", ""))


@pytest.mark.parametrize("written", ["15:30", "15:30 hrs", "15h30"])
def test_a_clock_of_24_hours_gets_no_half(written: str) -> None:
    hours = set()
    for number in range(DRAWS):
        (made,) = drawn(number, written)
        assert re.sub(r"\d\d", "N", made) == re.sub(r"\d\d", "N", written)
        hours.add(int(made[:2]))
    assert hours == set(range(24))


WORDS = [
    ("English", "Monday {}", "morning afternoon evening night".split()),
    ("English", "yesterday {}", "morning afternoon evening night".split()),
    ("English", "03/11/2021 {}", ["in the morning", "in the afternoon", "in the evening", "at night"]),
    ("Spanish", "el lunes {}", ["por la mañana", "por la tarde", "por la noche", "por la madrugada"]),
    ("Spanish", "11/03/2021 3:15 {}", ["de la mañana", "de la tarde", "de la noche", "de la madrugada"]),
    ("Spanish", "{} del 11/03/2021", ["la mañana", "la tarde", "la noche", "la madrugada"]),
    ("French", "lundi {}", ["matin", "après-midi", "soir", "nuit"]),
    ("French", "11/03/2021, {}", ["le matin", "l'après-midi", "le soir", "la nuit"]),
    ("French", "3h15 {}", ["du matin", "de l'après-midi", "du soir", "de la nuit"]),
]


@pytest.mark.parametrize(("language", "written", "words", "word"), [(*row, word) for row in WORDS for word in row[2]])
def test_every_part_of_the_day_comes_out_of_each(language: str, written: str, words: list[str], word: str) -> None:
    ends = sorted(words, key=len, reverse=True)
    counts: Counter[str] = Counter()
    for number in range(DRAWS):
        (made,) = drawn(number, written.format(word), language=language)
        counts[next(end for end in ends if end in made)] += 1
    assert set(counts) == set(words)
    # 75 on average, five deviations each way.
    assert all(37 < count < 113 for count in counts.values())


def test_capitals_stay_and_the_same_word_is_the_same() -> None:
    for number in range(20):
        one, other, third = drawn(number, "Monday NIGHT", "Tuesday night", "Monday Night")
        assert one.split()[1] == other.split()[1].upper() == third.split()[1].upper()


@pytest.mark.parametrize("language", languages())
def test_no_word_of_a_part_of_the_day_stays_as_a_small_word(language: str) -> None:
    known = languages()[language]
    words = {folded(word) for drawn_from in known.day_parts for word in drawn_from}
    assert words
    assert words <= set(known.free)
    assert not words & known.fillers


@pytest.mark.parametrize(
    ("language", "written"),
    [("English", "last night"), ("French", "aujourd'hui")],
)
def test_nothing_stays_that_belongs_to_one_of_them(language: str, written: str) -> None:
    """Only a night is said to be last: such words go along."""
    words = folded(written).split()
    kept = [folded(drawn(number, written, language=language)[0]) for number in range(DRAWS)]
    assert not [one for one in kept if one != folded(written) and set(words) & set(one.split())]


@pytest.mark.parametrize(
    ("language", "written", "words"),
    [
        ("English", "at noon", languages()["English"].day_parts[1]),
        ("Spanish", "de madrugada", languages()["Spanish"].day_parts[1]),
        ("French", "en soirée", languages()["French"].day_parts[3]),
        ("English", "New Year's Day", languages()["English"].holidays),
        ("English", "New Year’s Day", languages()["English"].holidays),
    ],
)
def test_what_is_said_of_one_of_them_alone_is_drawn_with_it(language: str, written: str, words: list[str]) -> None:
    lower = {word.lower() for word in words}
    assert {drawn(number, written, language=language)[0].lower() for number in range(DRAWS)} == lower


def test_they_cost_no_budget() -> None:
    text = "3:15 pm in the morning"
    made = Surrogates(SurrogateSettings(language="English"), today=TODAY).replace(
        Document("n", text, (Annotation(0, len(text), "DATE"),))
    )
    assert made.budget.spent == 0
    assert (made.budget.entities, made.budget.redacted) == (0, 0)
