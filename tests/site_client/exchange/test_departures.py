"""What has left, as the ledger tells it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from protocols.canonical import Json
from site_client import ledger
from site_client.errors import LedgerError
from site_client.exchange.departures import Departure, departures
from site_client.ledger import Event
from tests.site_client.exchange.paired import site

EARLIER: dict[str, Json] = {"bundle_sha256": "ab" * 32, "manifest_sha256": "cd" * 32, "sequence": 7, "to": "folder"}
STATED = EARLIER | {"known_notes": "ef" * 32, "notes_key": "01" * 16}
LEFT = Departure(7, "cd" * 32, "ab" * 32, "folder", "ef" * 32, "01" * 16)


def test_a_departure_is_written_as_ever_and_read_again(tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    LEFT.record(workspace)
    ledger.record(workspace, Event.RECEIPT, {"sequence": 7})
    LEFT.record(workspace)
    assert list(departures(workspace)) == [LEFT, LEFT]
    (first, *_) = ledger.ledger_path(workspace).read_bytes().splitlines()
    assert json.loads(first)["entry"]["details"] == STATED
    assert json.loads(first)["entry"]["event"] == "submitted"


def test_a_departure_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    ledger.record(workspace, Event.SUBMITTED, EARLIER)
    assert list(departures(workspace)) == [replace(LEFT, known_notes="", notes_key="")]


@pytest.mark.parametrize(
    "change", [{"sequence": "7"}, {"to": None}, {"manifest_sha256": 3}, {"known_notes": 3}, {"notes_key": 3}]
)
def test_an_entry_of_another_shape_is_an_error(change: dict[str, Json], tmp_path: Path) -> None:
    workspace = site(tmp_path / "site")
    ledger.record(workspace, Event.SUBMITTED, STATED | change)
    with pytest.raises(LedgerError, match="entry 1"):
        list(departures(workspace))


def test_events_are_written_as_ever() -> None:
    assert [f"{event}" for event in Event] == [
        "enrolment requested",
        "rotation requested",
        "rotation accepted",
        "key replaced",
        "noise secret made anew",
        "surrogates secret made anew",
        "known notes given up",
        "key of known notes made anew",
        "policy set",
        "release examined",
        "release log seen",
        "release log compared",
        "accepted against the policy",
        "approved",
        "approval not required",
        "submitted",
        "receipt",
        "federated training: what the hospital said",
        "federated round",
        "federated round answered again",
        "federated task refused",
        "head adapted",
        "adapted head taken into use",
        "adapted head given up",
        "text fragments approved",
        "withdrawal asked for",
    ]
