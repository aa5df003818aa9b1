"""The provider's step against the paper's lines done number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shared.federated.server_step import Rule, ServerStep

UPDATES = ([0.5, -0.2, 0.0], [0.1, -0.4, 0.3], [-0.3, 0.2, 0.3])


def by_hand(rule: Rule, rate: float) -> list[float]:
    """Reddi et al. 2021, algorithm 2, one number at a time."""
    result = []
    for column in zip(*UPDATES, strict=True):
        weight, m, v = 1.0, 0.0, 1e-6
        for change in column:
            m = 0.9 * m + 0.1 * change
            if rule is Rule.ADAM:
                v = 0.99 * v + 0.01 * change**2
            else:
                v = v - 0.01 * change**2 * math.copysign(1, v - change**2) * (v != change**2)
            weight += rate * m / (math.sqrt(v) + 1e-3)
        result.append(weight)
    return result


@pytest.mark.parametrize("rule", [Rule.ADAM, Rule.YOGI])
def test_adaptive_steps_are_those_of_the_paper(rule: Rule) -> None:
    step, weights = ServerStep.fresh(rule, 0.1, 3), np.ones(3, np.float32)
    for update in UPDATES:
        weights = step.take(weights, np.array(update, np.float32))
    np.testing.assert_allclose(weights, by_hand(rule, 0.1), rtol=1e-4)
    assert weights.dtype == np.float32


def test_the_plain_step_adds_the_update_and_remembers_nothing() -> None:
    step = ServerStep.fresh(Rule.PLAIN, 1.0, 3)
    np.testing.assert_array_equal(step.take(np.ones(3, np.float32), np.full(3, 2, np.float32)), [3, 3, 3])
    assert not any(kept.size for kept in step.state().values())
