"""The store of fragments in the workspace, apart from that of shares: of which notes a file was made, and every file that was approved.

    fragments/0001.notes        a line of JSON, then 16 bytes for each note: keyed digests as in `site_client.sharing.known_notes`
    fragments/0001.fragments    the signed file, as it was approved

What counts as gone is what the ledger says was approved, for from then on it may be in anybody's hands. A draft that nobody approved
stands in nobody's way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_bytes
from foundation.locks import lock_folder
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from protocols.share.fragments import open_fragments
from site_client import ledger
from site_client.errors import WorkspaceError
from site_client.ledger import Event
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace

_FORMAT = 2
_LINES_ALONE = 1
"""What versions wrote that kept the digest of a draft's lines, and none of what it states."""
_NOTE_BYTES = 16
_NAME = re.compile(r"(\d{4,10})\.notes")


@dataclass(frozen=True)
class Draft:
    """Of which notes a file was made.

    Args:
        notes: digests of their texts.
        manifest_sha256: of all that it states, its lines among it; "" where an earlier version kept that of the lines alone.
    """

    notes: frozenset[bytes]
    manifest_sha256: str = ""


@dataclass(frozen=True)
class Gone:
    """What was approved before.

    Args:
        notes: digests of their texts.
        phrases: texts of fragments.
        numbers: of the files.
    """

    notes: Set[bytes]
    phrases: Set[str]
    numbers: tuple[int, ...]


def note_digests(workspace: Workspace) -> DigestKey:
    """What makes the digests of notes.

    Raises:
        WorkspaceError: its key is lost though fragments were made that only it can know again.
        StorageError: it can't be read, or others may read it.
    """
    if not workspace.notes_key.exists() and any(_folder(workspace).glob("*.notes")):
        raise WorkspaceError(
            f"{workspace.notes_key.name}: expected the key of the digests of earlier notes, found no file; restore it from the backup of "
            "the workspace: without it nobody knows of which notes fragments have left"
        )
    return DigestKey(workspace)


def next_number(workspace: Workspace) -> int:
    """A number that no file of fragments had before; it is taken, whatever becomes of it.

    Raises:
        StorageError: no room, no permission.
    """
    with lock_folder(workspace.root):
        folder = _folder(workspace)
        with map_os_errors(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = [int(match[1]) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
        number = max(found, default=0) + 1
        _write(workspace, number, Draft(frozenset()))
    return number


def save_draft(workspace: Workspace, number: int, draft: Draft) -> None:
    """Keeps of which notes a file was made, in no order that tells of them.

    Raises:
        StorageError: no room, no permission.
    """
    _write(workspace, number, draft)


def read_draft(workspace: Workspace, number: int) -> Draft:
    """Of which notes a file was made.

    Raises:
        WorkspaceError: that is missing or damaged.
        StorageError: it can't be read.
    """
    path = _folder(workspace) / f"{number:04}.notes"
    try:
        with map_os_errors(path):
            head, _, body = path.read_bytes().partition(b"\n")
        stated = json.loads(head)
        places = range(0, len(body), _NOTE_BYTES)
        if stated["format"] not in (_LINES_ALONE, _FORMAT) or len(body) != _NOTE_BYTES * int(stated["notes"]):
            raise ValueError
        digest = "" if stated["format"] == _LINES_ALONE else str(stated["manifest_sha256"])
        return Draft(frozenset(body[place : place + _NOTE_BYTES] for place in places), digest)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error


def approved_path(workspace: Workspace, number: int) -> Path:
    """Where the workspace keeps an approved file."""
    return _folder(workspace) / f"{number:04}.fragments"


def approved_numbers(workspace: Workspace) -> dict[int, str]:
    """Numbers of the files that were approved, and the digest of each.

    Raises:
        LedgerError: the ledger was changed, so that nobody knows what has left.
    """
    return {
        int(str(entry.details["number"])): str(entry.details["file_sha256"])
        for entry in ledger.entries(workspace)
        if entry.event == Event.FRAGMENTS_APPROVED
    }


def read_gone(workspace: Workspace) -> Gone:
    """All that was approved before.

    Raises:
        WorkspaceError: a file of the store is missing or damaged, so that nobody knows what has left.
        LedgerError, StorageError: see there.
    """
    notes: set[bytes] = set()
    phrases: set[str] = set()
    approved = approved_numbers(workspace)
    for number, digest in approved.items():
        path = approved_path(workspace, number)
        if not path.exists() or file_sha256(path) != digest:
            raise _damaged(path)
        try:
            fragments, _ = open_fragments(path, {workspace.site: workspace.public_keys})
        except ProtocolError as error:
            raise _damaged(path) from error
        notes |= read_draft(workspace, number).notes
        phrases |= fragments.phrases
    return Gone(notes, phrases, tuple(approved))


def _write(workspace: Workspace, number: int, draft: Draft) -> None:
    stated = {"format": _FORMAT, "notes": len(draft.notes), "manifest_sha256": draft.manifest_sha256}
    data = json.dumps(stated).encode("ascii") + b"\n" + b"".join(sorted(draft.notes))
    write_bytes(_folder(workspace) / f"{number:04}.notes", data)


def _folder(workspace: Workspace) -> Path:
    return workspace.root / "fragments"


def _damaged(path: Path) -> WorkspaceError:
    return WorkspaceError(
        f"{path.name}: expected what is known of fragments that were made, found something else; restore the folder fragments/ from a backup"
    )
