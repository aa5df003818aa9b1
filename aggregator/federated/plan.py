"""How a federated training runs, and what a site is asked to do in a round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from shared.errors import ConfigurationError
from shared.federated.local import LocalRecipe
from shared.federated.screening import Limits
from shared.federated.strategies import DEFAULT, Strategy, find_strategy
from shared.federated.weights import Vector
from shared.taggers.tagger import TaggerConfig

_MOST_SITES = 1000


@dataclass(frozen=True)
class FederatedPlan:
    """How sites learn together.

    Args:
        strategy: name of one.
        local_epochs: passes of a site in a round.
        least_results: results that a round must have; more where the strategy asks for more.
        liars: sites that may lie, as far as the strategy can bear it; one whose result is refused as no update is one of them.
        attempts: how often a round is tried that had too few results.
        timeout_s: seconds that a round waits for sites.
        batch: sentences a step of a site, at most: sites step side by side, so what one of them does in few large steps goes farther in many small ones.
        rate: times the learning rate of a training in one place: a mean of sites moves less than each of them.
        limits: of an update.

    Raises:
        ConfigurationError: a value out of range, or an unknown strategy.
    """

    strategy: str = DEFAULT
    local_epochs: int = 1
    least_results: int = 2
    liars: int = 1
    attempts: int = 3
    timeout_s: float = 3600.0
    batch: int = 4
    rate: float = 2.0
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        find_strategy(self.strategy)
        counts = (self.local_epochs, self.batch, self.least_results, self.attempts)
        if min(counts) < 1 or not self.rate > 0 or not 0 <= self.liars <= _MOST_SITES:
            raise ConfigurationError(
                "federated: expected epochs, batch, results and attempts of at least 1, a rate above 0, and liars of at least 0"
            )

    @property
    def chosen(self) -> Strategy:
        """The strategy."""
        return find_strategy(self.strategy)

    @property
    def learning(self) -> dict[str, Any]:
        """What decides the result, in JSON's types: how long somebody waits, how often, and for how many, decides nothing that was learned.

        A training that was cut goes on with the same.
        """
        told = asdict(self)
        for name in ("timeout_s", "attempts", "least_results"):
            del told[name]
        return told

    @property
    def least(self) -> int:
        """Results that a round must have, where none was refused as no update."""
        return self.least_of(self.liars)

    def least_of(self, liars: int) -> int:
        """Results that a round must have, where so many liars may be among them."""
        return max(self.least_results, self.chosen.least_results(liars))


@dataclass(frozen=True)
class RoundOrder:
    """What sites are asked to do.

    Args:
        number: of the round, from 1.
        rounds: in all.
        shape: of the tagger.
        start: weights that it begins with.
        recipe: of each site.
    """

    number: int
    rounds: int
    shape: TaggerConfig
    start: Vector
    recipe: LocalRecipe


@dataclass(frozen=True)
class Answer:
    """What came of a site in a round.

    Args:
        site: its name.
        sentences: that it says it learned from; 0 where nothing came.
        weights: that it ended with; None where nothing came.
        problem: why nothing came, in a word.
        noisy: whether it says that it added noise; such a round has few steps.
        spoilt: whether it has signed weights that can't be used, which is a lie or as good as one.
        unit: what it says that its noise covers one of, a note or a patient.
    """

    site: str
    sentences: int
    weights: Vector | None
    problem: str = ""
    noisy: bool = False
    spoilt: bool = False
    unit: str = "note"


class Sites(Protocol):
    """Whoever takes part: simulated ones in this process, or hospitals behind a connection."""

    def ask(self, order: RoundOrder) -> Iterator[Answer]:
        """The answers, as they come; whoever does not answer in time is left out."""
        ...


Tell = Callable[[str], None]
"""Is told a line for people."""
