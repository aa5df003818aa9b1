"""The strategies by name: how updates are combined, what the provider does with the result, and what sites are asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.errors import ConfigurationError
from shared.federated.aggregation import Combine, coordinate_median, krum, trimmed_mean, weighted_mean
from shared.federated.server_step import Rule, ServerStep


@dataclass(frozen=True)
class Strategy:
    """How sites learn together.

    Args:
        name: what `--strategy` takes.
        title: what it does, in a sentence.
        combine: from the updates of the sites to one.
        rule: of the provider's step.
        rate: of it.
        proximal: weight of the pull back to the weights that a round began with (FedProx: Li et al. 2020, equation 2).
        sites_for: multiple of the liars, and a constant: with fewer results its protection does not hold.
    """

    name: str
    title: str
    combine: Combine
    rule: Rule = Rule.PLAIN
    rate: float = 1.0
    proximal: float = 0.0
    sites_for: tuple[int, int] = (0, 1)

    def least_results(self, liars: int) -> int:
        """Results that a round must have, where so many sites may lie."""
        times, more = self.sites_for
        return times * liars + more

    def server_step(self, numbers: int) -> ServerStep:
        """The provider's step, fresh."""
        return ServerStep.fresh(self.rule, self.rate, numbers)


STRATEGIES: Mapping[str, Strategy] = {
    one.name: one
    for one in (
        Strategy("fedavg", "mean of all sites by their sentences", weighted_mean),
        Strategy("fedprox", "the same, sites are held near where a round began", weighted_mean, proximal=0.01),
        Strategy("fedadam", "mean, then a step of Adam at the provider", weighted_mean, Rule.ADAM, 0.05),
        Strategy("fedyogi", "mean, then a step of Yogi at the provider", weighted_mean, Rule.YOGI, 0.05),
        Strategy("median", "median of every number", coordinate_median, sites_for=(2, 1)),
        Strategy("trimmed-mean", "mean of every number without the ends", trimmed_mean, sites_for=(2, 1)),
        Strategy("krum", "mean of the sites that lie closest together", krum, sites_for=(2, 3)),
    )
}
DEFAULT = "fedavg"


def find_strategy(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in STRATEGIES:
        raise ConfigurationError(f"expected a strategy among {', '.join(STRATEGIES)}, got {name!r}")
    return STRATEGIES[name]
