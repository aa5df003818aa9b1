"""What came since the last release, as people read it."""

from __future__ import annotations

from typing import Any

from aggregator.enrolled.shares import Share
from aggregator.refreshing.arrivals import Arrivals
from aggregator.registry.states import ShareState


def came(sequence: int, **changes: Any) -> Share:
    values: dict[str, Any] = {
        "id": sequence,
        "site": "north",
        "sequence": sequence,
        "state": ShareState.ACCEPTED,
        "reason_code": "",
        "reason": "",
        "bundle": "ab" * 32,
        "manifest": None,
        "digest": None,
        "release": None,
        "sentences": None,
        "tokens": None,
        "received_at": "2026-11-24T10:00:00Z",
        "decided_at": "2026-11-24T10:00:00Z",
    }
    return Share(**values | changes)


def test_who_took_a_share_out_is_told() -> None:
    out = (
        came(1, state=ShareState.WITHDRAWN, reason_code="withdrawn-by-site", reason="a patient asked"),
        came(2, state=ShareState.WITHDRAWN, reason_code="withdrawn-by-provider", reason="asked by letter"),
    )
    assert Arrivals("0002-pipeline", (), (), (), out, ()).lines()[1:] == [
        "taken back by its site since release 0002-pipeline: north share 1",
        "withdrawn by the provider since release 0002-pipeline: north share 2",
    ]


def test_a_share_of_which_no_size_is_known_is_not_one_of_nothing() -> None:
    lines = Arrivals("0002-pipeline", (came(1), came(2, sentences=666, tokens=9000)), (), (), (), ()).lines()
    assert lines == [
        "taken since release 0002-pipeline: north share 1 (size not known before it is opened), north share 2 (666 sentences)"
    ]
