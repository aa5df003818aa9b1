"""What a date, an age or a span of time says, as a whole number of the unit in which it is expressed."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "decade": 3650}
"""Of a unit, where there is no calendar."""
_MIDDLE_OF_MONTH = 15
_MIDDLE_OF_YEAR = (7, 1)
_YEAR_OF_MONTHS = 12
_FIRST, _LAST = datetime.date(1800, 1, 1).toordinal(), datetime.date(2199, 12, 31).toordinal()


@dataclass(frozen=True, order=True)
class Moment:
    """A point of the calendar, an age, or how far away something is.

    Args:
        group: "date", "age", "ago", "ahead" or "weekday"; moments of one group have an order.
        unit: in which it is expressed.
        value: how many: days as ordinals of `datetime.date`, months and years since the year 0; of a week from Monday, 0.
    """

    group: str
    unit: str
    value: int

    @property
    def day(self) -> int:
        """Where it stands on the axis of days: its middle."""
        if self.group != "date":
            return self.value * DAYS[self.unit]
        if self.unit == "day":
            return self.value
        if self.unit == "month":
            year, month = divmod(self.value, _YEAR_OF_MONTHS)
            return datetime.date(year, month + 1, _MIDDLE_OF_MONTH).toordinal()
        year = self.value if self.unit == "year" else self.value * 10 + 5
        return datetime.date(year, *_MIDDLE_OF_YEAR).toordinal()

    @property
    def days(self) -> tuple[int, int]:
        """First and last day that it may mean."""
        if self.group != "date" or self.unit == "day":
            return self.day, self.day
        following = self.value + 1
        if self.unit == "month":
            first, after = (
                datetime.date(months // _YEAR_OF_MONTHS, months % _YEAR_OF_MONTHS + 1, 1).toordinal()
                for months in (self.value, following)
            )
            return first, after - 1
        years = 1 if self.unit == "year" else 10
        first, after = (datetime.date(count * years, 1, 1).toordinal() for count in (self.value, following))
        return first, after - 1

    def at(self, day: int) -> Moment:
        """The moment of this unit that a day on the axis belongs to; an age or a distance is one unit at least."""
        if self.group != "date":
            size = DAYS[self.unit]
            return Moment(self.group, self.unit, max(1, (2 * day + size) // (2 * size)))
        day = min(max(day, _FIRST), _LAST)
        if self.unit == "day":
            return Moment(self.group, self.unit, day)
        date = datetime.date.fromordinal(day)
        value = {
            "month": date.year * _YEAR_OF_MONTHS + date.month - 1,
            "year": date.year,
            "decade": date.year // 10,
        }[self.unit]
        return Moment(self.group, self.unit, value)

    def moved(self, steps: int) -> Moment:
        """The moment so many units later; one of the calendar stays within four centuries."""
        if self.group != "date":
            return Moment(self.group, self.unit, self.value + steps)
        if self.unit == "day":
            return Moment(self.group, self.unit, min(max(self.value + steps, _FIRST), _LAST))
        first, last = (Moment(self.group, self.unit, 0).at(edge).value for edge in (_FIRST, _LAST))
        return Moment(self.group, self.unit, min(max(self.value + steps, first), last))

    @property
    def date(self) -> datetime.date:
        """Its middle, as a day of the calendar."""
        return datetime.date.fromordinal(self.day)


def day_moment(year: int, month: int, day: int) -> Moment:
    """A day.

    Raises:
        ValueError: there is none such.
    """
    return Moment("date", "day", datetime.date(year, month, day).toordinal())


def month_moment(year: int, month: int) -> Moment:
    """A month of a year."""
    return Moment("date", "month", year * _YEAR_OF_MONTHS + month - 1)
