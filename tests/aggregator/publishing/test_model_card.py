"""The card of a release says of a figure that nobody measured that nobody has."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

from aggregator.publishing.model_card import model_card
from protocols.release.manifest import ReleaseFields


def test_where_no_phi_was_held_out_no_recall_is_stated(tmp_path: Path) -> None:
    scores = [
        {"site": "north", "tokens": 40, "phi_tokens": 0, "precision": 0.0, "recall": 0.0, "f1": 0.0},
        {"site": "south", "tokens": 50, "phi_tokens": 9, "precision": 0.5, "recall": 0.25, "f1": 1 / 3},
    ]
    (tmp_path / "training.json").write_text(json.dumps({"sites": scores}))
    fields = ReleaseFields("pipeline", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    card = model_card(fields, tmp_path, tmp_path, None, "CC0")
    assert "| hospital 1 | 40 | no PHI held out | | | |" in card
    assert "| hospital 2 | 50 | 0.500 | 0.250 | 0.333 |  |" in card
