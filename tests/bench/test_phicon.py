"""The tables of PHICON: what is compared with what, on invented outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.generalise import figures, phicon
from bench.generalise.phicon import CHOICES, FULL, PAPER, QUICK, TABLE_3, Choice
from bench.privacy.worth.sides import Sides
from shared.document import Document
from tests.shared.embeddings.made import table


def outcome(hits: int) -> dict[str, Any]:
    """Two documents of ten tokens, of which so many are found."""
    counts = [[hits, 0, 10 - hits]] * 2
    return {
        "tokens": counts,
        "entities": counts,
        "hidden": [[hits, 10]] * 2,
        "by_type": {"CITY": [hits, 10]},
        "commit": "abc",
    }


def test_a_gain_is_over_the_same_notes_without_copies() -> None:
    few, all_ = Choice(PAPER, 20), Choice(PAPER)
    hits = {few: 6, few.without: 5, all_: 9, all_.without: 8}
    runs = {choice: {(1, "a"): outcome(number)} for choice, number in hits.items()}
    # What has more runs without copies than with them is held against those of the same seed and hospital.
    runs[few.without][2, "a"] = outcome(0)
    effort = replace(QUICK, choices=tuple(runs))
    entries = {entry.measure: entry for choice in runs for entry in phicon._entries(choice, runs, effort)}
    steps = f"{effort.steps} steps"
    recall = f"token recall, raw notes of four, phi + context, alpha 2, 20% of the notes, {steps}"
    assert entries[f"unseen hospital, {recall}"].value == pytest.approx(0.6)
    gain = entries[f"unseen hospital, gain in {recall}"]
    # Documents are alike, and the same ones are drawn for both sides, so the gain is certain.
    assert gain.value == pytest.approx(0.1)
    assert (gain.interval, gain.target) == ((0.1, 0.1), None)
    hidden = "entities hidden whole, raw notes of four, phi + context, alpha 2, 100% of the notes"
    assert entries[f"unseen hospital, gain in {hidden}, {steps}"].target == 0.0
    assert "CITY 0.90" in entries[f"unseen hospital, {hidden}, {steps}"].note
    assert len(entries) == 2 * (5 + 10)
    theirs = entries[
        f"unseen hospital, token-binary F1, raw notes of four, phi + context, alpha 2, 20% of the notes, {steps}"
    ]
    assert theirs.note.startswith("the paper: 0.667 from i2b2 2006 to 2014, 0.791 from i2b2 2014 to 2006; ")


def test_the_paper_s_tables_are_there_and_every_choice_has_its_own_without_copies() -> None:
    assert {(one.fraction, one.methods) for one in TABLE_3} == {
        (fraction, methods) for fraction in (20, 40, 60, 80, 100) for methods in ((), PAPER)
    }
    assert {one.alpha for one in CHOICES if one.methods == PAPER and one.fraction == 100} == {1, 2, 3, 4}
    assert {("phi",), ("context",), PAPER, ("own phi",), ("recase",)} <= {one.methods for one in CHOICES}
    for choices in (FULL.choices, QUICK.choices):
        assert len(set(choices)) == len(choices)
        assert {choice.without for choice in choices} <= set(choices)
    assert (QUICK.split, FULL.split, len(FULL.seeds), len(FULL.providers)) == ("train", "test", 3, 5)


def test_a_larger_part_of_the_notes_holds_the_smaller_and_every_hospital() -> None:
    notes = {site: [Document(f"{site}{number}", "text", ()) for number in range(10)] for site in "abc"}
    sides = Sides(notes["a"], {"b": notes["b"], "c": notes["c"]}, table(("x",)), [], (), "i2b2_2014")
    parts = {part: phicon._part_of(sides, part, 1) for part in (20, 40, 100)}
    assert [len(own) for own in parts[20]] == [2, 2, 2]
    for small, large in ((20, 40), (40, 100)):
        for own, whole in zip(parts[small], parts[large], strict=True):
            assert {note.identifier for note in own} < {note.identifier for note in whole}
    assert {note.identifier[0] for own in parts[20] for note in own} == {"a", "b", "c"}
    assert parts[20] != phicon._part_of(sides, 20, 2)


def test_an_interval_is_of_documents_and_holds_the_value() -> None:
    counts = np.array([[hits, 0, 10 - hits] for hits in (1, 5, 9, 5, 5, 2, 8)])
    low, high = phicon._interval([[counts]], figures.recall)
    assert 0.2 < low < 0.5 < high < 0.8
