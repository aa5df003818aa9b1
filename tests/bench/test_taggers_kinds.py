"""The comparison of kinds of tagger: who gains, and who is faster, from made-up runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.taggers import kinds
from bench.taggers.curves import THRESHOLDS

DEFAULT, KHIN = kinds.KINDS


def a_run(default_true: int, khin_true: int) -> dict[str, Any]:
    def counts(true: int) -> dict[str, list[list[int]]]:
        return {"entities": [[true, 1, 10 - true]] * 4, "tokens": [[true, 0, 0]] * 4, "hidden": [[true, 10]] * 4}

    def curve(true: int) -> dict[str, list[list[list[int]]]]:
        return {kind: [counts(true)[kind]] * len(THRESHOLDS) for kind in ("tokens", "hidden")}

    return {
        "counts": {DEFAULT: counts(default_true), KHIN: counts(khin_true)},
        "curves": {DEFAULT: curve(default_true), KHIN: curve(khin_true)},
        "reading": {DEFAULT: 10.0, KHIN: 40.0},
        "learning": {DEFAULT: 60.0, KHIN: 180.0},
        "tokens": 1000,
        "commit": "0123abcd",
    }


def test_gains_are_over_the_default_and_speeds_beside_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bench.outcomes.RUNS", tmp_path)
    monkeypatch.setattr(kinds, "load_or_measure", lambda name, run: a_run(6, 8))
    found = {one.measure: one for one in kinds.measure()}
    assert found[f"unseen hospital, entities hidden whole, {KHIN}, over the default"].value == 0.2
    assert found[f"unseen hospital, strict F1, {KHIN}, over the default"].value > 0
    at = f"unseen hospital, entities hidden whole at the token precision of {KHIN}"
    assert found[f"{at}, {DEFAULT}"].value == 0.6
    assert found[f"{at}, over the default"].value == 0.2
    assert found[f"unseen hospital, speed, {DEFAULT}"].value == 100
    # A quarter of the speed, for it takes four times as long.
    assert found[f"unseen hospital, speed, {KHIN}, over the default"].value == 0.25
    assert "3.0 CPU minutes" in found[f"unseen hospital, speed, {KHIN}"].note
