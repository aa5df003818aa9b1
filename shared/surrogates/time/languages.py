"""The words of dates, ages and spans of time, by language; numbers up to 99 among them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from foundation.reading import read_text
from shared.surrogates.spelling import folded

DEFAULT = "English"
UNITS = ("day", "week", "month", "year")
_FILE = Path(__file__).with_name("languages.toml")

_ONES = {
    "English": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "Spanish": (
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte "
        "veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
    ),
    "French": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf",
}
_TENS = {
    "English": "- - twenty thirty forty fifty sixty seventy eighty ninety",
    "Spanish": "- - veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "French": "- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt",
}
_ALSO_ONE = {"English": ("a", "an"), "Spanish": ("un", "una"), "French": ("une",)}


@dataclass(frozen=True)
class Language:
    """How one language writes time.

    Args:
        name: in English.
        months, short_months: January first.
        weekdays, short_weekdays: Monday first.
        seasons, holidays: those that are drawn.
        day_parts: words for parts of the day, by the small words that go with them.
        units: the words for a day, a week, a month, a year: of one, of several, then short ones.
        ago, ahead: with %n and %unit.
        month_of, weekday_of, unit_of, number_of: from a folded word to what it says.
        relative: from folded words to a number of units, negative for what is past.
        free: folded words of seasons, holidays and parts of the day, to the list that they are drawn from.
        fillers: folded words that may stand in a span, and tell nothing.
    """

    name: str
    months: Sequence[str]
    short_months: Sequence[str]
    weekdays: Sequence[str]
    short_weekdays: Sequence[str]
    seasons: Sequence[str]
    holidays: Sequence[str]
    day_parts: Sequence[Sequence[str]]
    units: Mapping[str, Sequence[str]]
    ago: str
    ahead: str
    month_of: Mapping[str, int]
    weekday_of: Mapping[str, int]
    unit_of: Mapping[str, str]
    number_of: Mapping[str, int]
    relative: Mapping[str, tuple[int, str]]
    free: Mapping[str, Sequence[str]]
    fillers: frozenset[str]

    def unit(self, unit: str, count: int) -> str:
        """The word for so many units."""
        return self.units[unit][count != 1]


@cache
def languages() -> Mapping[str, Language]:
    """All languages by name."""
    return {name: _language(name, words) for name, words in tomllib.loads(read_text(_FILE)).items()}


def in_words(number: int, language: str) -> str:
    """A number from 0 to 99: "fifty-three", "cincuenta y tres", "cinquante-trois"."""
    ones = _ONES[language].split()
    if number < len(ones):
        return ones[number]
    tens, rest = divmod(number, 10)
    word = _TENS[language].split()[tens]
    if language == "French":
        if tens in (7, 9):
            rest += 10
        if rest in (1, 11) and tens < 8:
            return f"{word} et {ones[rest]}"
        return f"{word}-{ones[rest]}" if rest else word + "s" * (tens == 8)
    if not rest:
        return word
    return f"{word}-{ones[rest]}" if language == "English" else f"{word} y {ones[rest]}"


def _language(name: str, words: Mapping[str, str]) -> Language:
    months, short, days, short_days = (
        words[key].split() for key in ("months", "short_months", "weekdays", "short_weekdays")
    )
    seasons, holidays = words["seasons"].split(), words["holidays"].split("|")
    free: dict[str, Sequence[str]] = {folded(one): seasons for one in [*seasons, *words["other_seasons"].split()]}
    day_parts = [one.split("|") for one in words["day_parts"].split(";")]
    for listed, others in zip(day_parts, words["other_day_parts"].split(";"), strict=True):
        free |= {folded(one): listed for one in [*listed, *filter(None, others.split("|"))]}
    free |= {folded(one): holidays for one in [*holidays, *words["other_holidays"].split("|")]}
    units = {unit: words[unit].split() for unit in UNITS}
    return Language(
        name,
        months,
        short,
        days,
        short_days,
        seasons,
        holidays,
        day_parts,
        units,
        words["ago"],
        words["ahead"],
        _numbered(short, words["other_months"]) | _numbered(months, ""),
        _numbered(short_days, words["other_weekdays"]) | _numbered(days, ""),
        {folded(word): unit for unit in UNITS for word in units[unit]},
        dict(_numbers(name)),
        dict(_relative(words["relative"])),
        free,
        frozenset(map(folded, words["fillers"].split())),
    )


def _numbered(listed: Sequence[str], others: str) -> dict[str, int]:
    pairs = (pair.split("=") for pair in others.split())
    return {folded(word): int(number) for word, number in pairs} | {
        folded(word): number for number, word in enumerate(listed, start=1)
    }


def _numbers(language: str) -> Iterator[tuple[str, int]]:
    for number in range(100):
        yield folded(in_words(number, language)), number
    for word in _ALSO_ONE[language]:
        yield word, 1
    for number in range(21, 100, 10):
        # Ahead of a noun: "veintiún", "veintiuna", "vingt et une".
        word = folded(in_words(number, language))
        if language == "Spanish":
            yield from ((word.removesuffix("o") + end, number) for end in ("", "a"))
        elif language == "French" and word.endswith("un"):
            yield word + "e", number


def _relative(stated: str) -> Iterator[tuple[str, tuple[int, str]]]:
    for one in stated.split("|"):
        words, _, value = one.partition("=")
        count, unit = value.split()
        yield folded(words), (int(count), unit)
