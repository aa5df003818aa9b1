"""`cap`: no site weighs more than others do together by a factor, however much it sends.

A site that is over its cap has all its sentences in the training, each of them in fewer passes. So nobody gains by sending
everything twice, and nothing is lost of an honest hospital that has many notes.
"""

from __future__ import annotations

from pathlib import Path

from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import PUBLIC, Taken

FACTOR = 2.0
"""A site counts at most so many times as much as the median site."""


class SiteCap(Selection):
    """Bounds the weight of a site by the median weight."""

    name = "cap"
    title = f"no site has more than {FACTOR:g} times the weight of the median site"

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection."""
        return {
            path: Taken(rate=rate)
            for site, rate in site_rates(material).items()
            for path in material.payloads[site]
            if rate < 1
        }


def site_rates(material: PoolMaterial) -> dict[str, float]:
    """The chance of a sentence of each site to take part in a pass, in (0, 1].

    The provider's own notes are not measured and set no measure: a provider with few notes would keep out most of what its first
    hospital shares, and nobody else could be heard beside it either way.
    """
    tokens: dict[str, int] = {}
    for site, paths in material.payloads.items():
        with material.pool(paths=paths) as pool:
            tokens[site] = pool.tokens
    hospitals = sorted(held for site, held in tokens.items() if site != PUBLIC)
    if not hospitals:
        return dict.fromkeys(tokens, 1.0)
    # The lower median: of two sites, the larger must not set the measure for itself.
    bound = FACTOR * hospitals[(len(hospitals) - 1) // 2]
    return {site: min(1.0, bound / held) if held and site != PUBLIC else 1.0 for site, held in tokens.items()}
