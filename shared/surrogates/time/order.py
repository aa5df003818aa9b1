"""Moments that were moved each by itself are put back into the order of the true ones, without a look at anything but that order.

That is post-processing, so it costs no budget; but what it is given says in which order the true moments stood. So the promise of what comes out is one
among notes whose moments stand in the same order. An error does not grow along a chain: the nearest sequence in order is no farther from the true one,
at its worst place, than the moved one was (Robertson, Wright and Dykstra 1988, Order Restricted Statistical Inference, section 1.6), and what keeps days
apart moves a date by a unit for each date ahead of it at most.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

from shared.surrogates.time.moments import Moment


def in_order(true: Sequence[Moment], moved: Sequence[Moment]) -> list[Moment]:
    """What was moved, in the order of what it was moved from.

    Args:
        true: moments of one group, none twice.
        moved: from these, in the same units.

    Returns:
        as many moments, each of its unit: where all days of one were ahead of all days of another, they are again.
    """
    ranks = sorted(range(len(true)), key=lambda at: (true[at].day, true[at].days))
    days = _isotonic([moved[at].day for at in ranks])
    placed: list[Moment] = [*true]
    # Of each unit the true last days, which rise, and the latest last day up to there that was given: one look for each date at each of the others
    # would take time that grows with the square.
    done: dict[str, tuple[list[int], list[int]]] = {}
    for at, day in zip(ranks, days, strict=True):
        moment = moved[at] if day == moved[at].day else true[at].at(day)
        first, last = true[at].days
        ahead = [given[found - 1] for ends, given in done.values() if (found := bisect_left(ends, first))]
        latest = max(ahead, default=None)
        if latest is not None and moment.days[0] <= latest:
            moment = true[at].at(latest + 1)
            if moment.days[0] <= latest:
                moment = moment.moved(1)
        placed[at] = moment
        ends, given = done.setdefault(moment.unit, ([], []))
        ends.append(last)
        given.append(max([moment.days[1], *given[-1:]]))
    return placed


def _isotonic(days: Sequence[int]) -> list[int]:
    """The nearest sequence that never falls, in least squares: neighbours that fall are pooled (Ayer et al. 1955), and rounded down together."""
    pools: list[tuple[int, int]] = []
    for day in days:
        total, count = day, 1
        while pools and Fraction(*pools[-1]) > Fraction(total, count):
            total, count = total + pools[-1][0], count + pools[-1][1]
            pools.pop()
        pools.append((total, count))
    return [total // count for total, count in pools for _ in range(count)]
