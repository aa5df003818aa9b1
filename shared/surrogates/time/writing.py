"""A date, an age or a span of time as it is written: which part says what, so that another one is written in the same pattern.

**Invariant.** What is written hangs on the new moment and on what every value shows alike: the order of the parts, the marks between them, capitals.
What one value shows and another does not is written in one way always. "9/11" shows that its writer puts no zero, "10/11" can't; "Apr" that months are
cut short, "May" can't; "fevrier" that accents are left out, "avril" can't. A surrogate in the habit of the true one would tell which kind that was.
"""

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
            "W" a number in words, "u" its unit, "R" words such as "yesterday", "F" what is drawn whatever it says, "H", "M" and "S" the time of the day and
            "h" the letter of its half; "" what tells nothing.
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

    def write(self, moment: Moment, day_first: bool) -> str:
        """Another moment in the same pattern.

        Args:
            moment: that is written.
            day_first: whether the third of April is 3/4.
        """
        if moment.group == "date":
            return "".join(_dated(part, moment.date, self, day_first) for part in self.parts)
        return _counted(self, moment)


def _dated(part: Part, date: datetime.date, written: Written, day_first: bool) -> str:
    says, sample = part.says, part.sample
    if says in ("n1", "n2"):
        says = "d" if (says == "n1") == day_first else "m"
    if says in ("d", "m"):
        number = date.day if says == "d" else date.month
        if says == "d" and number == 1 and written.says("b") and written.language.name == "French":
            # So it is written of every first, whatever stood there.
            return "1er"
        # Two digits among numbers alone, no zero beside a word.
        return f"{number:02}" if written.says("n1") or written.says("m") else str(number)
    if says == "o":
        return _ordinal(date.day, sample)
    if says == "b":
        return cased_like(written.language.months[date.month - 1], sample)
    if says == "A":
        return weekday(date.weekday(), sample, written.language)
    plain = {
        "w": lambda: cased_like(in_words(date.day, written.language.name), sample),
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
        return cased_like(_relative(moment, language), written.sample("R"))
    text = ""
    for part in written.parts:
        if part.says == "N":
            text += str(value)
        elif part.says == "W":
            text += cased_like(_in_words(moment, language), part.sample) if value < 100 else str(value)
        elif part.says == "E":
            text += f"{value * 10}"
        elif part.says == "u":
            # "A 3-week history" has no plural.
            text += _unit(part.sample, moment.unit, 1 if text.endswith("-") else value, language)
        else:
            text += part.sample
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


def _unit(sample: str, unit: str, count: int, language: Language) -> str:
    """The word of a unit, of one or of several; another word for it, such as a short one, as of one whatever it counts."""
    one, several, *_ = language.units[unit]
    if folded(sample) not in (folded(one), folded(several)):
        return sample[0] + sample[1:].rstrip("sS")
    proper = one if folded(sample) == folded(one) else several
    return accented_like(cased_like(language.unit(unit, count), sample), sample, proper)


def _relative(moment: Moment, language: Language) -> str:
    count = abs(moment.value)
    pattern = language.ahead if moment.group == "ahead" else language.ago
    return pattern.replace("%n", str(count)).replace("%unit", language.unit(moment.unit, count))


def _ordinal(day: int, sample: str) -> str:
    """The end of an English ordinal; that of others stands behind a first only, so that it would tell one."""
    if sample.lower() not in ("st", "nd", "rd", "th"):
        return ""
    suffix = "th" if day in _TEENS else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return suffix.upper() if sample.isupper() else suffix


def weekday(number: int, sample: str, language: Language) -> str:
    """The name of a day of the week, 0 for Monday, as short or long as another one."""
    said = folded(sample)
    proper = folded(language.weekdays[language.weekday_of[said] - 1])
    listed = language.weekdays if said.startswith(proper) else language.short_weekdays
    # In Spanish two days alone show that they are several.
    several = "s" if said == f"{proper}s" and language.name == "English" else ""
    return cased_like(listed[number] + several, sample)


def without_traces(text: str, language: Language) -> str:
    """What is written, without what stood beside the name of the true month and tells of it: the point behind "Feb.", which "May" has not, and in "d'avril" the d'.

    Args:
        text: of a span, with its new moments.
        language: of their words.
    """
    months = "|".join(language.months)
    text = re.sub(rf"\b({months})\.(?=[\s,]|$)", r"\1", text, flags=re.IGNORECASE)
    if language.name != "French":
        return text
    return re.sub(
        rf"\b(d)(?:e\s|['’])(?=({months})\b)",
        lambda match: match[1] + ("'" if match[2][0].lower() in "ao" else "e "),
        text,
        flags=re.IGNORECASE,
    )


def word_language(word: str, kind: str, own: Language) -> Language | None:
    """The language that knows a word: the note's own, or else the first one that does.

    Args:
        word: folded.
        kind: a name of one of the tables of `Language`.
        own: of the note.
    """
    return next((one for one in (own, *languages().values()) if word in getattr(one, kind)), None)
