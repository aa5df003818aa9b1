"""Surrogates of dates, ages and spans of time.

**Promise.** Every moment of a note, each once in whatever spellings, is moved by discrete Laplace noise in the unit in which it is expressed, as in
Tchouka et al. (2023, section 4.1). So two notes that are the same but for their moments, whose moments are of the same units, stand in the same order
and are written in the same patterns, and whose k-th moment differs by d_k units, give any output with probabilities that differ by at most the factor
exp(sum of epsilon_k d_k). Order, bounds and spelling are made of the noisy values alone; how a moment is written hangs on nothing that one value shows
and another does not (`shared.surrogates.time.writing`). A date whose year is not written is of the year that is
read for it (`shared.surrogates.time.resolving`), and d_k counts what is read.

With one shift for all dates that promise holds of notes whose dates are the same days apart, for epsilon times the days between the two notes: the
days between the dates of a note are public, and who knows one date knows all (Tchouka et al. 2023, section 1).

Where a key draws the same again, it draws anew as soon as epsilon is another one: two draws of one stream at two scales would show the true value.
Noise is exact and whole; seasons, holidays, times and parts of the day are drawn whatever they were.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from shared.surrogates.maker import Maker, Mention, Plan, Protected, Scope
from shared.surrogates.mechanisms.discrete_laplace import discrete_laplace
from shared.surrogates.mechanisms.randomness import choose
from shared.surrogates.spelling import cased_like, folded
from shared.surrogates.time.moments import DAYS, Moment
from shared.surrogates.time.order import in_order
from shared.surrogates.time.reading import read_time
from shared.surrogates.time.resolving import Resolver, reads_day_first
from shared.surrogates.time.writing import Written, without_traces

SHIFT = "shift"
_WEEK = 7
_CLOCK = "HMS"


class TimeMaker(Maker):
    """See the module."""

    kinds = ("date", "age")

    def read(self, mentions: Sequence[Mention], scope: Scope) -> Plan:
        """See `Maker`."""
        return _TimePlan(mentions, scope)


class _TimePlan(Plan):
    def __init__(self, mentions: Sequence[Mention], scope: Scope) -> None:
        self._scope = scope
        spans = [_read(mention, scope) for mention in mentions]
        known = [span for span in spans if span is not None]
        ages = [mention.kind == "age" for mention, span in zip(mentions, spans, strict=True) if span is not None]
        stated = scope.settings.time.day_first
        self._day_first = scope.language.name != "English" if stated is None else stated
        # Where other notes belong to the scope, what one shows of itself would give a date of all of them two surrogates.
        by_note = stated is None and not scope.lasts
        read_so = reads_day_first(known, self._day_first) if by_note else self._day_first
        understood = iter(Resolver(known, ages, read_so, scope.today).resolve())
        self._spans = [span if span is not None and next(understood) else None for span in spans]
        self._category: dict[Moment, str] = {}
        for mention, span in zip(mentions, self._spans, strict=True):
            for one in span or ():
                if one.moment is not None:
                    self._category.setdefault(one.moment, mention.category)
        self.entities = self._protected()

    def _protected(self) -> dict[str, Protected]:
        entities: dict[str, Protected] = {}
        for moment, category in self._category.items():
            if self._is_shifted(moment):
                entities[SHIFT] = Protected(category, self._scope.settings.time.shift_epsilon)
            else:
                entities[self._entity(moment, category)] = Protected(category)
        return entities

    def _entity(self, moment: Moment, category: str) -> str:
        # The unit belongs to the draw: under the one category epsilon may be for a day, under another for a week.
        return f"{_name(moment)} per {self._scope.settings.units.get(category, moment.unit)}"

    def _is_shifted(self, moment: Moment) -> bool:
        # A day of the week that stands alone goes along; ages do not hang on dates.
        return self._scope.settings.time.shift and moment.group in ("date", "weekday")

    def write(self, epsilons: Mapping[str, Fraction | None]) -> list[str | None]:
        """See `Plan`."""
        moved = self._moved(epsilons)
        return [None if span is None else self._written(span, moved) for span in self._spans]

    def _moved(self, epsilons: Mapping[str, Fraction | None]) -> dict[Moment, Moment]:
        """For each moment that may be drawn the one that takes its place."""
        moved: dict[Moment, Moment] = {}
        for moment, category in self._category.items():
            epsilon = epsilons[SHIFT if self._is_shifted(moment) else self._entity(moment, category)]
            if epsilon is None:
                continue
            if not self._is_shifted(moment):
                moved[moment] = self._noisy(moment, category, epsilon)
            elif (shifted := self._shifted(moment, epsilon)) is not None:
                moved[moment] = shifted
        for group in {moment.group for moment in moved} - {"weekday"}:
            true = [moment for moment in moved if moment.group == group]
            # Where other notes belong to the scope they hold other ages: put in order, the same one would come out as two.
            if not self._scope.lasts and not self._is_shifted(true[0]):
                for moment, placed in zip(true, in_order(true, [moved[one] for one in true]), strict=True):
                    moved[moment] = self._bounded(placed)
        return moved

    def _noisy(self, moment: Moment, category: str, epsilon: Fraction) -> Moment:
        unit = self._scope.settings.units.get(category)
        if unit is not None:
            epsilon = epsilon * DAYS[moment.unit] / DAYS[unit]
        noise = discrete_laplace(self._scope.randomness("time", _name(moment), str(epsilon)), epsilon)
        if moment.group == "weekday":
            return Moment("weekday", "day", (moment.value + noise) % _WEEK)
        return self._bounded(moment.moved(noise))

    def _shifted(self, moment: Moment, epsilon: Fraction) -> Moment | None:
        """None for what lies or ends ahead of the bounds, such as a birth so long ago: it is as many days from the others as it was, which tells the age."""
        days = discrete_laplace(self._scope.randomness("time", SHIFT, str(epsilon)), epsilon)
        if moment.group == "weekday":
            return Moment("weekday", "day", (moment.value + days) % _WEEK)
        shifted = moment.at(moment.day + days)
        return shifted if min(moment.day, shifted.day) >= self._dates[0] else None

    def _bounded(self, moment: Moment) -> Moment:
        """Within what is plausible of any note, whatever stands in this one."""
        if moment.group == "date":
            edges = self._dates
        else:
            # A tagger may call an age a date.
            edges = (DAYS[moment.unit], self._scope.settings.time.oldest * DAYS["year"])
        if edges[0] <= moment.day <= edges[1]:
            return moment
        if moment.group == "date":
            return moment.at(min(max(moment.day, edges[0]), edges[1]))
        return Moment(moment.group, moment.unit, min(max(moment.value, 1), edges[1] // DAYS[moment.unit]))

    @cached_property
    def _dates(self) -> tuple[int, int]:
        """First and last day that a surrogate may be."""
        first, last = self._scope.settings.years(self._scope.today)
        return datetime.date(first, 1, 1).toordinal(), datetime.date(last, 12, 31).toordinal()

    def _written(self, span: Sequence[Written], moved: Mapping[Moment, Moment]) -> str | None:
        text = ""
        for one in span:
            if one.silent:
                text += "".join(part.sample for part in one.parts)
            elif one.moment is None:
                text += self._drawn(one)
            elif one.moment not in moved:
                return None
            else:
                text += one.write(moved[one.moment], self._day_first)
        for language in {one.language.name: one.language for one in span if one.says("b")}.values():
            text = without_traces(text, language)
        return text

    def _drawn(self, one: Written) -> str:
        """What has no moment: a season, a holiday, a time of the day."""
        if one.free:
            sample = one.sample("F")
            return cased_like(choose(self._scope.randomness("free", folded(sample)), one.free), sample)
        # By its numbers, so that it is the same time in whatever spelling.
        time = " ".join(str(one.numbers[says]) for says in _CLOCK if says in one.numbers)
        half = one.sample("h")
        chance = self._scope.randomness("free", f"{time} {half.lower()}" if half else time)
        # Two digits always: one would tell an hour before ten.
        drawn = {
            "H": f"{1 + chance.below(12) if half else chance.below(24):02}",
            "M": f"{chance.below(60):02}",
            "S": f"{chance.below(60):02}",
            # A draw of its own, in whose name the true half is not.
            "h": cased_like(choose(self._scope.randomness("half of the day", time), "ap"), half),
        }
        return "".join(drawn.get(part.says, part.sample) for part in one.parts)


def _read(mention: Mention, scope: Scope) -> list[Written] | None:
    """As a date or an age; a scheme may call both by one name."""
    return read_time(mention.text, mention.kind, scope.language)


def _name(moment: Moment) -> str:
    return f"{moment.group} {moment.unit} {moment.value}"
