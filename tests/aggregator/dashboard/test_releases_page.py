"""The page of the releases: what is out, what its audit says, and what stands between the workspace and the next release."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregator.publishing import releases
from aggregator.publishing.releases import Publishing
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow
from aggregator.repository.tuf_repository import Repository
from foundation.errors import DeidError, StorageError
from tests.aggregator.dashboard.desk import Desk, shown
from tests.aggregator.publishing.trained import lay_down, pass_audit, record_training

UNAUDITED = Publishing(audited=False)
SHARE = {"site": "north", "sequence": 2, "payload": "bb" * 32}
NOTHING = "nothing that is recorded stands against it"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With a representer and a head that nothing was published of."""
    made = Desk(tmp_path / "world")
    lay_down(made.workspace)
    record_training(made.workspace, shares=[SHARE])
    with made.workspace.registry().transaction() as session:
        session.get_one(ShareRow, 2).payload_sha256 = "bb" * 32
    return made


def test_a_release_that_was_cut_is_shown_as_one_that_is_not_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise StorageError("room", received="a full disk", advice="free some space", place="targets")

    monkeypatch.setattr(Repository, "publish", full)
    # As if the process were gone: it writes down no more.
    monkeypatch.setattr(releases, "give_up_release", lambda *arguments: None)
    with pytest.raises(StorageError):
        releases.publish_representer(desk.workspace, UNAUDITED)
    browser = desk.signed_in("viewer")
    assert "no release yet" in shown(browser.get("/"))
    assert browser.get("/sites").status_code == 200
    said = f"begun {datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    for path in ("/releases", "/releases/0001-representer"):
        page = browser.get(path)
        assert said in shown(page)
        assert "not out" in shown(page)
        assert 'mark good">' not in page.text


def test_an_audit_with_caveats_is_not_marked_as_good(desk: Desk) -> None:
    pass_audit(desk.workspace, caveats=["the limits are NOT the project's own", "this is audit number 9"])
    releases.publish_representer(desk.workspace)
    browser = desk.signed_in("viewer")
    page = browser.get("/releases")
    assert "full audit passed, with 2 caveats" in shown(page)
    assert 'mark good">' not in page.text
    assert "the audit: this is audit number 9" in shown(page)
    assert "NOT the project's own" in shown(browser.get("/releases/0001-representer"))
    # One without any is.
    pass_audit(desk.workspace, preset="quick")
    releases.publish_representer(desk.workspace)
    assert 'mark good">quick audit passed<' in browser.get("/releases").text


def test_words_to_the_hospitals_stand_in_their_lines(desk: Desk) -> None:
    """Though marks that can't be seen stand there as what they are."""
    notes = Publishing(audited=False, notes="First line\nsecond line\nthird \u202eline")
    releases.publish_representer(desk.workspace, notes)
    assert (
        "First line\nsecond line\nthird \\u202eline" in desk.signed_in("viewer").get("/releases/0001-representer").text
    )


INSIDE = re.compile(r'<circle cx="[0-9.]+" cy="([0-9.-]+)" r="3.2"')


@pytest.mark.parametrize("hidden", [0.9, 0.3, 0.0])
def test_no_point_of_privacy_against_worth_lies_outside_of_its_drawing(desk: Desk, hidden: float) -> None:
    finding = {"attack": "match", "value": 0.51, "baseline": 0.5, "trials": 100}
    pass_audit(desk.workspace, findings=[finding])
    points = {"hospitals": 4, "points": [{"target": 0.92, "hidden": hidden, "precision": 0.5, "least": 0.1}]}
    (desk.workspace.head / "operating_points.json").write_text(json.dumps(points))
    releases.publish_pipeline(desk.workspace)
    page = desk.signed_in("viewer").get("/releases")
    (up,) = map(float, INSIDE.findall(page.text))
    # Below lies the axis, at 30 + 180.
    assert 30 <= up <= 210
    assert "asked for 92%" in shown(page)


@pytest.mark.parametrize("least", [0.5, 0.1])
def test_no_epoch_of_the_adversaries_lies_outside_of_its_drawing(desk: Desk, least: float) -> None:
    record = {"record": {"adversary_accuracy": [0.6, least]}}
    (desk.workspace.representer / "training.json").write_text(json.dumps(record))
    (way, _) = re.findall(r'points="([^"]+)"', desk.signed_in("viewer").get("/releases").text)
    assert all(30 <= float(point.partition(",")[2]) <= 210 for point in way.split())


def other_audit(desk: Desk) -> None:
    pass_audit(desk.workspace, representer="00" * 32)


def exchanged_representer(desk: Desk) -> None:
    # The digest that the page has remembered is that of other files.
    (desk.workspace.representer / "vocabulary.json").write_text('["another"]')


def failed_audit(desk: Desk) -> None:
    pass_audit(desk.workspace, passed=False)


def other_representer(desk: Desk) -> None:
    record_training(desk.workspace, representer="11" * 32)


def gone_share(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        session.get_one(ShareRow, 2).state = ShareState.WITHDRAWN


def uncompared(desk: Desk) -> None:
    releases.publish_pipeline(desk.workspace)
    (desk.workspace.head / "head.json").write_text("[]")


def no_head(desk: Desk) -> None:
    shutil.rmtree(desk.workspace.head)


def no_representer(desk: Desk) -> None:
    shutil.rmtree(desk.workspace.representer)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_audit, "the audit is of another representer"),
        (exchanged_representer, "the audit is of another representer"),
        (failed_audit, "did not pass its audit"),
        (other_representer, "the head was trained on another representer"),
        (gone_share, "found share 2 of north, which was withdrawn since"),
        (uncompared, "It was not compared with the last release, 0001-pipeline."),
        (no_head, "run `aggregator train-head` first"),
        (no_representer, "run `aggregator train-repr` first"),
    ],
)
def test_what_release_refuses_stands_against_the_next_release(
    change: Callable[[Desk], None], said: str, desk: Desk
) -> None:
    pass_audit(desk.workspace)
    browser = desk.signed_in("viewer")
    assert said not in shown(browser.get("/releases"))
    change(desk)
    text = shown(browser.get("/releases"))
    assert said in text
    assert NOTHING not in text
    with pytest.raises(DeidError):
        releases.try_pipeline(desk.workspace)


def test_where_every_gate_passes_nothing_stands_against_it(desk: Desk) -> None:
    pass_audit(desk.workspace)
    change = {"category": "all PHI", "recall": 0.9, "before": 0.9, "low": -0.01, "high": 0.01}
    influence = {"sites": [{"site": "north", "changes": [change]}]}
    compared = {"release": 0, "digest": "00" * 32, "changes": [change]}
    record_training(desk.workspace, shares=[SHARE], influence=influence, compared=compared)
    browser = desk.signed_in("viewer")
    assert NOTHING in shown(browser.get("/releases"))
    releases.publish_pipeline(desk.workspace)
    assert "this head is out already as 0001-pipeline" in shown(browser.get("/releases"))
