"""The words of the registry's states: what was stored yesterday is read today, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select, text

from aggregator.errors import DatabaseError
from aggregator.registry import Registry
from aggregator.registry.states import AlarmKind, KeyState, ShareState, SiteState, UploadState
from aggregator.registry.tables import AlarmRow, ShareRow, SiteRow
from aggregator.registry.times import now
from protocols.canonical import canonical_bytes
from protocols.share.receipt import ReceiptState
from tests.aggregator.copied import new_registry
from tests.aggregator.registry.rows import add, share, site
from tests.databases import Database

# As they stand in every database and receipt since version 0.1.
WORDS = {
    SiteState: ["enrolled", "revoked"],
    KeyState: ["active", "retired", "revoked"],
    ShareState: ["received", "quarantined", "accepted", "rejected", "withdrawn"],
    UploadState: ["open", "finished", "aborted"],
    AlarmKind: ["conflict", "influence"],
    ReceiptState: ["quarantined", "accepted", "rejected", "withdrawn"],
}


@pytest.fixture
def registry(database: Database, tmp_path: Path) -> Registry:
    return new_registry(tmp_path, database)


@pytest.mark.parametrize(("states", "words"), WORDS.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_a_state_is_written_as_its_word(states: type[ShareState], words: list[str]) -> None:
    assert [f"{state}" for state in states] == words
    assert json.dumps(list(states)) == json.dumps(words)
    assert canonical_bytes(list(states)) == canonical_bytes([*words])


def test_every_state_but_the_first_can_be_told_in_a_receipt() -> None:
    assert {ReceiptState(state) for state in ShareState if state != ShareState.RECEIVED} == set(ReceiptState)


def test_rows_hold_states_and_the_database_their_words(registry: Registry) -> None:
    with registry.transaction() as session:
        add(session, site(), *(share(number, state=state) for number, state in enumerate(ShareState, start=1)))
    with registry.reading() as session:
        found = session.scalars(select(ShareRow.state).order_by(ShareRow.sequence)).all()
        assert [type(state) for state in found] == [ShareState] * len(ShareState)
        assert found == list(ShareState)
        assert session.scalars(select(SiteRow)).one().state is SiteState.ENROLLED
        plain = session.execute(text("SELECT state FROM shares ORDER BY sequence")).scalars().all()
        assert plain == WORDS[ShareState]
        kept = select(ShareRow.sequence).where(ShareRow.state.in_((ShareState.ACCEPTED, "withdrawn")))
        assert list(session.scalars(kept.order_by(ShareRow.sequence))) == [3, 5]


def test_a_word_that_this_program_does_not_know_is_an_error(registry: Registry) -> None:
    with registry.transaction() as session:
        stored = {"id": 1, "at": now(), "site": "north", "kind": "flood", "detail": "much"}
        session.execute(AlarmRow.__table__.insert().values(stored))  # type: ignore[attr-defined]
    with pytest.raises(DatabaseError, match="expected one of conflict"), registry.reading() as session:
        session.scalars(select(AlarmRow)).all()
