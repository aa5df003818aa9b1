"""`cap`: from three hospitals on, none weighs more in a training than half of what all others share, or than the largest of them.

A site that is over its cap has all its sentences in the training, each of them in fewer passes. So nobody gains by sending
everything twice, and an honest hospital that has many notes is a third of the training, or as much as the next largest. What all others share bounds a hospital, and not what one
of them does: by the median a hospital of a single sentence took a large one out of the training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import PUBLIC, Taken

LEAST_HOSPITALS = 3
"""Of two, one always has more than the other: which of them lies nobody can tell by that."""
PART = 0.5
"""Of what all others share."""
LEAST_TOKENS = 10_000
"""What a few dozen notes have, and a hospital may weigh in any case: of fewer no head is learnt, so a cap would protect nobody, and keep out what
there is to learn from."""


class SiteCap(Selection):
    """Bounds the weight of a hospital by what all other sites share."""

    name = "cap"
    title = "no hospital weighs more than half of what all others share, or than the largest of them"

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection."""
        return {
            path: Taken(rate=rate)
            for site, rate in site_rates(material).items()
            for path in material.payloads[site]
            if rate < 1
        }


def site_rates(material: PoolMaterial) -> dict[str, float]:
    """The chance of a sentence of each site to take part in a pass, in (0, 1]."""
    tokens: dict[str, int] = {}
    # In haste each pass takes a part of the pool; what weighs too much is told by all of it, as for the head.
    whole = replace(material, rate=1.0)
    for site, paths in material.payloads.items():
        with whole.pool(paths=paths) as pool:
            tokens[site] = pool.tokens
    return rates_of(tokens)


def rates_of(tokens: Mapping[str, int]) -> dict[str, float]:
    """The same, by the tokens that each site has in a pass.

    The provider's own notes are never capped, and are no third hospital; they are among what the others share: beside many of them a hospital is
    a third, where it would be next to nothing.
    """
    total = sum(tokens.values())
    hospitals = {site: held for site, held in tokens.items() if held and site != PUBLIC}
    if len(hospitals) < LEAST_HOSPITALS:
        return dict.fromkeys(tokens, 1.0)

    def bound(site: str) -> float:
        largest = max(held for other, held in hospitals.items() if other != site)
        # Not below the next largest: who shares more would weigh less.
        return max(LEAST_TOKENS, PART * (total - hospitals[site]), largest)

    return {site: min(1.0, bound(site) / held) if site in hospitals else 1.0 for site, held in tokens.items()}
