"""What the dates, ages and spans of time of one note mean, each read beside the others.

Days and months stand in one order throughout a note, and a date without its year is of the year that the note speaks of. This reading looks at
several dates at once; the promise of the mechanism is about what is read: distances are those between the moments that come out here. The order in
which dates are read is no order to write them in: "13/2" shows it, "12/2" does not.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from shared.surrogates.spelling import folded
from shared.surrogates.time.languages import UNITS
from shared.surrogates.time.moments import Moment, day_moment, month_moment
from shared.surrogates.time.writing import Written

PUBLIC_YEAR, PUBLIC_MONTH = 2000, 1
"""Where a note gives none: a leap year, and a month of 31 days."""
_DATE_PARTS = ("n1", "n2", "d", "w", "m", "b", "r", "Y", "y", "D")
_MONTHS = 12
_MONTH_DAYS = 31
_HALF_YEAR_DAYS = 6 * _MONTH_DAYS
_AHEAD = frozenset({"in", "dans", "dentro"})
_DAY_CUES = frozenset({"the", "dia", "el", "le", "al", "on"})
_SHORT_YEARS_AHEAD = 2


def reads_day_first(spans: Sequence[Sequence[Written]], otherwise: bool) -> bool:
    """Whether 3/4 is the third of April in a note.

    Args:
        spans: what it says of time.
        otherwise: what is so where nothing in the note says it.
    """
    dates = [one for span in spans for one in span if one.says("n1")]
    firsts = sum(one.numbers["n1"] > _MONTHS >= one.numbers["n2"] for one in dates)
    seconds = sum(one.numbers["n2"] > _MONTHS >= one.numbers["n1"] for one in dates)
    return otherwise if firsts == seconds else firsts > seconds


class Resolver:
    """Gives every written date its moment.

    Args:
        spans: what a note says of time, in its order; is filled.
        ages: of each whether it is an age.
        day_first: whether 3/4 is the third of April.
        today: of the run: two digits of a year are taken for one up to two years after it.
    """

    def __init__(
        self, spans: Sequence[Sequence[Written]], ages: Sequence[bool], day_first: bool, today: datetime.date
    ) -> None:
        self._spans = spans
        self._ages = ages
        self._day_first = day_first
        self._today = today

    def resolve(self) -> list[bool]:
        """Of every span whether all of it is understood."""
        understood = []
        for span, is_age in zip(self._spans, self._ages, strict=True):
            _with_cues(span)
            ahead = any(word in _AHEAD for one in span for word in _words(one))
            group = "age" if is_age else "ahead" if ahead else "ago"
            understood.append(all(one.is_drawn or self._give(one, group) for one in span))
        self._complete()
        for at, span in enumerate(self._spans):
            moments = (one.moment for one in span)
            day = next(
                (moment for moment in moments if moment and (moment.group, moment.unit) == ("date", "day")), None
            )
            for one in span:
                if one.says("A") and one.moment is None:
                    one.moment = day or Moment("weekday", "day", one.numbers["A"] - 1)
            understood[at] &= all(one.is_drawn or one.moment is not None for one in span)
        return understood

    def _give(self, one: Written, group: str) -> bool:
        if one.says("A"):
            return True
        if any(one.says(part) for part in _DATE_PARTS):
            return self._fields(one) is not None
        one.moment = _counted(one, group)
        return one.moment is not None

    def _fields(self, one: Written) -> tuple[int | None, int | None, int | None] | None:
        """Year, month and day, as far as they are written; None where there is no such day."""
        said = one.numbers
        year = said.get("Y", self._century(said["y"]) if "y" in said else None)
        month = said.get("m", said.get("b", said.get("r")))
        day = said.get("d", said.get("w"))
        if "n1" in said:
            day, month = (said["n1"], said["n2"]) if self._day_first else (said["n2"], said["n1"])
            if month > _MONTHS >= day:
                # This one date says itself that it goes the other way.
                day, month = month, day
        if month is not None and not 1 <= month <= _MONTHS:
            return None
        if day is not None:
            try:
                datetime.date(year or PUBLIC_YEAR, month or PUBLIC_MONTH, day)
            except ValueError:
                return None
        return year, month, day

    def _century(self, year: int) -> int:
        return 2000 + year if 2000 + year <= self._today.year + _SHORT_YEARS_AHEAD else 1900 + year

    def _complete(self) -> None:
        """What is not written is as in the same span, on the same day elsewhere in the note, in the date ahead, in the next, or public.

        A year is that in which the date is within half a year of the one that states it: "12/30/2019 to 01/02" are three days.
        """
        spans = [[_Read(one, fields) for one in span if (fields := self._open(one))] for span in self._spans]
        for dates in spans:
            _share_within(dates)
        dates = [date for span in spans for date in span]
        stated: dict[tuple[int | None, int | None], int] = {
            (date.month, date.day): date.year for date in dates if date.year and date.month and date.day
        }
        near = next((date for date in dates if date.year), None)
        month_now = PUBLIC_MONTH
        for date in dates:
            # A year alone says nothing of the dates behind it.
            if date.year and date.month:
                near = date
            month_now = date.month or month_now
            year_now = near.year_of(month_now, date.day) if near else PUBLIC_YEAR
            date.one.moment = date.moment(stated.get((date.month, date.day), year_now), month_now)
        for dates in spans:
            _follow_year(dates)

    def _open(self, one: Written) -> tuple[int | None, int | None, int | None] | None:
        """The fields of a date that has no moment yet."""
        if one.moment is not None or not any(one.says(part) for part in _DATE_PARTS):
            return None
        return self._fields(one)


class _Read:
    """A date as far as it is written.

    Args:
        one: what is written.
        fields: year, month and day.
    """

    def __init__(self, one: Written, fields: tuple[int | None, int | None, int | None]) -> None:
        self.one = one
        self.year, self.month, self.day = fields
        self.is_year = self.month is None and self.day is None

    def year_of(self, month: int | None, day: int | None) -> int:
        """The year in which another date is within half a year of this one, which states its own.

        Args:
            month: of the other; None where it states none.
            day: likewise.
        """
        year = self.year or PUBLIC_YEAR
        if self.month is None or month is None:
            return year
        # In months of one length, so that half a year is the same number of days everywhere.
        days = (month - self.month) * _MONTH_DAYS
        if self.day is not None and day is not None:
            days += day - self.day
        return year + (days < -_HALF_YEAR_DAYS) - (days > _HALF_YEAR_DAYS)

    def moment(self, year: int, month: int) -> Moment | None:
        """What it means.

        Args:
            year: where it states none.
            month: likewise.
        """
        if self.one.says("D"):
            return Moment("date", "decade", self.one.numbers["D"] // 10)
        if self.is_year:
            return None if self.year is None else Moment("date", "year", self.year)
        if self.day is None:
            return month_moment(self.year or year, self.month or month)
        return _nearest_day(self.year or year, self.month or month, self.day)


def _share_within(dates: Sequence[_Read]) -> None:
    """What one date of a span states holds for those that do not: "12 to 14 March", "March 12-14, 2020"."""
    months = [date.month for date in dates if date.month]
    for date in dates:
        if months and not date.is_year and date.month is None:
            date.month = months[0]
    stating = [date for date in dates if date.year]
    if not stating:
        return
    at, near = dates.index(stating[0]), next((date for date in stating if date.month), stating[0])
    open_ahead = [date for date in dates[:at] if not date.is_year]
    if near.is_year and open_ahead:
        # A year behind several days is that of the last of them: see `_follow_year`.
        near = open_ahead[-1]
        near.year = stating[0].year
    for date in dates:
        if not date.is_year and date.year is None:
            date.year = near.year_of(date.month, date.day)


def _follow_year(dates: Sequence[_Read]) -> None:
    """The year behind days that state none is theirs, and goes with the last of them."""
    yearless = [date for date in dates if date.day and not (date.one.says("Y") or date.one.says("y"))]
    for date in dates:
        if date.is_year and yearless and not date.one.says("D"):
            date.one.moment = yearless[-1].one.moment


def _nearest_day(year: int, month: int, day: int) -> Moment:
    for wanted in ((year, month), (year - year % 4, month), (PUBLIC_YEAR, PUBLIC_MONTH)):
        try:
            return day_moment(*wanted, day)
        except ValueError:
            continue
    raise AssertionError("a day of 1 to 31 is one of January")


def _with_cues(span: Sequence[Written]) -> None:
    """A number alone is a day where something says so, else a year in two digits; among others that nothing is said of it is nothing."""
    numbers = [one for one in span if one.says("n")]
    if not numbers:
        return
    words = {word for one in span for word in folded("".join(part.sample for part in one.parts)).split()}
    others = [one for one in span if any(one.says(part) for part in ("b", "r", "m", "n1", "A"))]
    cued = bool(words & _DAY_CUES or others)
    if len(numbers) > 1 and not others:
        return
    for one in numbers:
        number = one.numbers["n"]
        # "In 09" is a year like "in 10".
        _rename(one, {"n": "d" if 1 <= number <= 31 and (cued or len(one.sample("n")) == 1) else "y"})


def _rename(one: Written, names: dict[str, str]) -> None:
    one.parts = [type(part)(names.get(part.says, part.says), part.sample) for part in one.parts]
    one.numbers = {names.get(says, says): number for says, number in one.numbers.items()}


def _counted(one: Written, group: str) -> Moment | None:
    """An age, or how far away something is, as the group of its span says."""
    if one.says("E"):
        return Moment("age", "decade", one.numbers["E"] // 10)
    if one.says("R"):
        count, unit = one.language.relative[folded(one.sample("R"))]
        return Moment("ahead" if count > 0 else "ago", unit, abs(count))
    count = one.numbers.get("N", one.numbers.get("W", -1))
    if count < 0:
        return None
    unit = one.language.unit_of[folded(one.sample("u"))] if one.says("u") else UNITS[-1]
    return Moment(group, unit, count)


def _words(one: Written) -> Iterator[str]:
    for part in one.parts:
        if not part.says:
            yield from folded(part.sample).split()
