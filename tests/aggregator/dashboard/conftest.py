"""Guesses at passwords cost next to nothing here, so that tests of many take no time."""

from __future__ import annotations

import pytest

from aggregator.dashboard.access import passwords


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", passwords.Cost(1, 64))
