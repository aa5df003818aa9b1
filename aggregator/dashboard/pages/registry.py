"""All pages: where each is, what makes it, and what the way to it is called. A new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aggregator.dashboard.blocks import Page
from aggregator.dashboard.pages.influence import influence
from aggregator.dashboard.pages.log import log
from aggregator.dashboard.pages.overview import overview
from aggregator.dashboard.pages.pool import pool
from aggregator.dashboard.pages.reading import Reading
from aggregator.dashboard.pages.releases import release, releases
from aggregator.dashboard.pages.shares import share, shares
from aggregator.dashboard.pages.sites import site, sites
from aggregator.dashboard.pages.work import one_work, work


@dataclass(frozen=True)
class Place:
    """A page.

    Args:
        path: its address, as the web framework writes it.
        make: makes it.
        name: of the way to it in the menu; "" for none.
    """

    path: str
    make: Callable[[Reading], Page]
    name: str = ""


def federated(reading: Reading) -> Page:
    """The last training together."""
    # Imported where it is asked for: it takes the training, which is seconds that no other page should wait for.
    from aggregator.dashboard.pages.federated import federated as make

    return make(reading)


PAGES = (
    Place("/", overview, "Overview"),
    Place("/sites", sites, "Hospitals"),
    Place("/sites/{name}", site),
    Place("/shares", shares, "Shares"),
    Place("/shares/{share}", share),
    Place("/pool", pool, "Pool"),
    Place("/influence", influence, "Influence"),
    Place("/releases", releases, "Releases"),
    Place("/releases/{name}", release),
    Place("/federated", federated, "Federated"),
    Place("/work", work, "Work"),
    Place("/work/{work}", one_work),
    Place("/log", log, "Audit log"),
)
