"""The hospital's own log of everything that ever left: append-only, hash-chained, signed by the site's key.

`ledger.jsonl` holds one line an entry, canonical JSON of {"entry": ..., "signature": ...}. An entry has its number, time,
event, details and the SHA-256 of the line before it. A line counts once it is on the disk with its line end; what a crash
left of one is cut off by the next. Entries are written BEFORE what they tell of leaves, so that nothing leaves unrecorded.

What it shows: that no entry was changed, removed or put in between since the site's key signed the last one. It does not
show that the last ones are still there: for that, give `verify` a digest that was noted down elsewhere. A workspace is made with an
empty one; that all of it is gone shows by what else lies there (see `_require_whole`), and is never taken for nothing having left; that it
is older than a share shows by the provider's receipt of that share. Whoever holds the
site's key can write another history; the provider's audit log is the other half.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from foundation.files import flush
from foundation.locks import lock
from foundation.os_errors import map_os_errors
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import ProtocolError
from protocols.fields import LINE, SHA256, SITE, Fields
from protocols.keys.signing import LEDGER_CONTEXT, Signature
from site_client.errors import LedgerError
from site_client.workspace import Workspace

MAX_LINE_BYTES = 16 << 10
_FIRST = "0" * 64
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_KEYS = frozenset({"at", "details", "event", "number", "previous", "site"})
_MAX_DETAILS = 64
_RECEIPT = re.compile(r"-([0-9]{4,10})-[^-]*\.receipt\.json$")
_NEVER_FIRST = ("known-notes", "fragments", "receipts", "outbox")
"""Folders in which nothing lies before the ledger has an entry."""


class Event(StrEnum):
    """What this program writes down. A ledger may tell of more: a later version may have written into it."""

    ENROLMENT_REQUESTED = "enrolment requested"
    ROTATION_REQUESTED = "rotation requested"
    ROTATION_ACCEPTED = "rotation accepted"
    KEY_REPLACED = "key replaced"
    NOISE_SECRET_MADE_ANEW = "noise secret made anew"
    SURROGATES_SECRET_MADE_ANEW = "surrogates secret made anew"
    KNOWN_NOTES_GIVEN_UP = "known notes given up"
    NOTES_KEY_MADE_ANEW = "key of known notes made anew"
    POLICY_SET = "policy set"
    RELEASE_EXAMINED = "release examined"
    RELEASE_LOG_SEEN = "release log seen"
    RELEASE_LOG_COMPARED = "release log compared"
    UNPROTECTED_ACCEPTED = "accepted against the policy"
    APPROVED = "approved"
    APPROVAL_WAIVED = "approval not required"
    SUBMITTED = "submitted"
    RECEIPT = "receipt"
    FEDERATED_SAID = "federated training: what the hospital said"
    FEDERATED_ROUND = "federated round"
    FEDERATED_AGAIN = "federated round answered again"
    FEDERATED_REFUSED = "federated task refused"
    HEAD_ADAPTED = "head adapted"
    HEAD_USED = "adapted head taken into use"
    HEAD_UNDONE = "adapted head given up"
    FRAGMENTS_APPROVED = "text fragments approved"
    WITHDRAWAL_REQUESTED = "withdrawal asked for"


@dataclass(frozen=True)
class Entry:
    """One thing that happened.

    Args:
        number: from 1.
        at: UTC time, YYYY-MM-DDTHH:MM:SSZ.
        event: what, an `Event` or a word of a later version.
        details: by name; no text of a note.
        key_id: of the key that signed it.
        digest: SHA-256 of its line.
    """

    number: int
    at: str
    event: str
    details: Mapping[str, Json]
    key_id: str
    digest: str


def ledger_path(workspace: Workspace) -> Path:
    """Where the ledger lies."""
    return workspace.root / "ledger.jsonl"


def record(workspace: Workspace, event: str, details: Mapping[str, Json]) -> Entry:
    """Append an entry; when this returns it is on the disk.

    Args:
        workspace: of the site; its key in use signs.
        event: an `Event`.
        details: what it was about; canonical JSON.

    Raises:
        LedgerError: the ledger's last entry was changed, the ledger is lost, or the new entry is too long.
        StorageError: no room, no permission; the entry does not count.
    """
    key = workspace.key()
    path = ledger_path(workspace)
    # Before one is made: an entry in a new one would hide that the old one is lost.
    _require_there(workspace)
    with map_os_errors(path), _locked(path) as file:
        end, last = _last(workspace, file)
        if last is None:
            _require_whole(workspace, set())
        stated: dict[str, Json] = {
            "at": datetime.datetime.now(datetime.UTC).strftime(_TIME),
            "details": dict(details),
            "event": event,
            "number": 1 if last is None else last.number + 1,
            "previous": _FIRST if last is None else last.digest,
            "site": workspace.site,
        }
        signature = key.sign(LEDGER_CONTEXT, canonical_bytes(stated))
        line = canonical_bytes({"entry": stated, "signature": signature.to_json()})
        if len(line) >= MAX_LINE_BYTES:
            raise LedgerError(f"expected an entry below {MAX_LINE_BYTES} bytes, got {len(line)}; shorten its details")
        entry = _parsed(workspace, line, last)
        _append(file, end, line + b"\n")
        if last is None:
            flush(path.parent)
    return entry


def entries(workspace: Workspace) -> Iterator[Entry]:
    """All entries, each verified before it is given out.

    Raises:
        LedgerError: one was changed, removed or put in between, or the ledger is lost.
        StorageError: the file can't be read.
    """
    path = ledger_path(workspace)
    if not _require_there(workspace):
        _require_whole(workspace, set())
        return
    last, events, left = None, set[str](), set[Json]()
    with map_os_errors(path), path.open("rb") as file:
        while (line := file.readline(MAX_LINE_BYTES + 1)).endswith(b"\n"):
            last = _parsed(workspace, line[:-1], last)
            events.add(last.event)
            if last.event == Event.SUBMITTED and isinstance(number := last.details.get("sequence"), int):
                left.add(number)
            yield last
    if len(line) > MAX_LINE_BYTES:
        raise _damaged("lines of bounded length")
    _require_all_that_left(workspace, left)
    _require_whole(workspace, events)


def verify(workspace: Workspace, known: Collection[str] = ()) -> Entry | None:
    """Checks every entry.

    Args:
        workspace: of the site.
        known: digests of entries that were noted down elsewhere: what the chain alone can't show is that its end was
            cut off.

    Returns:
        the last entry; None where nothing has left yet.

    Raises:
        LedgerError: one was changed, removed or put in between, a known one is not there, or the ledger is lost.
    """
    last, missing = None, set(known)
    for last in entries(workspace):
        missing.discard(last.digest)
    if missing:
        raise LedgerError(
            f"ledger.jsonl: expected an entry with the digest {min(missing)[:16]}, found none; its end was cut off or it was "
            "written anew: restore it from a backup and find out who changed it"
        )
    return last


def _require_there(workspace: Workspace) -> bool:
    """Whether there is a ledger; versions that made no key for digests made none before its first entry.

    Raises:
        LedgerError: it is lost.
    """
    there = ledger_path(workspace).exists()
    if not there and workspace.notes_key.exists():
        raise _lost("a file that was made with the workspace")
    return there


def _require_whole(workspace: Workspace, events: set[str]) -> None:
    """Raises where the workspace holds what no ledger with these events alone would tell of.

    Version 0.1 encoded without an entry, and made no key for digests.
    """
    if not events:
        if workspace.sequence and workspace.notes_key.exists():
            raise _lost("entries of before a share was encoded")
        if (found := next((name for name in _NEVER_FIRST if _holds_files(workspace, name)), None)) is not None:
            raise _lost(f"entries of before {found}/ was filled")
    if Event.SUBMITTED not in events and _holds_files(workspace, "receipts"):
        raise _lost("entries of what receipts/ is about")
    if events.isdisjoint((Event.APPROVED, Event.APPROVAL_WAIVED)) and _holds_files(workspace, "outbox"):
        raise _lost("entries of who approved what lies in outbox/")


def _require_all_that_left(workspace: Workspace, left: Collection[Json]) -> None:
    """Raises where the provider has confirmed a share of which the ledger does not tell: it is an older one, as from a backup."""
    for path in sorted((workspace.root / "receipts").glob("[!.]*")):
        named = _RECEIPT.search(path.name)
        if named is not None and int(named[1]) not in left:
            raise LedgerError(
                f"ledger.jsonl: expected an entry for share {int(named[1])}, of which receipts/ holds the provider's receipt, found none; the "
                "ledger is older than that share: restore the newest backup of the workspace; if no such share ever left, ask the provider what it has, keep "
                f"the receipt, which shows that it signed for one, and move receipts/{path.name} out of the workspace, and its copy off the stick"
            )


def _holds_files(workspace: Workspace, folder: str) -> bool:
    # What a file manager or a crash leaves behind begins with a dot.
    return any((workspace.root / folder).glob("[!.]*"))


def _lost(expected: str) -> LedgerError:
    return LedgerError(
        f"ledger.jsonl: expected {expected}, found none; the ledger is lost, and with it what has left and which policy holds: restore it from "
        "a backup of the workspace, and find out who took it away"
    )


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The ledger for one writer at a time; it is made where there is none."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with open(descriptor, "r+b", buffering=0) as file:
        lock(file.fileno())
        yield file


def _last(workspace: Workspace, file: BinaryIO) -> tuple[int, Entry | None]:
    """Where the whole lines end, and the last of them; what comes before it is for `verify`."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - 2 * MAX_LINE_BYTES)
    file.seek(start)
    tail = file.read(size - start)
    whole = tail.rfind(b"\n") + 1
    if not whole:
        if start:
            raise _damaged("the last entry")
        return 0, None
    return start + whole, _parsed(workspace, tail[tail.rfind(b"\n", 0, whole - 1) + 1 : whole - 1], None, chained=False)


def _append(file: BinaryIO, end: int, line: bytes) -> None:
    """Write a line at `end`, on the disk; if that fails the file ends at `end` again."""
    try:
        file.truncate(end)
        file.seek(end)
        rest = memoryview(line)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            file.truncate(end)
        raise


def _parsed(workspace: Workspace, line: bytes, last: Entry | None, *, chained: bool = True) -> Entry:
    """The entry of a line, if this site signed it and it follows `last`."""
    number = 1 if last is None else last.number + 1
    damaged = _damaged(f"entry {number}" if chained else "the last entry")
    try:
        envelope = Fields(
            parse_canonical(line, max_bytes=MAX_LINE_BYTES, place="ledger"), {"entry", "signature"}, "ledger"
        )
        stated = envelope.mapping("entry", most=len(_KEYS))
        signature = Signature.from_json(envelope.mapping("signature", most=4), "ledger")
        key = next((key for key in workspace.public_keys if key.key_id == signature.key_id), None)
        if key is None:
            raise damaged
        key.verify(LEDGER_CONTEXT, canonical_bytes(stated), signature)
        fields = Fields(stated, _KEYS, "ledger")
        entry = Entry(
            fields.integer("number", least=1),
            fields.text("at", LINE),
            fields.text("event", LINE),
            fields.mapping("details", most=_MAX_DETAILS),
            key.key_id,
            hashlib.sha256(line).hexdigest(),
        )
        place = (entry.number, fields.text("previous", SHA256))
        if fields.text("site", SITE) != workspace.site:
            raise damaged
    except ProtocolError as error:
        raise damaged from error
    if chained and place != (number, _FIRST if last is None else last.digest):
        raise damaged
    return entry


def _damaged(place: str) -> LedgerError:
    return LedgerError(
        f"ledger.jsonl: expected {place} as this site signed it, found something else; "
        "keep the file, restore it from a backup and find out who changed it"
    )
