"""Files of keyed digests: what is known of the notes of a share, as `site_client.sharing.known_notes` describes it, on the disk and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from site_client.errors import WorkspaceError
from site_client.workspace import Workspace

Digests = NDArray[np.uint64]

FORMAT = 4
NOTE_BYTES = 16
SENTENCE_BYTES = 8
_BY_TOKENS, _WITHOUT_RUNS, _WITHOUT_HIDDEN = 1, 2, 3
_RUNS_PER_SAMPLE = 4
# Of a note's runs of words a sample is kept, and another compared, where it holds so many; all where not.
_RUNS_KEPT, _RUNS_COMPARED = 32, 8
_NONE: Digests = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True)
class ShareDigests:
    """What is known of the notes of one share.

    Args:
        notes: digests of their texts.
        sentences: of their sentences, ascending; each once for every way in which it is labelled.
        labelled: of the same sentences with their labels and their notes; without these where an earlier version wrote this.
        representer: digest of what the notes were encoded with; "" for a share of an earlier version.
        again: shares that had left before and whose notes these are.
        new_notes: how many of the notes counted as new.
        by_tokens: of the tokens of their sentences, ascending; empty where an earlier version wrote these as `sentences`.
        notes_key: fingerprint of the key of all these digests; "" where an earlier version made them.
        runs: of a sample of the runs of words of the notes, ascending; empty where an earlier version wrote this.
        runs_known: how many of these had left when the share was encoded, with other shares than `again`.
        hidden: of the words that it hid though nobody had labelled them, ascending; None where an earlier version wrote this.
    """

    notes: frozenset[bytes]
    sentences: Digests = field(default_factory=_NONE.copy)
    labelled: Digests = field(default_factory=_NONE.copy)
    representer: str = ""
    again: tuple[int, ...] = ()
    new_notes: int = 0
    by_tokens: Digests = field(default_factory=_NONE.copy)
    notes_key: str = ""
    runs: Digests = field(default_factory=_NONE.copy)
    runs_known: int = 0
    hidden: Digests | None = None

    @property
    def known(self) -> Digests:
        """All that its sentences are known by, ascending."""
        return join_digests([self.sentences, self.by_tokens])

    @property
    def of_earlier_version(self) -> bool:
        """Whether sentences were not looked at when it was encoded."""
        return not self.representer


def digest_of_known(workspace: Workspace, sequence: int) -> str:
    """SHA-256 of what is known of the notes of a share; "" where a file of it is missing.

    Raises:
        StorageError: one can't be read.
    """
    paths = _paths(workspace, sequence)
    if not all(map(is_there, paths)):
        return ""
    return hashlib.sha256("".join(map(file_sha256, paths)).encode("ascii")).hexdigest()


def save_digests(workspace: Workspace, sequence: int, digests: ShareDigests) -> None:
    """Keeps what is known of a share, for its owner alone and in no order that tells of the notes.

    Raises:
        WorkspaceError: of another share of that number something is known; it stays.
        StorageError: no room, no permission.
    """
    if any(map(is_there, _paths(workspace, sequence))):
        raise WorkspaceError(
            f"known-notes/{sequence:04}.digests, .sentences: expected no files of share {sequence}, found those of another share of that "
            "number; encode the notes again"
        )
    stated = {
        "format": FORMAT,
        "representer": digests.representer,
        "again": digests.again,
        "new_notes": digests.new_notes,
        "sentences": len(digests.sentences),
        "by_tokens": len(digests.by_tokens),
        "notes_key": digests.notes_key,
        "runs": len(digests.runs),
        "runs_known": digests.runs_known,
        "hidden": None if digests.hidden is None else len(digests.hidden),
    }
    hidden = _NONE if digests.hidden is None else digests.hidden
    columns = (digests.sentences, digests.labelled, digests.by_tokens, digests.runs, hidden)
    parts = (part.astype("<u8").tobytes() for part in columns)
    folder = known_notes_folder(workspace)
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    of_notes, of_sentences = _paths(workspace, sequence)
    write_bytes(of_sentences, b"".join((json.dumps(stated).encode("ascii"), b"\n", *parts)))
    write_bytes(of_notes, b"".join(sorted(digests.notes)))


def read_digests(workspace: Workspace, sequence: int) -> ShareDigests:
    """What is known of a share; nothing of one of before digests were kept.

    Raises:
        WorkspaceError: a file is damaged.
        StorageError: one can't be read.
    """
    of_notes, path = _paths(workspace, sequence)
    known = read_note_digests(of_notes)
    head, _, body = _read(path).partition(b"\n")
    if not head:
        return ShareDigests(known)
    try:
        stated = json.loads(head)
        values = np.frombuffer(body, dtype="<u8").astype(np.uint64)
        count = int(stated["sentences"])
        by_tokens = 0 if stated["format"] == _BY_TOKENS else int(stated["by_tokens"])
        with_runs = stated["format"] in (_WITHOUT_HIDDEN, FORMAT)
        of_runs, before = (int(stated[name]) if with_runs else 0 for name in ("runs", "runs_known"))
        of_hidden = stated["hidden"] if stated["format"] == FORMAT else None
        written = with_runs or stated["format"] in (_BY_TOKENS, _WITHOUT_RUNS)
        ends = np.cumsum([count, count, by_tokens, of_runs, int(of_hidden or 0)])
        if not written or ends[-1] != len(values):
            raise ValueError
        sentences, labelled, cut, runs, last = np.split(values, ends[:-1])
        hidden = None if of_hidden is None else last
        again, representer, new = tuple(map(int, stated["again"])), str(stated["representer"]), int(stated["new_notes"])
        key = str(stated.get("notes_key", ""))
        return ShareDigests(known, sentences, labelled, representer, again, new, cut, key, runs, before, hidden)
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            f"{path.name}: expected digests of the sentences of a share, found something else; restore the file from a backup"
        ) from error


def are_among(digests: Digests, known: Digests) -> NDArray[np.bool_]:
    """Which digests are among others, bool of the same shape; a row of several for one sentence is compared column by column.

    Args:
        digests: any.
        known: ascending.
    """
    if not len(known):
        return np.zeros(digests.shape, dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, digests), len(known) - 1)
    found: NDArray[np.bool_] = known[places] == digests
    return found


def join_digests(parts: Sequence[Digests]) -> Digests:
    """All of them once, ascending."""
    return np.unique(np.concatenate([_NONE, *map(np.ravel, parts)]))


def are_sampled(runs: Digests) -> NDArray[np.bool_]:
    """Which runs of words are in the sample, bool of the same shape; their own digests say, so that two texts have the same ones."""
    sampled: NDArray[np.bool_] = runs % np.uint64(_RUNS_PER_SAMPLE) == 0
    return sampled


def sample_runs(runs: Digests, least: int) -> Digests:
    """One in four of the runs of a note; all of them where these would be fewer than `least`."""
    sample = runs[are_sampled(runs)]
    return sample if len(sample) >= least else runs


def kept_runs(runs: Digests) -> Digests:
    """Those of the runs of a note that are kept."""
    return sample_runs(runs, _RUNS_KEPT)


def compared_runs(runs: Digests) -> Digests:
    """Those of the runs of a note that are held against what is kept."""
    return sample_runs(runs, _RUNS_COMPARED)


def are_repeated(digests: Digests, notes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which digests an earlier note has, too; bool of their shape.

    Args:
        digests: note by note.
        notes: which each is of, ascending.
    """
    _, first, which = np.unique(digests, return_index=True, return_inverse=True)
    repeated: NDArray[np.bool_] = notes != notes[first][which]
    return repeated


def known_notes_folder(workspace: Workspace) -> Path:
    """Where they lie."""
    return workspace.root / "known-notes"


def read_note_digests(path: Path) -> frozenset[bytes]:
    """The digests of a file that holds those of notes alone; none where there is no such file.

    Raises:
        StorageError: it can't be read.
    """
    notes = _read(path)
    return frozenset(notes[place : place + NOTE_BYTES] for place in range(0, len(notes), NOTE_BYTES))


def _paths(workspace: Workspace, sequence: int) -> tuple[Path, Path]:
    """The files of a share: of its notes, and of its sentences."""
    folder = known_notes_folder(workspace)
    return folder / f"{sequence:04}.digests", folder / f"{sequence:04}.sentences"


def _read(path: Path) -> bytes:
    """The bytes of a file; none where an earlier version wrote no such file."""
    if not is_there(path):
        return b""
    with map_os_errors(path):
        return path.read_bytes()


def is_there(path: Path) -> bool:
    """Whether there is such a file.

    Raises:
        StorageError: nobody may look.
    """
    with map_os_errors(path):
        return path.exists()
