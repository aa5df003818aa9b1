"""The audit log: a chain of events in the registry, in which each names the hash of the one before.

The hash of an event is SHA-256 over canonical JSON of its columns and `format`. So nobody can change, remove or insert
an event without changing every later hash, and a hash that was once given out (receipts to sites carry one) proves
everything up to it. What the chain alone can't show is that its end was cut off, or that it was written anew as a whole
by whoever holds the database: for that, give `verify` a hash that lies elsewhere.

Details hold names, digests, counts and reasons; never text of a note.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from aggregator.errors import RegistryError
from aggregator.registry.tables import EventRow
from aggregator.registry.times import now
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import ProtocolError
from protocols.fields import LINE, check_range, check_text

FORMAT = 1
# What the first event names as the one before it.
START = "0" * 64
MAX_DETAILS_BYTES = 64 * 1024
_ACTION = re.compile(r"[a-z][a-z0-9-]{0,63}")
_COLUMNS = (
    EventRow.seq,
    EventRow.at,
    EventRow.actor,
    EventRow.action,
    EventRow.details,
    EventRow.previous,
    EventRow.hash,
)


@dataclass(frozen=True)
class Event:
    """An event that lies in its place in the chain.

    Args:
        seq: its number, from 1.
        at: when, UTC.
        actor: who: a site's name, "operator", "server".
        action: what was done.
        details: canonical JSON.
        previous: hash of the event before.
        hash: of this one.
    """

    seq: int
    at: str
    actor: str
    action: str
    details: str
    previous: str
    hash: str

    def as_json(self) -> dict[str, Json]:
        """All columns, the details as the object that they are."""
        details = parse_canonical(self.details.encode(), max_bytes=MAX_DETAILS_BYTES, place=f"event {self.seq}")
        return {
            "seq": self.seq,
            "at": self.at,
            "actor": self.actor,
            "action": self.action,
            "details": details,
            "previous": self.previous,
            "hash": self.hash,
        }


def append(session: Session, actor: str, action: str, details: Mapping[str, Json]) -> str:
    """Adds an event at the end of the chain, in the caller's transaction.

    Args:
        session: of `Registry.transaction`.
        actor: who: a site's name, "operator", "server".
        action: what was done, such as "share-accepted".
        details: no text of a note.

    Returns:
        the hash of the event, head of the chain if the transaction commits.

    Raises:
        ProtocolError: an actor, action or details that the log can't hold.
    """
    check_text(actor, LINE, "actor")
    check_text(action, _ACTION, "action")
    written = canonical_bytes(dict(details))
    check_range(len(written), 2, MAX_DETAILS_BYTES, "bytes of the details")
    last = session.execute(select(EventRow.seq, EventRow.hash).order_by(EventRow.seq.desc()).limit(1)).first()
    seq, previous = (last.seq + 1, last.hash) if last else (1, START)
    at, text = now(), written.decode()
    digest = _hash(seq, at, actor, action, text, previous)
    session.add(EventRow(seq=seq, at=at, actor=actor, action=action, details=text, previous=previous, hash=digest))
    session.flush()
    return digest


def verify(session: Session, *, known: Collection[str] = ()) -> int:
    """Checks every link of the chain.

    Args:
        session: of `Registry.reading` or `Registry.transaction`.
        known: hashes that were given out earlier and must be in it.

    Returns:
        how many events there are.

    Raises:
        RegistryError: at the first broken link, or a known hash is not there.
    """
    missing, count = set(known) - {START}, 0
    for event in events(session):
        missing.discard(event.hash)
        count = event.seq
    if missing:
        raise RegistryError(
            f"audit log: expected an event with the hash {min(missing)[:16]} that was given out earlier, found none among {count}; "
            "its end was cut off or it was written anew: restore the database from a backup"
        )
    return count


def head(session: Session) -> str:
    """The hash of the last event, unverified."""
    return session.scalar(select(EventRow.hash).order_by(EventRow.seq.desc()).limit(1)) or START


def events(session: Session) -> Iterator[Event]:
    """All events from the first, each verified before it is given out.

    Raises:
        RegistryError: at the first broken link.
    """
    expected, previous = 1, START
    try:
        for row in session.execute(select(*_COLUMNS).order_by(EventRow.seq).execution_options(yield_per=500)):
            event = Event(*row)
            if event.seq != expected:
                raise _broken(expected, f"its number, found number {event.seq}")
            if event.previous != previous:
                raise _broken(expected, "the hash of the event before, found another")
            if event.hash != _hash(event.seq, event.at, event.actor, event.action, event.details, event.previous):
                raise _broken(expected, "the hash of its own columns, found another")
            yield event
            expected, previous = expected + 1, event.hash
    except (ProtocolError, DBAPIError) as error:
        # SQLite holds any bytes in a column of text; such a row can't even be read.
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise
        raise _broken(expected, "columns of text and numbers, found something else in it or soon after it") from error


def page(session: Session, first: int, count: int) -> tuple[int, list[Event]]:
    """How many events there are, and some of them, the newest first; each holds its own hash and names that of the one before it.

    What lies beyond them is not looked at: that is for `verify`.

    Args:
        session: of `Registry.reading`.
        first: number of the first that is given, from 0, which is the newest.
        count: at most so many.

    Raises:
        RegistryError: one of them is broken.
    """
    last = count_events(session)
    query = select(*_COLUMNS).where(EventRow.seq <= last - first).order_by(EventRow.seq.desc()).limit(count)
    found: list[Event] = []
    try:
        for row in session.execute(query):
            event = Event(*row)
            if found and (found[-1].seq != event.seq + 1 or found[-1].previous != event.hash):
                raise _broken(found[-1].seq, "the hash of the event before, found another")
            if event.hash != _hash(event.seq, event.at, event.actor, event.action, event.details, event.previous):
                raise _broken(event.seq, "the hash of its own columns, found another")
            found.append(event)
    except (ProtocolError, DBAPIError) as error:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise
        raise _broken(
            last - first, "columns of text and numbers, found something else in it or soon before it"
        ) from error
    return last, found


def count_events(session: Session) -> int:
    """The number of the last event, unverified."""
    return session.scalar(select(EventRow.seq).order_by(EventRow.seq.desc()).limit(1)) or 0


def _hash(seq: int, at: str, actor: str, action: str, details: str, previous: str) -> str:
    signed: Json = {
        "format": FORMAT,
        "seq": seq,
        "at": at,
        "actor": actor,
        "action": action,
        "details": details,
        "previous": previous,
    }
    return hashlib.sha256(canonical_bytes(signed)).hexdigest()


def _broken(seq: int, problem: str) -> RegistryError:
    return RegistryError(f"audit log, event {seq}: expected {problem}; restore the database from a backup")
