"""The budget of a hospital that measures a head behind the rounds that it learned."""

from __future__ import annotations

from typing import Any

import pytest

from shared.federated.accounting import Spent, epsilon, multiplier_for
from site_client.errors import PolicyError
from site_client.federated import budget
from site_client.federated.budget import Past, allow_measuring, allow_round
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


@pytest.mark.parametrize("unit", ["note", "patient"])
def test_rounds_by_note_and_by_patient_are_not_added_up(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a round by note told of a patient no later noise takes back; and of a note of a patient who counts as one, a round says another thing."""
    spent, policy = Spent(3.0, 0.1, 10), SitePolicy(federated_rounds=9, federated_epsilon=8.0)
    units = {unit: 1}
    monkeypatch.setattr(budget, "read_past", lambda workspace: Past(1, (spent,), 0, units=units))
    other = "patient" if unit == "note" else "note"
    for allow in (lambda: allow_round(WORKSPACE, policy, 1, other), lambda: allow_measuring(WORKSPACE, policy, other)):
        with pytest.raises(PolicyError, match=f"by {unit}"):
            allow()
    assert allow_round(WORKSPACE, policy, 1, unit)[0] is not None
    free = SitePolicy(federated_rounds=9, federated_epsilon=None)
    assert allow_round(WORKSPACE, free, 1, other) == (None, 0.0)
