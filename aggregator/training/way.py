"""How a head comes from a pool, where it is not the way of `train-head`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aggregator.training.defences.defence import Defence, PoolMaterial
from aggregator.training.judging.influence import Influence
from shared.constructions.construction import Construction
from shared.labels import LabelScheme
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.operating_points import OperatingPoints
from shared.taggers.tagger import Tagger


@dataclass(frozen=True)
class Way:
    """Another way than that of `train-head`.

    Args:
        command: that it belongs to, which keeps its checkpoints apart.
        defence: trains it, and every head that it is measured by.
        inputs: what decides the result besides, in JSON's types.
        told: what the record says of it once it is trained.
        influence: what each site did, where that was found out in another way; None for the usual one.
        points: what a hospital that nobody has seen is promised, likewise.
    """

    command: str
    defence: Defence
    inputs: Mapping[str, object]
    told: Callable[[], Mapping[str, Any]]
    influence: Callable[[PoolMaterial, Tagger, LabelScheme], Influence] | None = None
    points: Callable[[PoolMaterial, Construction, LastWordSettings | None], OperatingPoints | None] | None = None
