"""Several choices at once: a sentence trains the head if all of them take it, at the lowest of their rates."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.defences.row_majority import RowMajority
from aggregator.training.defences.site_cap import SiteCap
from aggregator.training.pool import Taken

Marks: TypeAlias = tuple[NDArray[np.bool_], ...]


class Together(Selection):
    """Some selections together."""

    parts: ClassVar[tuple[type[Selection], ...]]

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection."""
        taken: dict[Path, Taken] = {}
        for part in self.parts:
            for path, other in part().choose(material).items():
                taken[path] = intersect(taken[path], other) if path in taken else other
        return taken


def intersect(one: Taken, other: Taken) -> Taken:
    """What two selections both take of a payload, and no label that one of them denies."""
    kept = _each(np.logical_and, one.kept, other.kept)
    return Taken(kept, _each(np.logical_or, one.unknown, other.unknown), min(one.rate, other.rate))


def _each(join: np.ufunc, one: Marks | None, other: Marks | None) -> Marks | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(join(left, right) for left, right in zip(one, other, strict=True))


class MajorityAndCap(Together):
    """The vote on rows, and no site above its weight."""

    name = "majority+cap"
    title = "the vote on rows, and no site above its weight"
    parts = (RowMajority, SiteCap)
