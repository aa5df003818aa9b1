"""The frontier's report: what counts as the strongest attack, and what is said of a side that shares nothing."""

from __future__ import annotations

import pytest

from bench.frontier import Attack, Row
from bench.outcomes import Outcome

BLIND = Attack("match", 0.01, 0.01, (0.005, 0.02), 2000)
SEEING = Attack("inversion", 0.75, 0.5, (0.7, 0.8), 100)
RAW, ALONE, MIDDLE = (
    Outcome([[hits, 100 - hits, 0]] * 3, [[hits, 100 - hits, 0]] * 3, "0000000") for hits in (90, 70, 80)
)


def row(*attacks: Attack) -> Row:
    return Row("surrogates", "K=2", MIDDLE, attacks)


class TestAttack:
    def test_that_is_as_good_as_without_the_share_has_no_advantage(self) -> None:
        assert BLIND.advantage == 0

    def test_that_is_always_right_has_all_of_it(self) -> None:
        assert Attack("match", 1.0, 0.01, (0.99, 1.0), 400).advantage == 1

    def test_that_is_right_in_half_of_what_is_left_to_know_has_half(self) -> None:
        assert SEEING.advantage == pytest.approx(0.5)


class TestRow:
    def test_names_the_attack_that_gains_most_over_its_own_baseline(self) -> None:
        sure = Attack("white box", 0.74, 0.5, (0.7, 0.78), 100)
        assert row(BLIND, sure, SEEING).strongest is SEEING

    def test_every_attack_is_an_entry_and_the_strongest_once_more(self) -> None:
        entries = {one.measure.split(": ")[1]: one for one in row(BLIND, SEEING).entries(RAW, ALONE)}
        assert entries["match"].value == 0.01
        assert entries["inversion"].interval == (0.7, 0.8)
        strongest = entries["strongest attack's advantage"]
        assert (strongest.value, strongest.interval) == (0.5, (0.4, 0.6))
        assert "inversion" in strongest.note

    def test_that_shares_nothing_has_no_figure_of_an_attack(self) -> None:
        measures = [one.measure for one in row().entries(RAW, ALONE)]
        assert len(measures) == 3
        assert all("F1" in measure for measure in measures)

    def test_worth_is_the_part_of_the_way_from_alone_to_raw(self) -> None:
        (worth,) = (one for one in row(SEEING).entries(RAW, ALONE) if "worth" in one.measure)
        alone, middle, raw = (side.entity_f1 for side in (ALONE, MIDDLE, RAW))
        assert worth.value == pytest.approx((middle - alone) / (raw - alone), abs=1e-4)
