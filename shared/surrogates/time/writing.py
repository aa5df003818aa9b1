"""A date, an age or a span of time as it is written: which part says what, so that another one is written in the same way."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shared.surrogates.spelling import accented_like, cased_like, folded
from shared.surrogates.time.languages import Language, in_words, languages
from shared.surrogates.time.moments import Moment

ROMAN = "I II III IV V VI VII VIII IX X XI XII".split()
_TEENS = range(10, 20)


@dataclass(frozen=True, repr=False)
class Part:
    """A stretch of what is written.

    Args:
        says: "d" the day, "o" the end of its ordinal, "w" the day in words, "m" the month, "b" its name, "r" it in Roman, "Y" and "y" the year in
            four and two digits, "D" and "E" a decade likewise, "A" the weekday, "n1" and "n2" day and month in the order of the note, "N" a number,
            "W" a number in words, "u" its unit, "R" words such as "yesterday"; "" what tells nothing.
        sample: how it is written.
    """

    says: str
    sample: str


@dataclass(repr=False)
class Written:
    """What is written in one place of a span.

    Args:
        parts: in their order.
        language: of its words.
        numbers: what the parts say, by the letter of the part.
        moment: what it means, once that is known.
        free: words one of which takes its place, whatever it says; empty for what has a moment.
        silent: whether it tells nothing and stays.
    """

    parts: list[Part]
    language: Language
    numbers: Mapping[str, int] = field(default_factory=dict)
    moment: Moment | None = None
    free: Sequence[str] = ()
    silent: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether it has no moment: it stays, or something else is drawn whatever it says."""
        return self.silent or bool(self.free) or self.says("H")

    def says(self, part: str) -> bool:
        """Whether it has such a part."""
        return any(one.says == part for one in self.parts)

    def sample(self, part: str) -> str:
        """How that part is written; "" where it has none."""
        return next((one.sample for one in self.parts if one.says == part), "")

    def write(self, moment: Moment, style: Style) -> str:
        """Another moment in the same words."""
        if moment.group == "date":
            return "".join(_dated(part, moment, self, style) for part in self.parts)
        return _counted(self, moment)


@dataclass(frozen=True)
class Style:
    """Habits of a note that one of its dates alone does not show.

    Args:
        day_first: whether 3/4 is the third of April.
        padded: whether days and months below 10 have a zero where they stand among numbers alone.
        short_months: whether names of months are cut short: "May" shows neither.
    """

    day_first: bool
    padded: bool
    short_months: bool = False


def _dated(part: Part, moment: Moment, written: Written, style: Style) -> str:
    date, says, sample = moment.date, part.says, part.sample
    if says in ("n1", "n2"):
        says = "d" if (says == "n1") == style.day_first else "m"
    if says in ("d", "m"):
        number = date.day if says == "d" else date.month
        if says == "d" and number == 1 and written.says("b") and written.language.name == "French":
            # So it is written of every first, whatever stood there.
            return "1er"
        alone = any(written.says(part) for part in ("n1", "m", "r"))
        return f"{number:02}" if sample.startswith("0") or (len(sample) > 1 and alone and style.padded) else str(number)
    if says == "o":
        return _ordinal(date.day, sample)
    if says == "b":
        return _month(date, sample, written.language, style)
    if says == "A":
        return weekday(date.weekday(), sample, written.language)
    plain = {
        "w": lambda: _cased(in_words(date.day, written.language.name), sample),
        "r": lambda: cased_like(ROMAN[date.month - 1], sample) if sample.islower() else ROMAN[date.month - 1],
        "Y": lambda: f"{date.year:04}",
        "y": lambda: f"{date.year % 100:02}",
        "D": lambda: f"{date.year // 10 * 10:04}",
        "E": lambda: f"{date.year // 10 * 10 % 100:02}",
    }
    return plain[says]() if says in plain else sample


def _counted(written: Written, moment: Moment) -> str:
    """An age, a span of time or a day of the week."""
    language, value = written.language, moment.value
    if moment.group == "weekday":
        return weekday(value, written.sample("A"), language)
    if written.says("R"):
        return _cased(_relative(moment, language), written.sample("R"))
    text = ""
    for part in written.parts:
        if part.says == "N":
            text += f"{value:0{len(part.sample)}d}" if part.sample.startswith("0") else str(value)
        elif part.says == "W":
            text += _cased(_in_words(moment, language), part.sample) if value < 100 else str(value)
        elif part.says == "E":
            text += f"{value * 10}"
        else:
            # "A 3-week history" has no plural.
            counts = part.says == "u" and not text.endswith("-")
            text += _unit(part.sample, moment, language) if counts else part.sample
    return text


def _in_words(moment: Moment, language: Language) -> str:
    """A number ahead of its unit: "un mes", "veintiuna semanas"."""
    words = in_words(moment.value, language.name)
    if language.name == "Spanish" and words.endswith("uno"):
        if moment.unit == "week":
            return words.removesuffix("o") + "a"
        return re.sub("iun$", "iún", words.removesuffix("o"))
    feminine = language.name == "French" and moment.unit == "week" and words.endswith("un")
    return words + "e" if feminine else words


def _unit(sample: str, moment: Moment, language: Language) -> str:
    """The word of a unit, of one or of several; a short one stays."""
    one, several, *_ = language.units[moment.unit]
    if folded(sample) not in (folded(one), folded(several)):
        return sample
    proper = one if folded(sample) == folded(one) else several
    return accented_like(cased_like(language.unit(moment.unit, moment.value), sample), sample, proper)


def _relative(moment: Moment, language: Language) -> str:
    count = abs(moment.value)
    pattern = language.ahead if moment.group == "ahead" else language.ago
    return pattern.replace("%n", str(count)).replace("%unit", language.unit(moment.unit, count))


def _cased(words: str, sample: str) -> str:
    return cased_like(words, sample)


def _ordinal(day: int, sample: str) -> str:
    """The end of an English ordinal; that of others stands behind a first only, so that it would tell one."""
    if sample.lower() not in ("st", "nd", "rd", "th"):
        return ""
    suffix = "th" if day in _TEENS else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return suffix.upper() if sample.isupper() else suffix


def _month(date: datetime.date, sample: str, language: Language, style: Style) -> str:
    said = folded(sample)
    number = language.month_of[said]
    length = month_length(said, language)
    short = style.short_months if length is None else length
    listed = language.short_months if short else language.months
    name, proper = listed[date.month - 1], listed[number - 1]
    if short and len(sample) == 3:
        name = name[:3]
    return accented_like(cased_like(name, sample), sample, proper)


def month_length(said: str, language: Language) -> bool | None:
    """Whether the name of a month is cut short; None where it is so short that nobody sees it.

    Args:
        said: folded.
        language: that it is of.
    """
    number = language.month_of[said]
    long, short = folded(language.months[number - 1]), folded(language.short_months[number - 1])
    return None if said == long == short else said != long


def weekday(number: int, sample: str, language: Language) -> str:
    """The name of a day of the week, 0 for Monday, written like another one."""
    said = folded(sample)
    before = language.weekday_of[said]
    short = len(said) < len(language.weekdays[before - 1]) and not said.startswith(
        folded(language.weekdays[before - 1])
    )
    listed = language.short_weekdays if short else language.weekdays
    name, proper = listed[number], listed[before - 1]
    several = "s" if said == folded(proper) + "s" else ""
    return accented_like(cased_like(name + several, sample), sample, proper)


def word_language(word: str, kind: str, own: Language) -> Language | None:
    """The language that knows a word: the note's own, or else the first one that does.

    Args:
        word: folded.
        kind: a name of one of the tables of `Language`.
        own: of the note.
    """
    return next((one for one in (own, *languages().values()) if word in getattr(one, kind)), None)
