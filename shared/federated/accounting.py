"""What all rounds of a site together have given away of one note that is there or not, by Renyi differential privacy (Mironov 2017; Mironov et al. 2019).

Of several notes of one patient this bounds nothing at the same delta, nor does a multiple of it: tests/shared/federated/test_accounting.py has five
notes with more than five times the bound. Versions of a note are several notes.

The state of the accounting is the list of what was done; who keeps that list, such as a signed log, keeps the state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from shared.errors import ConfigurationError

DELTA = 1e-5
"""Of one note: far below one over the notes of a hospital."""
_ORDERS = (*(order / 10 for order in range(20, 110)), *range(11, 64), 128, 256, 512)
"""Of the divergence. Those below 2 matter above epsilon 20 alone, and their series may not converge; leaving one out overstates epsilon."""


@dataclass(frozen=True)
class Spent:
    """One mechanism, so many times.

    Args:
        multiplier: noise over sensitivity.
        rate: chance of a note to take part in a step; 1 for all.
        steps: how often.
    """

    multiplier: float
    rate: float
    steps: int

    def __post_init__(self) -> None:
        if not (self.multiplier > 0 and 0 < self.rate <= 1 and self.steps >= 0):
            raise ConfigurationError("spent: expected a multiplier above 0, a rate in (0, 1] and steps of at least 0")


def epsilon(spent: Iterable[Spent], delta: float = DELTA) -> float:
    """Epsilon of all that was spent, one after the other, for a note that is there or not; 0 for nothing."""
    counted: Counter[tuple[float, float]] = Counter()
    for one in spent:
        counted[one.multiplier, one.rate] += one.steps
    # Slow to import, and who adds no noise needs none of it.
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(_ORDERS)
    for (multiplier, rate), steps in counted.items():
        event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
        accountant.compose(event, steps)
    return float(accountant.get_epsilon(delta)) if counted else 0.0


@lru_cache(maxsize=64)
def multiplier_for(target: float, rate: float, steps: int, delta: float = DELTA) -> float:
    """The least noise multiplier, to a hundredth, with which so many steps stay within epsilon.

    It takes a second, and every round of a hospital asks for the same.

    Raises:
        ConfigurationError: none below 1000 does.
    """
    low, high = 0, 100_000
    while high - low > 1:
        middle = (low + high) // 2
        if epsilon([Spent(middle / 100, rate, steps)], delta) <= target:
            high = middle
        else:
            low = middle
    if high == 100_000:
        raise ConfigurationError(f"expected an epsilon that noise can reach, got {target:g}; take fewer rounds")
    return high / 100
