"""Pulls of releases that hold no models."""

from __future__ import annotations

import pytest

from site_client.policy import examining
from site_client.releases import pull as module
from tests.facts import examined


@pytest.fixture
def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a release is loaded."""
    for name in ("load_construction", "check_record", "load_head", "load_settings", "load_points", "Pipeline"):
        monkeypatch.setattr(module, name, lambda *parts: None)
    for place in (module, examining):
        monkeypatch.setattr(place, "examine", examined)
