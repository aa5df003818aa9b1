"""Feature columns: what a share of codes tells of each token beside its code, tag and casing class, as its release declares it.

A construction declares them, a payload names them, and whoever takes the payload in holds the one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FeatureColumn:
    """A class of every token; `protocols.features` says which names and numbers there may be.

    Args:
        name: of the feature.
        classes: how many there are; a token has one of 0 to `classes` - 1.
    """

    name: str
    classes: int
