"""What noise by the note leaves open of a patient: figures that the documents state, by an accounting that is not ours."""

from __future__ import annotations

from math import comb

import pytest
from dp_accounting.pld import privacy_loss_distribution

from shared.federated.accounting import DELTA, multiplier_for

RATE, STEPS = 0.1, 400
"""Of the usual policy: 40 rounds of ten steps."""


def epsilon_of_patient(notes: int, *, from_above: bool) -> float:
    """Of so many notes of length 1, each drawn by itself in every step; the interval is coarse, and each end lies on its side of the truth."""
    drawn = [comb(notes, count) * RATE**count * (1 - RATE) ** (notes - count) for count in range(notes + 1)]
    losses = privacy_loss_distribution.from_mixture_gaussian_mechanism(
        multiplier_for(8.0, RATE, STEPS),
        [float(count) for count in range(notes + 1)],
        drawn,
        pessimistic_estimate=from_above,
        value_discretization_interval=0.02,
        use_connect_dots=from_above,
    )
    return float(losses.self_compose(STEPS).get_epsilon_for_delta(DELTA))


@pytest.mark.parametrize(("notes", "low", "high"), [(1, 0, 8), (2, 0, 17.4), (5, 40, 62)])
def test_what_rounds_tell_of_a_patient_is_no_multiple_of_what_they_tell_of_a_note(
    notes: int, low: float, high: float
) -> None:
    """Five notes of a patient have more than five times the bound of one."""
    assert low <= epsilon_of_patient(notes, from_above=False) <= epsilon_of_patient(notes, from_above=True) <= high
