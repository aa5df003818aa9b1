"""What an adapted head is good for in the hospital's own notes: what the release promised was measured with another head, and does not hold for this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.evaluation.sampling.recall_interval import estimate_recall
from shared.pipeline.operating_points import DEFAULT, GRID, TARGETS, OperatingPoint, OperatingPoints
from site_client.adapting.counts import NoteCounts
from site_client.evaluating.counting import Counts


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """What is hidden at each of GRID.

    Args:
        counts: of some notes, one for each threshold.
    """

    counts: tuple[NoteCounts, ...]

    @staticmethod
    def join(curves: Sequence[Curve]) -> Curve:
        """Of the notes of several."""
        return Curve(tuple(map(NoteCounts.stack, zip(*(one.counts for one in curves), strict=True))))

    def of(self, notes: NDArray[np.int64]) -> Curve:
        """Of some of the notes, in the order given."""
        return Curve(tuple(one.of(notes) for one in self.counts))

    def at(self, place: int) -> NoteCounts:
        """At one threshold."""
        return self.counts[place]

    def hidden(self) -> NDArray[np.float64]:
        """Share of the entities hidden whole, float64 `[grid]`."""
        return np.array([_share(one.hidden) for one in self.counts])


def choose_place(curve: Curve, before: NoteCounts) -> int:
    """The place in GRID of the cheapest threshold that hides what a hospital may expect, and no less than the release.

    That is DEFAULT, or what the release hides if it hides more; where nothing hides DEFAULT, what the release hides; and where nothing does that
    either, the threshold that hides the most.

    Args:
        curve: of notes that the heads have not learned from.
        before: what the release hides of them.
    """
    hidden, least = curve.hidden(), _share(before.hidden)
    for wanted in (max(least, DEFAULT), least):
        if len(reached := np.flatnonzero(hidden >= wanted)):
            return int(reached[0])
    return int(np.argmax(hidden))


def own_points(curve: Curve, before: NoteCounts, groups: Counts) -> OperatingPoints | None:
    """The points of an adapted head: none hides less than the release did, whatever is asked for.

    Args:
        curve: of all notes, by heads that have not learned from them.
        before: what the release hides of them.
        groups: number of the group of each note, int64 `[notes]`.

    Returns:
        None where no threshold hides as much as the release.
    """
    hidden, least = curve.hidden(), _share(before.hidden)
    first = choose_place(curve, before)
    if hidden[first] < least:
        return None
    usual = DEFAULT if hidden[first] >= DEFAULT >= least else round(least, 4)
    asked = [usual, *(target for target in TARGETS if target > usual)]
    points = []
    for target in asked:
        # Whatever is asked for, no less than the release.
        if len(reached := np.flatnonzero(hidden >= max(target, least))):
            points.append(_point(target, int(reached[0]), curve, groups))
    return OperatingPoints(1, tuple(points))


def _point(target: float, place: int, curve: Curve, groups: Counts) -> OperatingPoint:
    """A point: what it hides in all notes, and, as the least, where its 95% interval begins."""
    counts = curve.at(place)
    grouped = counts.by_group(groups).hidden
    low = estimate_recall(grouped[:, 0], grouped[:, 1]).low
    return OperatingPoint(
        target,
        GRID[place],
        round(_share(counts.hidden), 4),
        round(_share(counts.shown), 4),
        round(low, 4),
    )


def _share(counts: Counts) -> float:
    hits, every = counts.sum(axis=0).tolist()
    return hits / every if every else 0.0
