"""What has left, as the ledger tells it: receipts and withdrawals are about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from protocols.canonical import Json
from site_client import ledger
from site_client.errors import LedgerError
from site_client.ledger import Event
from site_client.workspace import Workspace


@dataclass(frozen=True)
class Departure:
    """A share that leaves.

    Args:
        sequence: its number.
        manifest_sha256: digest of its signed manifest.
        bundle_sha256: digest of the sealed file.
        to: address of the server, or "folder".
        known_notes: digest of what is known of its notes, see `site_client.sharing.known_notes`; "" where an earlier version submitted it.
        notes_key: fingerprint of the key that this was made with; "" likewise.
    """

    sequence: int
    manifest_sha256: str
    bundle_sha256: str
    to: str
    known_notes: str = ""
    notes_key: str = ""

    def record(self, workspace: Workspace) -> None:
        """Write it into the ledger, before anything leaves.

        Raises:
            LedgerError, StorageError: see `site_client.ledger`.
        """
        ledger.record(workspace, Event.SUBMITTED, asdict(self))


def departures(workspace: Workspace) -> Iterator[Departure]:
    """All of them, oldest first; the same share leaves again after a cut.

    Raises:
        LedgerError: the ledger was changed.
    """
    for entry in ledger.entries(workspace):
        if entry.event == Event.SUBMITTED:
            yield _departure(entry.number, entry.details)


def _departure(number: int, details: Mapping[str, Json]) -> Departure:
    sequence = details.get("sequence")
    texts = [details.get(name) for name in ("manifest_sha256", "bundle_sha256", "to")]
    texts += [details.get(name, "") for name in ("known_notes", "notes_key")]
    if not isinstance(sequence, int) or not all(isinstance(text, str) for text in texts):
        raise LedgerError(
            f"ledger.jsonl, entry {number}: expected what left and where to, found something else; update this program"
        )
    return Departure(sequence, *map(str, texts))
