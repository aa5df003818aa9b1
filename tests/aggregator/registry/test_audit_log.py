"""The audit log on both databases: whatever is done to an event, the first broken link is named; and nothing forks the chain."""

from __future__ import annotations

import hashlib
import json
import threading
import unicodedata
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from aggregator.errors import RegistryError
from aggregator.registry import Registry, audit_log, open_registry
from aggregator.registry.audit_log import START, Event
from protocols.canonical import MAX_INTEGER, Json
from protocols.errors import ProtocolError
from tests.aggregator.copied import new_registry
from tests.databases import Database

EVENTS = 5


def begin(registry: Registry) -> None:
    for number in range(1, EVENTS + 1):
        with registry.transaction() as session:
            audit_log.append(session, f"site-{number}", "test", {"number": number, "reason": 'schlüssel "weg"\n'})


@pytest.fixture
def registry(database: Database, tmp_path: Path) -> Registry:
    """With a few events."""
    return new_registry(tmp_path, database, "a few events", begin)


def count(registry: Registry, *known: str) -> int:
    with registry.reading() as session:
        return audit_log.verify(session, known=known)


def all_events(registry: Registry) -> list[Event]:
    with registry.reading() as session:
        return list(audit_log.events(session))


def broken_at(registry: Registry, seq: int) -> None:
    with pytest.raises(
        RegistryError, match=f"^audit log, event {seq}: expected .*; restore the database from a backup$"
    ):
        count(registry)


def test_each_event_names_the_one_before(registry: Registry) -> None:
    found = all_events(registry)
    assert [event.seq for event in found] == [1, 2, 3, 4, 5]
    assert [event.previous for event in found] == [START, *(event.hash for event in found[:-1])]
    assert found[2].as_json()["details"] == {"number": 3, "reason": 'schlüssel "weg"\n'}
    assert count(registry) == count(registry, *(event.hash for event in found), START) == EVENTS
    with registry.reading() as session:
        assert audit_log.head(session) == found[-1].hash


def test_an_empty_log_holds(database: Database) -> None:
    with open_registry(database.url).reading() as session:
        assert (audit_log.verify(session), audit_log.head(session)) == (0, START)


def documented_hash(event: Event) -> str:
    """An oracle of its own: docs/operation.md says how anyone checks an exported log without this program."""
    columns = {name: value for name, value in asdict(event).items() if name != "hash"}
    hashed = json.dumps({"format": 1, **columns}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(hashed.encode()).hexdigest()


def test_the_hash_is_what_the_documentation_says(registry: Registry) -> None:
    first = all_events(registry)[0]
    assert (first.actor, first.previous) == ("site-1", "0" * 64)
    assert first.details == '{"number":1,"reason":"schlüssel \\"weg\\"\\n"}'
    assert first.hash == documented_hash(first)


CHANGES = {
    "seq": "seq = seq + 1000",
    "at": "at = '2020-01-01T00:00:00Z'",
    "actor": "actor = 'nobody'",
    "action": "action = 'other'",
    "details": "details = '{}'",
    "previous": "previous = 'f' || previous",
    "hash": "hash = 'f' || hash",
}


@pytest.mark.parametrize("column", CHANGES)
def test_any_column_of_any_event_that_is_changed_is_named(column: str, registry: Registry, database: Database) -> None:
    database.unlock_events()
    assert set(CHANGES) == set(Event.__dataclass_fields__)
    # From the last to the first, so that each broken link lies before those that are broken already.
    for seq in range(EVENTS, 0, -1):
        database.run(f"UPDATE events SET {CHANGES[column]} WHERE seq = {seq}")
        broken_at(registry, seq)


@pytest.mark.parametrize("seq", range(1, EVENTS))
def test_an_event_that_was_taken_out_is_named(seq: int, registry: Registry, database: Database) -> None:
    database.unlock_events()
    database.run(f"DELETE FROM events WHERE seq = {seq}")
    broken_at(registry, seq)
    for later in range(seq + 1, EVENTS + 1):
        database.run(f"UPDATE events SET seq = {later - 1} WHERE seq = {later}")
    broken_at(registry, seq)


@pytest.mark.parametrize("seq", range(1, EVENTS))
def test_attack_an_event_that_was_written_anew_with_its_hash_is_told_by_the_next(
    seq: int, registry: Registry, database: Database
) -> None:
    forged = replace(all_events(registry)[seq - 1], action="forged")
    database.unlock_events()
    database.run(f"UPDATE events SET action = 'forged', hash = '{documented_hash(forged)}' WHERE seq = {seq}")
    broken_at(registry, seq + 1)


@pytest.mark.parametrize("seq", range(2, EVENTS + 1))
def test_attack_events_that_follow_each_other_but_for_a_number_are_noticed(
    seq: int, registry: Registry, database: Database
) -> None:
    """As if some had been taken out and all behind them written anew; who has none of their hashes sees the gap."""
    found = all_events(registry)
    database.unlock_events()
    previous = found[seq - 2].hash
    moved = []
    for event in found[seq - 1 :]:
        moved.append(forged := replace(event, seq=event.seq + 1, previous=previous))
        previous = documented_hash(forged)
    for forged in reversed(moved):
        changes = f"seq = {forged.seq}, previous = '{forged.previous}', hash = '{documented_hash(forged)}'"
        database.run(f"UPDATE events SET {changes} WHERE seq = {forged.seq - 1}")
    broken_at(registry, seq)


def test_two_events_that_changed_places_are_named(registry: Registry, database: Database) -> None:
    database.unlock_events()
    for old, new in ((2, 99), (3, 2), (99, 3)):
        database.run(f"UPDATE events SET seq = {new} WHERE seq = {old}")
    broken_at(registry, 2)


def test_a_log_whose_end_was_cut_off_lacks_a_hash_that_was_given_out(registry: Registry, database: Database) -> None:
    given_out = all_events(registry)[-1].hash
    database.unlock_events()
    database.run(f"DELETE FROM events WHERE seq = {EVENTS}")
    assert count(registry) == EVENTS - 1
    with pytest.raises(RegistryError, match=f"{given_out[:16]} that was given out earlier, found none among 4"):
        count(registry, given_out)


def test_a_log_that_was_written_anew_lacks_a_hash_that_was_given_out(registry: Registry, database: Database) -> None:
    given_out = all_events(registry)[-1].hash
    database.unlock_events()
    database.run("DELETE FROM events")
    for number in range(EVENTS):
        with registry.transaction() as session:
            audit_log.append(session, "forger", "test", {"number": number})
    assert count(registry) == EVENTS
    with pytest.raises(RegistryError, match="cut off or it was written anew"):
        count(registry, given_out)


@pytest.mark.parametrize("value", ["CAST(x'ff' AS TEXT)", "x'00'", "'e' || char(769)", "CAST(x'eda080' AS TEXT)"])
@pytest.mark.parametrize("column", ["at", "actor", "details", "hash"])
def test_what_is_no_text_is_named_too(column: str, value: str, tmp_path: Path) -> None:
    """SQLite keeps any bytes in any column."""
    database = Database(f"sqlite:///{tmp_path}/registry.sqlite")
    registry = open_registry(database.url)
    with registry.transaction() as session:
        audit_log.append(session, "site", "test", {})
    database.unlock_events()
    database.run(f"UPDATE events SET {column} = {value}")
    broken_at(registry, 1)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET actor = 'nobody' WHERE seq = 3",
        "UPDATE events SET seq = seq",
        "DELETE FROM events WHERE seq = 5",
        "DELETE FROM events",
        "INSERT INTO events VALUES (9, '', '', '', '', '9', '')",
        "INSERT INTO events VALUES (0, '', '', '', '', '9', '')",
        "INSERT INTO events VALUES (6, '', '', '', '', '9', '')",
        "INSERT INTO events SELECT 6, at, actor, action, details, previous, hash FROM events WHERE seq = 5",
        "INSERT INTO events SELECT * FROM events WHERE seq = 5",
        "INSERT INTO events SELECT 7, at, actor, action, details, hash, '9' FROM events WHERE seq = 5",
        "INSERT INTO events SELECT 0, at, actor, action, details, hash, '9' FROM events WHERE seq = 5",
    ],
)
def test_the_database_itself_refuses_to_change_the_log(statement: str, registry: Registry, database: Database) -> None:
    with pytest.raises(IntegrityError):
        database.run(statement)
    assert count(registry) == EVENTS


def test_no_detour_changes_the_log(registry: Registry, database: Database) -> None:
    detour = {
        "sqlite": "INSERT OR REPLACE INTO events SELECT 5, at, 'nobody', action, details, previous, hash FROM events WHERE seq = 5",
        "postgresql": "TRUNCATE events",
    }
    with pytest.raises(IntegrityError):
        database.run(detour[database.kind])
    assert count(registry) == EVENTS


def test_writers_at_once_keep_one_chain(registry: Registry) -> None:
    def work(name: str) -> None:
        for number in range(10):
            with registry.transaction() as session:
                audit_log.append(session, name, "test", {"number": number})

    threads = [threading.Thread(target=work, args=(f"thread-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = all_events(registry)
    assert len(found) == EVENTS + 40
    for thread_number in range(4):
        own = [event.as_json()["details"] for event in found if event.actor == f"thread-{thread_number}"]
        assert own == [{"number": number} for number in range(10)]


def test_several_events_of_one_transaction_follow_each_other(registry: Registry) -> None:
    with registry.transaction() as session:
        hashes = [audit_log.append(session, "server", "test", {"number": number}) for number in range(3)]
    assert [event.hash for event in all_events(registry)[EVENTS:]] == hashes


@pytest.mark.parametrize(
    ("actor", "action", "details"),
    [
        ("a\nb", "test", {}),
        ("a" * 201, "test", {}),
        ("north", "Test", {}),
        ("north", "", {}),
        ("north", "test", {"number": 0.5}),
        ("north", "test", {"number": MAX_INTEGER + 1}),
        ("north", "test", {"text": "e\u0301"}),
        ("north", "test", {"text": "x" * 70_000}),
    ],
)
def test_what_the_log_cannot_hold_is_refused(
    actor: str, action: str, details: dict[str, Json], registry: Registry
) -> None:
    with pytest.raises(ProtocolError), registry.transaction() as session:
        audit_log.append(session, actor, action, details)
    assert count(registry) == EVENTS


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(
    lambda text: unicodedata.normalize("NFC", text)
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def one_registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return open_registry(f"sqlite:///{tmp_path_factory.mktemp('log')}/registry.sqlite")


@settings(deadline=None, max_examples=20)
@given(details=st.dictionaries(texts, values, max_size=4))
def test_any_details_come_back(details: dict[str, Json], one_registry: Registry) -> None:
    with one_registry.transaction() as session:
        written = audit_log.append(session, "north", "test", details)
    last = all_events(one_registry)[-1]
    assert (last.hash, last.as_json()["details"]) == (written, details)
