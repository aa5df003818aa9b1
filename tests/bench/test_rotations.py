"""Rotations that are there are told of, whole ones alone."""

from __future__ import annotations

from typing import Any

import pytest

from bench.generalise import rotations
from bench.generalise.rotation_entries import Scored
from shared.errors import ConfigurationError


def test_only_trainings_whose_five_rotations_are_there_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {f"generalise-release-{site}-2500-{seed}" for site in "abcde" for seed in (1, 2)}
    there -= {"generalise-release-c-2500-2"}
    told: list[tuple[str, str, int]] = []

    def entries(scored: list[Scored], command: str, steps: int) -> list[Any]:
        told.extend((one.training, one.provider, one.seed) for one in scored)
        return []

    monkeypatch.setattr(rotations, "is_there", there.__contains__)
    monkeypatch.setattr(rotations, "load_or_measure", lambda name, measure: {"commit": name, "points": None})
    monkeypatch.setattr(rotations, "_scores", lambda notes, kept: {})
    monkeypatch.setattr(rotations, "entries_of", entries)
    monkeypatch.setattr("bench.corpora.en_site", lambda site, split: [])
    rotations.measure(rotations.FULL, train=False)
    assert told == [("release", site, 1) for site in "abcde"]
    there.clear()
    with pytest.raises(ConfigurationError, match="begin with it"):
        rotations.measure(rotations.FULL, train=False)
