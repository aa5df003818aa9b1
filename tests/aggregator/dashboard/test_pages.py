"""What pages say of what nobody knows: it stands there as that, and neither as a figure nor not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.aggregator.dashboard.desk import Desk, shown


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "world")


def head_with(desk: Desk, **record: Any) -> None:
    """A head whose training has recorded that."""
    desk.workspace.head.mkdir(exist_ok=True)
    (desk.workspace.head / "training.json").write_text(json.dumps(record))


def influence_of(**sites: bool) -> dict[str, Any]:
    """A record of influence by name, each with whether it was measured; north stands out by what it says."""
    change = {"category": "all PHI", "recall": 0.9, "before": 0.9, "high": 0.01, "low": -0.01}
    measured = [{"site": name, "changes": [change] if known else []} for name, known in sites.items()]
    return {"mode": "fast", "sites": measured, "standing_out": {"north": ["40 tokens are unlabelled"]}}


def test_a_hospital_whose_influence_was_not_measured_stands_among_the_others(desk: Desk) -> None:
    head_with(desk, influence=influence_of(north=False, south=True, west=False))
    said = shown(desk.signed_in("viewer").get("/influence"))
    assert "hospital north recall of the others with it not measured without it not measured" in said
    assert "40 tokens are unlabelled" in said
    assert "hospital south recall of the others with it 90.0%" in said
    # Of one of whom nothing is known nobody says that it is as the others are.
    assert said.count("as the others") == 1
    assert "Of 2 of the hospitals it was not measured" in said


def test_where_no_influence_was_measured_it_is_said_of_all(desk: Desk) -> None:
    head_with(desk, influence=influence_of(north=False, south=False))
    answer = desk.signed_in("viewer").get("/influence")
    assert "It was measured of none of the hospitals" in shown(answer)
    assert "40 tokens are unlabelled" in shown(answer)
    assert "hospital south recall of the others with it not measured" in shown(answer)
    assert "grey dot" not in shown(answer)
