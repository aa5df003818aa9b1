"""What the provider does with the one update of a round: takes it as it is, or adapts it (Reddi et al. 2021, algorithm 2).

m <- b1 m + (1 - b1) update
v <- b2 v + (1 - b2) update^2                          FedAdam
v <- v - (1 - b2) update^2 sign(v - update^2)          FedYogi
weights <- weights + rate m / (sqrt(v) + tau)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shared.federated.weights import Vector

_FIRST, _SECOND = 0.9, 0.99
# The paper's degree of adaptivity, in the middle of what it found good.
_TAU = 1e-3


class Rule(StrEnum):
    """Of the provider's step."""

    PLAIN = "plain"
    ADAM = "adam"
    YOGI = "yogi"


@dataclass
class ServerStep:
    """The provider's side of the descent.

    Args:
        rule: which.
        rate: of an adaptive rule; 1 is right for the plain one.
        first: running mean of the updates; empty before the first.
        second: running mean of their squares.
    """

    rule: Rule
    rate: float
    first: Vector
    second: Vector

    @classmethod
    def fresh(cls, rule: Rule, rate: float, numbers: int) -> ServerStep:
        """One that has seen nothing; the plain rule remembers nothing."""
        kept = 0 if rule is Rule.PLAIN else numbers
        # Reddi et al., section 5: the second moment begins at tau squared.
        return cls(rule, rate, np.zeros(kept, np.float32), np.full(kept, _TAU**2, np.float32))

    def take(self, weights: Vector, update: Vector) -> Vector:
        """The weights after a round."""
        if self.rule is Rule.PLAIN:
            return weights + update
        square = update**2
        self.first = _FIRST * self.first + (1 - _FIRST) * update
        # Adam draws the second moment towards the square; Yogi does so by steps whose size is that of the square.
        away = square - self.second if self.rule is Rule.ADAM else square * np.sign(square - self.second)
        self.second = (self.second + (1 - _SECOND) * away).astype(np.float32)
        moved = self.rate * self.first / (np.sqrt(self.second) + _TAU)
        return weights + moved.astype(np.float32)

    def state(self) -> Mapping[str, Vector]:
        """What has to be kept of it."""
        return {"first": self.first, "second": self.second}
