"""What scores come to over seeds and documents."""

from __future__ import annotations

import pytest

from bench.outcomes import Comparison, Outcome


def outcome(hits: int, notes: int = 10) -> Outcome:
    """Ten PHI tokens a note, of which some are found and nothing else is."""
    return Outcome([[hits, 0, 10 - hits]] * notes, [[hits, 0, 10 - hits]] * notes)


def test_worth_is_the_share_of_the_ideal_gain() -> None:
    # F1 is 2 * hits / (hits + 10): 0.667, 0.947 and 0.889.
    compared = Comparison([outcome(5)], [outcome(9)], [outcome(8)])
    gain, (low, high) = compared.gain("tokens")
    assert gain == pytest.approx((16 / 18 - 10 / 15) / (18 / 19 - 10 / 15))
    # Every note is like every other, so drawing them again changes nothing.
    assert low == pytest.approx(gain) == pytest.approx(high)


def test_runs_are_averaged_before_they_are_compared() -> None:
    compared = Comparison([outcome(5), outcome(5)], [outcome(9), outcome(9)], [outcome(9), outcome(5)])
    assert compared.gain("entities")[0] == pytest.approx(0.5)


def test_the_interval_knows_that_notes_differ() -> None:
    mixed = Outcome([[10, 0, 0], [0, 0, 10]] * 20, [])
    gain, (low, high) = Comparison([outcome(0, 40)], [outcome(10, 40)], [mixed]).gain("tokens")
    assert low < gain < high
    assert high - low > 0.1


def test_seeds_of_the_same_notes_make_no_interval_narrower() -> None:
    mixed = Outcome([[10, 0, 0], [0, 0, 10]] * 20, [])
    once, thrice = (
        Comparison([outcome(0, 40)] * seeds, [outcome(10, 40)] * seeds, [mixed] * seeds).gain("tokens")
        for seeds in (1, 3)
    )
    assert thrice[1] == pytest.approx(once[1])
