"""The frontier's report: what counts as the strongest attack, and what is said of a side that shares nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import frontier
from bench.frontier import INVERSION, MATCH, READING, Attack, Row, main, report
from bench.outcomes import Outcome

BLIND = Attack(MATCH, 0.01, 0.01, (0.005, 0.02), 2000)
SEEING = Attack(INVERSION, 0.75, 0.5, (0.7, 0.8), 100)
# Of words that are no PHI, so that it never counts as the strongest.
READS = Attack(READING, 0.9, 0.0, (0.8, 0.95), 100)
RAW, ALONE, MIDDLE = (
    Outcome([[hits, 100 - hits, 0]] * 3, [[hits, 100 - hits, 0]] * 3, "0000000") for hits in (90, 70, 80)
)


def row(*attacks: Attack) -> Row:
    return Row("surrogates", "K=2", MIDDLE, attacks)


class TestAttack:
    def test_that_is_as_good_as_without_the_share_has_no_advantage(self) -> None:
        assert BLIND.advantage == 0

    def test_that_is_always_right_has_all_of_it(self) -> None:
        assert Attack(MATCH, 1.0, 0.01, (0.99, 1.0), 400).advantage == 1

    def test_that_is_right_in_half_of_what_is_left_to_know_has_half(self) -> None:
        assert SEEING.advantage == pytest.approx(0.5)


class TestRow:
    def test_names_the_attack_that_gains_most_over_its_own_baseline(self) -> None:
        sure = Attack("white box", 0.74, 0.5, (0.7, 0.78), 100)
        assert row(BLIND, sure, SEEING).strongest is SEEING

    def test_what_is_read_of_other_words_is_a_figure_of_its_own(self) -> None:
        shown = row(BLIND, SEEING, READS)
        assert shown.strongest is SEEING
        assert (shown.read, row(BLIND).read) == (0.9, 0.0)
        assert [one.interval for one in shown.entries(RAW, ALONE) if READING in one.measure] == [(0.8, 0.95)]

    def test_every_attack_is_an_entry_and_the_strongest_once_more(self) -> None:
        entries = {one.measure.split(": ")[1]: one for one in row(BLIND, SEEING).entries(RAW, ALONE)}
        assert entries[MATCH].value == 0.01
        assert entries[INVERSION].interval == (0.7, 0.8)
        strongest = entries["strongest attack's advantage"]
        assert (strongest.value, strongest.interval) == (0.5, (0.4, 0.6))
        assert INVERSION in strongest.note

    def test_that_shares_nothing_has_no_figure_of_an_attack(self) -> None:
        measures = [one.measure for one in row().entries(RAW, ALONE)]
        assert len(measures) == 3
        assert all("F1" in measure for measure in measures)

    def test_worth_is_the_part_of_the_way_from_alone_to_raw(self) -> None:
        (worth,) = (one for one in row(SEEING).entries(RAW, ALONE) if "worth" in one.measure)
        alone, middle, raw = (side.entity_f1 for side in (ALONE, MIDDLE, RAW))
        assert worth.value == pytest.approx((middle - alone) / (raw - alone), abs=1e-4)


def test_the_report_has_a_row_for_each_and_leaves_empty_what_was_not_attacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier, "RESULTS", tmp_path)
    monkeypatch.setattr(frontier, "record", lambda topic, entries: None)
    raw, alone = Row(frontier.RAW, "", RAW, (BLIND, SEEING)), Row(frontier.ALONE, "", ALONE, ())
    report([raw, alone, row(SEEING, READS)])
    cells = [line.split(" | ") for line in (tmp_path / "frontier.md").read_text(encoding="utf-8").splitlines()[-3:]]
    assert [one[0] for one in cells] == ["| raw notes pooled", "| provider alone", "| surrogates, K=2"]
    assert [one[-2] for one in cells] == ["0.5000 (0.4000 to 0.6000)", "", "0.5000 (0.4000 to 0.6000)"]
    assert [one[-1] for one in cells] == [" |", " |", "0.9000 (0.8000 to 0.9500) |"]
    assert (tmp_path / "frontier.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_family_that_is_not_there_is_refused_ahead_of_any_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["invariance", "surrogate"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("got surrogate")
