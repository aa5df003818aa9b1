"""The budget of a hospital that measures a head behind the rounds that it learned."""

from __future__ import annotations

from typing import Any

import pytest

from shared.federated.accounting import Spent, epsilon, multiplier_for
from site_client.errors import PolicyError
from site_client.federated import budget
from site_client.federated.budget import Past, allow_measuring
from site_client.policy.site_policy import SitePolicy

WORKSPACE: Any = None


@pytest.mark.parametrize(("asked", "rounds"), [(8.0, 2), (1.0, 2), (4.0, 6)])
def test_what_was_learned_is_measured_within_the_budget(
    asked: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = [Spent(multiplier_for(asked, 0.1, 10 * rounds), 0.1, 10)] * (rounds - 1)
    monkeypatch.setattr(budget, "read_past", lambda workspace: Past(rounds - 1, tuple(learned), 0))
    spent, after = allow_measuring(WORKSPACE, SitePolicy(federated_rounds=rounds, federated_epsilon=asked))
    assert spent is not None
    assert after == epsilon([*learned, spent]) <= asked
    # No more noise than that takes: a twentieth less would be too little, or is what all rounds of the policy could have measured with.
    usual = multiplier_for(asked, 1.0, rounds)
    assert spent.multiplier == usual or epsilon([*learned, Spent(spent.multiplier / 1.05, 1.0, 1)]) > asked


def test_what_no_noise_brings_within_the_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Past(1, (Spent(0.5, 1.0, 1),), 0)
    monkeypatch.setattr(budget, "read_past", lambda workspace: gone)
    with pytest.raises(PolicyError, match="within the budget of epsilon 1"):
        allow_measuring(WORKSPACE, SitePolicy(federated_rounds=2, federated_epsilon=1.0))
