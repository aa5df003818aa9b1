"""What sites may send: everything else is refused, by name and with its reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.federated.screening import Limits, Refusal, screen
from shared.federated.weights import Vector

START = np.zeros(4, np.float32)


def honest(sites: int = 4) -> dict[str, Vector]:
    dice = np.random.default_rng(0)
    return {f"site-{number}": dice.standard_normal(4).astype(np.float32) for number in range(sites)}


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (np.zeros(3, np.float32), Refusal.SHAPE),
        (np.zeros((2, 2), np.float32), Refusal.SHAPE),
        (np.zeros(4, np.float64), Refusal.SHAPE),
        (np.array([0, np.nan, 0, 0], np.float32), Refusal.NOT_FINITE),
        (np.array([0, np.inf, 0, 0], np.float32), Refusal.NOT_FINITE),
        (np.full(4, 100, np.float32), Refusal.OUTLYING),
        (np.full(4, 1e30, np.float32), Refusal.TOO_LONG),
    ],
)
def test_what_cannot_be_used_is_refused_and_the_others_stay(sent: Vector, reason: Refusal) -> None:
    found = screen(START, honest() | {"liar": sent}, Limits())
    assert found.refused == {"liar": reason}
    assert set(found.norms) == set(honest())


@given(st.floats(5, 1e30))
def test_an_update_is_refused_however_long_it_is(times: float) -> None:
    honest_ones = honest()
    usual = max(float(np.linalg.norm(one)) for one in honest_ones.values())
    liar = np.array([min(times * usual, 3e38), 0, 0, 0], np.float32)
    assert set(screen(START, honest_ones | {"liar": liar}, Limits()).refused) == {"liar"}


def test_many_that_are_too_long_do_not_make_long_updates_usual() -> None:
    long = {f"liar-{number}": np.full(4, 1e30, np.float32) for number in range(5)}
    assert set(screen(START, honest() | long, Limits()).norms) == set(honest())


def test_of_two_results_nobody_can_tell_which_is_wrong() -> None:
    two = {"one": np.full(4, 0.01, np.float32), "other": np.full(4, 10, np.float32)}
    assert not screen(START, two, Limits()).refused
    assert screen(START, two, Limits(most_norm=1.0)).refused == {"other": Refusal.TOO_LONG}


def test_norms_are_those_of_the_update_and_not_of_the_weights() -> None:
    start = np.full(4, 100, np.float32)
    assert screen(start, {"one": start + np.float32(1)}, Limits()).norms == {"one": pytest.approx(2.0)}
