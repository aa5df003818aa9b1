"""`none`: every sentence of every site trains the head, whatever the others say."""

from __future__ import annotations

from pathlib import Path

from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import Taken


class Everything(Selection):
    """No defence: what the others are measured against."""

    name = "none"
    title = "every sentence counts as much as any other"

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection."""
        return {}
