"""Which notes have left before, as the hospital itself knows it: keyed digests of their text, a file for each share that was encoded.

They never leave. The key lies in `keys/notes.key`; without it, and with it too but for texts that somebody can guess, the digests tell
nothing of a note. Whether a share has left, and was not taken back or refused since, is what the ledger says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.secret_files import read_secret
from protocols.share.receipt import ReceiptState
from site_client import ledger
from site_client.ledger import Event
from site_client.workspace import Workspace

_BYTES = 16
_GONE = (ReceiptState.REJECTED, ReceiptState.WITHDRAWN)


@dataclass(frozen=True)
class KnownNotes:
    """How many notes were shared before.

    Args:
        known: notes that stand in a share that counts.
        notes: that were looked at.
        shares: numbers of these shares, ascending.
    """

    known: int
    notes: int
    shares: tuple[int, ...]

    def lines(self) -> list[str]:
        """For people; none where there is nothing to say."""
        if not self.known:
            return []
        which = f"share{'s' if len(self.shares) > 1 else ''} {', '.join(map(str, self.shares))}"
        return [
            f"{self.known} of {self.notes} notes were shared before ({which}): the provider counts a sentence once and sets a "
            "share aside of which more than half came before"
        ]

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {"notes_shared_before": self.known, "shared_before_in": list(self.shares)}


class NoteDigests:
    """The digests of the notes of one encoding.

    Args:
        workspace: of the site.

    Raises:
        LedgerError: the ledger was changed, so that nobody knows what has left.
        StorageError: the key or an earlier file can't be read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._key = read_secret(workspace.notes_key)
        self._earlier = {share: _read(_path(workspace, share)) for share in _sharing(workspace)}
        self._notes: list[bytes] = []

    def add(self, text: str) -> None:
        """Takes the text of a note in. Line ends and other white space do not make another note of it."""
        plain = " ".join(text.split()).encode("utf-8")
        self._notes.append(hashlib.blake2b(plain, digest_size=_BYTES, key=self._key).digest())

    def known(self) -> KnownNotes:
        """How many of the notes so far were shared before."""
        shares = tuple(share for share, digests in sorted(self._earlier.items()) if digests.intersection(self._notes))
        known = sum(any(note in self._earlier[share] for share in shares) for note in self._notes)
        return KnownNotes(known, len(self._notes), shares)

    def save(self, sequence: int) -> None:
        """Keeps them as those of a share, for its owner alone and in no order that tells of the notes.

        Raises:
            StorageError: no room, no permission.
        """
        path = _path(self._workspace, sequence)
        with map_os_errors(path):
            path.parent.mkdir(mode=0o700, exist_ok=True)
        write_bytes(path, b"".join(sorted(self._notes)))


def _sharing(workspace: Workspace) -> Iterator[int]:
    """Numbers of the shares that have left and still count, as far as is known here."""
    left: set[int] = set()
    for entry in ledger.entries(workspace):
        sequence = entry.details.get("sequence")
        if not isinstance(sequence, int):
            continue
        if entry.event == Event.SUBMITTED:
            left.add(sequence)
        elif entry.event == Event.RECEIPT and entry.details.get("state") in _GONE:
            left.discard(sequence)
    yield from sorted(left)


def _path(workspace: Workspace, sequence: int) -> Path:
    return workspace.root / "known-notes" / f"{sequence:04}.digests"


def _read(path: Path) -> frozenset[bytes]:
    """The digests of a share; none of one that an earlier version encoded."""
    if not path.exists():
        return frozenset()
    with map_os_errors(path):
        data = path.read_bytes()
    return frozenset(data[place : place + _BYTES] for place in range(0, len(data), _BYTES))
