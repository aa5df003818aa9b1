"""All that `python -m bench.results_show scale` measures, and what it comes to."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.results import Entry
from bench.scale import objects, projection, sharding, training, world


def measure() -> list[Entry]:
    """Training together, notes in parts, objects, and the projection."""
    entries = training.measure()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world.build(folder)
        sharded = sharding.measure(folder)
        payload = folder / "harbor.parquet"
        entries += [*sharded.entries, *objects.measure(payload)]
        by_core = next(
            entry.value for entry in entries if entry.measure.startswith("training") and "own" in entry.measure
        )
        speed = next(entry.value for entry in entries if entry.measure.startswith("tokens that a core learns"))
        return entries + projection.project(speed, by_core / 2, sharded.tokens_a_second, payload)
