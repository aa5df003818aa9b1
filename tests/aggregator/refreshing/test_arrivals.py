"""What came since the last release, as people read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aggregator.enrolled.shares import Share
from aggregator.publishing import releases
from aggregator.refreshing.arrivals import Arrivals, read_arrivals
from aggregator.registry.states import ShareState
from tests.aggregator.copied import new_workspace
from tests.aggregator.publishing import trained
from tests.aggregator.registry.rows import add, share, site


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


def test_shares_of_another_representer_are_not_told_as_taken_each_month(tmp_path: Path) -> None:
    """No pool has them: what is told of them would not agree with what is told of the pool."""
    made = new_workspace(tmp_path / "provider")
    trained.lay_down(made)
    with made.registry().transaction() as session:
        add(session, site())
    for number in (1, 2):
        (made.representer / "representer.json").write_text(f'{{"number": {number}}}')
        trained.pass_audit(made)
        digest = releases.publish_representer(made).digest
        with made.registry().transaction() as session:
            add(session, share(number, state="accepted", release=digest, payload_sha256=str(number) * 64))
    assert [one.sequence for one in read_arrivals(made).new] == [2]
    trained.record_training(made, shares=[{"site": "north", "sequence": 2, "payload": "2" * 64}])
    releases.publish_pipeline(made)
    assert read_arrivals(made).lines() == ["taken since release 0003-pipeline: no share"]
