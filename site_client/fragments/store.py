"""The store of fragments in the workspace, apart from that of shares: of which notes and patients a file was made, and every file that was approved.

    fragments/0001.notes        a line of JSON, then 16 bytes for each note, 16 for each patient where they are known, 8 for each sentence, and 8
                                for each of a sample of their runs of words, not known before format 3: keyed digests as in
                                `site_client.sharing.known_notes`
    fragments/0001.fragments    the signed file, as it was approved

The ledger has the digest of both, so that neither is exchanged, say for what is kept of another file.

What counts as gone is what the ledger says was approved, for from then on it may be in anybody's hands. A draft that nobody approved
stands in nobody's way.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from foundation.files import write_bytes
from foundation.locks import lock_folder
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from protocols.share.fragments import open_fragments
from site_client import ledger
from site_client.errors import WorkspaceError
from site_client.ledger import Event
from site_client.sharing.digest_files import Digests, join_digests
from site_client.sharing.known_notes import ANOTHER_KEY, DigestKey
from site_client.workspace import Workspace

_FORMAT = 3
# Versions that kept neither sentences nor the digest of what a draft states, and those that kept no runs of words.
_EARLIER, _WITHOUT_RUNS = 1, 2
_NOTE_BYTES, _SENTENCE_BYTES = 16, 8
_NAME = re.compile(r"(\d{4,10})\.notes")
_ELSEWHERE = "nothing more is cut here: make a new workspace under another name, and cut in it notes of patients of whom no fragment has left"


@dataclass(frozen=True)
class Draft:
    """Of which notes a file was made.

    Args:
        notes: digests of their texts.
        patients: of whose they are; none where nobody said.
        sentences: of those of their sentences that were counted, ascending.
        manifest_sha256: of all that it states, its lines among it; "" where there is none yet, or an earlier version made it.
        notes_key: fingerprint of the key of all these digests; "" likewise.
        runs: of a sample of the runs of words of the notes, ascending; empty where an earlier version made it.
        runs_known: how many of these had left when it was made.
    """

    notes: frozenset[bytes] = frozenset()
    patients: frozenset[bytes] = frozenset()
    sentences: Digests = field(default_factory=lambda: join_digests([]))
    manifest_sha256: str = ""
    notes_key: str = ""
    runs: Digests = field(default_factory=lambda: join_digests([]))
    runs_known: int = 0

    @property
    def of_earlier_version(self) -> bool:
        """Whether less is known of its notes than today: once it left they would not be known again in all the ways that others are."""
        return not self.manifest_sha256 or (bool(self.notes) and not len(self.runs))


@dataclass(frozen=True)
class Gone:
    """What was approved before.

    Args:
        notes: digests of their texts.
        patients: of whose they are, where somebody said.
        sentences: of their sentences, ascending.
        phrases: texts of fragments.
        numbers: of the files.
        unnamed: of those of whose patients nobody knows.
        runs: of words of the notes, a sample, ascending; of files of earlier versions none.
    """

    notes: frozenset[bytes] = frozenset()
    patients: frozenset[bytes] = frozenset()
    sentences: Digests = field(default_factory=lambda: join_digests([]))
    phrases: frozenset[str] = frozenset()
    numbers: tuple[int, ...] = ()
    unnamed: tuple[int, ...] = ()
    runs: Digests = field(default_factory=lambda: join_digests([]))

    @property
    def named(self) -> tuple[int, ...]:
        """Numbers of the files of whose patients somebody knows."""
        return tuple(number for number in self.numbers if number not in self.unnamed)

    def joined(self, number: int, draft: Draft, phrases: frozenset[str]) -> Gone:
        """With one file more."""
        return Gone(
            self.notes | draft.notes,
            self.patients | draft.patients,
            join_digests([self.sentences, draft.sentences]),
            self.phrases | phrases,
            (*self.numbers, number),
            self.unnamed if draft.patients else (*self.unnamed, number),
            join_digests([self.runs, draft.runs]),
        )


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
        _write(workspace, number, Draft())
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
    path = notes_path(workspace, number)
    if not path.exists():
        raise _damaged(path)
    try:
        with map_os_errors(path):
            head, _, body = path.read_bytes().partition(b"\n")
        stated = json.loads(head)
        if stated["format"] == _EARLIER:
            return Draft()
        notes = _NOTE_BYTES * int(stated["notes"])
        patients = notes + _NOTE_BYTES * int(stated["patients"])
        with_runs, count = stated["format"] == _FORMAT, int(stated["sentences"])
        of_runs, before = (int(stated[name]) if with_runs else 0 for name in ("runs", "runs_known"))
        written = with_runs or stated["format"] == _WITHOUT_RUNS
        if not written or len(body) != patients + _SENTENCE_BYTES * (count + of_runs):
            raise ValueError
        sentences, runs = np.split(np.frombuffer(body[patients:], dtype="<u8").astype(np.uint64), [count])
        digest, key = str(stated["manifest_sha256"]), str(stated.get("notes_key", ""))
        return Draft(_digests(body[:notes]), _digests(body[notes:patients]), sentences, digest, key, runs, before)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error


def notes_path(workspace: Workspace, number: int) -> Path:
    """Where the workspace keeps of which notes a file was made."""
    return _folder(workspace) / f"{number:04}.notes"


def approved_path(workspace: Workspace, number: int) -> Path:
    """Where the workspace keeps an approved file."""
    return _folder(workspace) / f"{number:04}.fragments"


@dataclass(frozen=True)
class ApprovedFile:
    """A file that may have left, as the ledger tells it.

    Args:
        file_sha256: its digest.
        notes_sha256: that of what is kept of its notes; "" where an earlier version approved it.
        notes_key: fingerprint of the key by which its notes are known; "" where nobody knows of another than today's.
    """

    file_sha256: str
    notes_sha256: str
    notes_key: str


def approved_files(workspace: Workspace) -> dict[int, ApprovedFile]:
    """The files that were approved, by their numbers.

    Raises:
        LedgerError: the ledger was changed, so that nobody knows what has left.
    """
    found: dict[int, ApprovedFile] = {}
    for entry in ledger.entries(workspace):
        if entry.event == Event.NOTES_KEY_MADE_ANEW:
            found = {number: replace(one, notes_key=one.notes_key or ANOTHER_KEY) for number, one in found.items()}
        elif entry.event == Event.FRAGMENTS_APPROVED:
            notes, key = (str(entry.details.get(name, "")) for name in ("notes_sha256", "notes_key"))
            found[int(str(entry.details["number"]))] = ApprovedFile(str(entry.details["file_sha256"]), notes, key)
    return found


def read_gone(workspace: Workspace) -> Gone:
    """All that was approved before.

    Raises:
        WorkspaceError: a file of the store is missing or damaged, or the key is another one, so that nobody knows what has left.
        LedgerError, StorageError: see there.
    """
    gone, approved = Gone(), approved_files(workspace)
    key = DigestKey(workspace).fingerprint if approved else ""
    for number, one in approved.items():
        path = approved_path(workspace, number)
        if not path.exists() or file_sha256(path) != one.file_sha256:
            raise _damaged(path)
        if one.notes_key not in ("", key):
            raise WorkspaceError(
                f"keys/{workspace.notes_key.name}: expected the key by which the notes of fragments {number} are known, found another: they would "
                f"count as new; restore it from a backup, or {_ELSEWHERE}"
            )
        try:
            fragments, _ = open_fragments(path, {workspace.site: workspace.public_keys})
        except ProtocolError as error:
            raise _damaged(path) from error
        draft = read_draft(workspace, number)
        if not draft.manifest_sha256:
            raise WorkspaceError(
                f"{number:04}.notes: expected the sentences and the patients of the notes of which fragments {number} have left, found what "
                f"an earlier version kept: these, printed anew, and who comes back would count as new; {_ELSEWHERE}"
            )
        stands = one.notes_sha256 in ("", file_sha256(notes_path(workspace, number)))
        if not stands or draft.manifest_sha256 != fragments.manifest.sha256:
            raise _damaged(notes_path(workspace, number))
        gone = gone.joined(number, draft, fragments.phrases)
    return gone


def _write(workspace: Workspace, number: int, draft: Draft) -> None:
    stated = {
        "format": _FORMAT,
        "notes": len(draft.notes),
        "patients": len(draft.patients),
        "sentences": len(draft.sentences),
        "manifest_sha256": draft.manifest_sha256,
        "notes_key": draft.notes_key,
        "runs": len(draft.runs),
        "runs_known": draft.runs_known,
    }
    columns = (part.astype("<u8").tobytes() for part in (draft.sentences, draft.runs))
    parts = (*sorted(draft.notes), *sorted(draft.patients), *columns)
    data = json.dumps(stated).encode("ascii") + b"\n" + b"".join(parts)
    write_bytes(notes_path(workspace, number), data)


def _digests(data: bytes) -> frozenset[bytes]:
    return frozenset(data[place : place + _NOTE_BYTES] for place in range(0, len(data), _NOTE_BYTES))


def _folder(workspace: Workspace) -> Path:
    return workspace.root / "fragments"


def _damaged(path: Path) -> WorkspaceError:
    return WorkspaceError(
        f"{path.name}: expected what is known of fragments that were made, found something else; restore the folder fragments/ from a backup"
    )
