"""What pages say of what nobody knows: it stands there as that, and neither as a figure nor not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aggregator.registry.states import ShareState
from tests.aggregator.dashboard.desk import Desk, shown
from tests.aggregator.registry.rows import share


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


def test_a_share_that_nobody_opened_is_not_one_of_nothing(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        session.add(share(3, id=3, state=ShareState.RECEIVED))
    browser = desk.signed_in("operator")
    assert "size 10 sentences, 100 tokens" in shown(browser.get("/shares/2"))
    assert "size not known before it is opened" in shown(browser.get("/shares/3"))
    asked = shown(browser.ask("share-reject", share="3", reason="lost"))
    assert "Size: not known before it is opened; it is received." in asked
    assert not re.search(r"\b0 (sentences|tokens)", asked)


def test_of_a_hospital_without_phi_held_out_no_recall_is_told(desk: Desk) -> None:
    """A training writes 0 there, which would read as one that finds nothing."""
    nothing = {"site": "north", "tokens": 200, "phi_tokens": 0, "precision": 0.0, "recall": 0.0, "alone_recall": 0.0}
    some = {"site": "south", "tokens": 900, "phi_tokens": 90, "precision": 0.9, "recall": 0.8, "alone_recall": 0.7}
    head_with(desk, sites=[nothing, some])
    browser = desk.signed_in("viewer")
    pool = shown(browser.get("/pool"))
    row = "hospital {} recall, your notes alone {} recall, the pool {} precision {} PHI tokens held out {}"
    south, north = row.format("south", "70.0%", "80.0%", "90.0%", 90), row.format("north", *["not measured"] * 3, 0)
    # Lowest recall first: of whom nothing is known comes last.
    assert -1 < pool.find(south) < pool.find(north)
    assert "all PHI recall not measured tokens held out 0" in shown(browser.get("/sites/north"))
    assert "With your own notes alone: not measured" in shown(browser.get("/sites/north"))
