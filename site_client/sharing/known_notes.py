"""Which notes and sentences have left before, as the hospital itself knows it: keyed digests, two files for each share that was encoded.

    known-notes/0007.digests     16 bytes for each note: its text
    known-notes/0007.sentences   a line of JSON, then 8 bytes for each sentence, its letters and digits, 8 for each, these and its labels,
                                 and 8 for each, its tokens: what versions before format 2 knew a sentence by
    known-notes/trained.digests  16 bytes for each note that a head of a training over a connection has learned from

They never leave. The key lies in `keys/notes.key`; without it, and with it too but for texts that somebody can guess, the digests tell
nothing of a note. What has left is what the ledger says was submitted, whatever became of it: a share that was refused or taken back
was in other hands. A share that was encoded and never submitted stands in nobody's way. The ledger also holds the digest of both files of
what left, so that a file that is lost or exchanged is no share of which nothing is known: nobody goes on until it is restored, or somebody
gives it up, which the ledger tells of. Versions 0.1 kept no such files; their shares left before the ledger tells of any release that was
looked at.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256
from foundation.secret_files import read_secret
from protocols.canonical import Json
from protocols.share.receipt import ReceiptState
from shared.sentences.tokenised import TokenisedSentences
from shared.text.tokens import Tokens
from site_client import ledger
from site_client.errors import WorkspaceError
from site_client.ledger import Event
from site_client.workspace import Workspace

Digests = NDArray[np.uint64]

FORMAT = 2
_BY_TOKENS = 1
_NOTE_BYTES = 16
_SENTENCE_BYTES = 8
_TRAINED = "trained.digests"
_GONE = (ReceiptState.REJECTED, ReceiptState.WITHDRAWN)
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")
_NONE: Digests = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True)
class ShareDigests:
    """What is known of the notes of one share.

    Args:
        notes: digests of their texts.
        sentences: of their sentences, ascending; each once for every way in which it is labelled.
        labelled: of the same sentences with their labels.
        representer: digest of what the notes were encoded with; "" for a share of an earlier version.
        again: shares that had left before and whose notes these are.
        new_notes: how many of the notes counted as new.
        by_tokens: of the tokens of their sentences, ascending; empty where an earlier version wrote these as `sentences`.
    """

    notes: frozenset[bytes]
    sentences: Digests = field(default_factory=_NONE.copy)
    labelled: Digests = field(default_factory=_NONE.copy)
    representer: str = ""
    again: tuple[int, ...] = ()
    new_notes: int = 0
    by_tokens: Digests = field(default_factory=_NONE.copy)

    @property
    def known(self) -> Digests:
        """All that its sentences are known by, ascending."""
        return join_digests([self.sentences, self.by_tokens])

    @property
    def of_earlier_version(self) -> bool:
        """Whether sentences were not looked at when it was encoded."""
        return not self.representer


class DigestKey:
    """Makes the digests of a site.

    Args:
        workspace: of the site.

    Raises:
        WorkspaceError: the key is lost though shares have left that only it can know again.
        StorageError: it can't be read, or others may read it.
    """

    def __init__(self, workspace: Workspace) -> None:
        path = workspace.notes_key
        if not path.exists() and any(_folder(workspace).glob("*.digests")):
            raise WorkspaceError(
                f"{path.name}: expected the key of the digests of earlier notes, found no file; restore it from the backup of the "
                "workspace: without it nobody knows which notes have left"
            )
        self._key = read_secret(path)

    def note(self, text: str) -> bytes:
        """Of the text of a note. Line ends and other white space do not make another note of it."""
        return self._digest(" ".join(text.split()).encode("utf-8"), _NOTE_BYTES)

    def patient(self, identifier: str) -> bytes:
        """Of who a patient is, by whatever the hospital calls them; of no note that says the same."""
        data = identifier.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=_NOTE_BYTES, key=self._key, person=b"patient").digest()

    def sentences(self, text: str, tokens: Tokens) -> Digests:
        """Of the letters and digits of each sentence, uint64 `[sentences]`; neither casing, labels nor what stands between them matters.

        Args:
            text: of a note.
            tokens: say where its sentences start, and no more: how a span is cut depends on whether it is labelled.
        """
        edges = [0, *tokens.spans[tokens.sentence_starts[1:], 0].tolist(), len(text)]
        parts = (text[start:end] for start, end in pairwise(edges))
        letters = [_NEITHER_LETTER_NOR_DIGIT.sub("", part.casefold()) for part in parts]
        return self._of_texts(letters[: len(tokens.sentence_starts)])

    def cut_sentences(self, tokens: Tokens) -> Digests:
        """Of the tokens of each sentence, whatever their casing, as earlier versions knew it; uint64 `[sentences]`."""
        words, starts, ends = tokens.words, tokens.sentence_starts.tolist(), tokens.sentence_ends().tolist()
        return self._of_texts([" ".join(words[start:end]).casefold() for start, end in zip(starts, ends, strict=True)])

    def labelled(self, sentences: Digests, chunk: TokenisedSentences) -> Digests:
        """Of each sentence with its labels, uint64 `[sentences]`.

        Args:
            sentences: their digests.
            chunk: these sentences.
        """
        words, tags = sentences.astype("<u8").tobytes(), chunk.tags.tobytes()
        return _as_array(
            [
                self._digest(words[8 * row : 8 * row + 8] + tags[start : start + length], _SENTENCE_BYTES)
                for row, (start, length) in enumerate(zip(chunk.starts.tolist(), chunk.lengths.tolist(), strict=True))
            ]
        )

    def _of_texts(self, texts: Sequence[str]) -> Digests:
        return _as_array([self._digest(text.encode("utf-8", "surrogatepass"), _SENTENCE_BYTES) for text in texts])

    def _digest(self, data: bytes, size: int) -> bytes:
        return hashlib.blake2b(data, digest_size=size, key=self._key).digest()


@dataclass(frozen=True)
class _Left:
    """A share that has left, as the ledger tells it.

    Args:
        counts: whether it counts still, as far as is known here.
        sha256: of what was known of its notes when it left; "" where an earlier version submitted it.
        kept: whether something must be known of them.
        given_up: whether somebody has said that it is lost for good.
    """

    counts: bool
    sha256: str
    kept: bool
    given_up: bool = False

    def is_lost(self, found: str) -> bool:
        """Whether what is known now, by its digest, is not what it was."""
        return found != self.sha256 if self.sha256 else self.kept and not found


def shares_that_left(workspace: Workspace) -> dict[int, bool]:
    """Numbers of the shares that have left, ascending, and whether each counts still, as far as is known here.

    Raises:
        LedgerError: the ledger was changed, so that nobody knows what has left.
    """
    return {sequence: left.counts for sequence, left in _shares_that_left(workspace).items()}


def _shares_that_left(workspace: Workspace) -> dict[int, _Left]:
    found: dict[int, _Left] = {}
    kept = False
    for entry in ledger.entries(workspace):
        sequence, given_up = entry.details.get("sequence"), entry.details.get("shares")
        # Digests are kept by every version that looks at releases, and by none before.
        kept = kept or entry.event == Event.RELEASE_EXAMINED
        if entry.event == Event.KNOWN_NOTES_GIVEN_UP and isinstance(given_up, list):
            found |= {number: replace(left, given_up=True) for number, left in found.items() if number in given_up}
        elif entry.event == Event.SUBMITTED and isinstance(sequence, int):
            stated = entry.details.get("known_notes", "")
            found.setdefault(sequence, _Left(True, str(stated), kept))
        elif entry.event == Event.RECEIPT and isinstance(sequence, int) and sequence in found:
            found[sequence] = replace(found[sequence], counts=entry.details.get("state") not in _GONE)
    return dict(sorted(found.items()))


def digest_of_known(workspace: Workspace, sequence: int) -> str:
    """SHA-256 of what is known of the notes of a share; "" where a file of it is missing.

    Raises:
        StorageError: one can't be read.
    """
    paths = [_folder(workspace) / f"{sequence:04}.{ending}" for ending in ("digests", "sentences")]
    if not all(map(_is_there, paths)):
        return ""
    return hashlib.sha256("".join(map(file_sha256, paths)).encode("ascii")).hexdigest()


def give_up_lost(workspace: Workspace) -> tuple[int, ...]:
    """Shares of whose notes nobody knows any more, and nobody will: their notes may leave a second time. The ledger tells of it.

    Raises:
        LedgerError, StorageError: see there.
    """
    lost = {
        sequence: left.given_up
        for sequence, left in _shares_that_left(workspace).items()
        if left.is_lost(digest_of_known(workspace, sequence))
    }
    new: list[Json] = [sequence for sequence, given_up in lost.items() if not given_up]
    if new:
        ledger.record(workspace, Event.KNOWN_NOTES_GIVEN_UP, {"shares": new})
    return tuple(lost)


def save_digests(workspace: Workspace, sequence: int, digests: ShareDigests) -> None:
    """Keeps what is known of a share, for its owner alone and in no order that tells of the notes.

    Raises:
        StorageError: no room, no permission.
    """
    stated = {
        "format": FORMAT,
        "representer": digests.representer,
        "again": digests.again,
        "new_notes": digests.new_notes,
        "sentences": len(digests.sentences),
        "by_tokens": len(digests.by_tokens),
    }
    columns = (digests.sentences, digests.labelled, digests.by_tokens)
    parts = (part.astype("<u8").tobytes() for part in columns)
    folder = _folder(workspace)
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    write_bytes(folder / f"{sequence:04}.sentences", b"".join((json.dumps(stated).encode("ascii"), b"\n", *parts)))
    write_bytes(folder / f"{sequence:04}.digests", b"".join(sorted(digests.notes)))


def read_digests(workspace: Workspace, sequence: int) -> ShareDigests:
    """What is known of a share; nothing of one of before digests were kept.

    Raises:
        WorkspaceError: a file is damaged.
        StorageError: one can't be read.
    """
    known = _note_digests(_folder(workspace) / f"{sequence:04}.digests")
    path = _folder(workspace) / f"{sequence:04}.sentences"
    head, _, body = _read(path).partition(b"\n")
    if not head:
        return ShareDigests(known)
    try:
        stated = json.loads(head)
        values = np.frombuffer(body, dtype="<u8").astype(np.uint64)
        count = int(stated["sentences"])
        by_tokens = 0 if stated["format"] == _BY_TOKENS else int(stated["by_tokens"])
        if stated["format"] not in (_BY_TOKENS, FORMAT) or 2 * count + by_tokens != len(values):
            raise ValueError
        sentences, labelled, cut = np.split(values, (count, 2 * count))
        again = tuple(map(int, stated["again"]))
        return ShareDigests(
            known, sentences, labelled, str(stated["representer"]), again, int(stated["new_notes"]), cut
        )
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            f"{path.name}: expected digests of the sentences of a share, found something else; restore the file from a backup"
        ) from error


def add_trained(workspace: Workspace, notes: frozenset[bytes]) -> None:
    """Keeps what a training over a connection learns from, beside what earlier ones have; nothing where theirs is lost.

    Args:
        workspace: of the site.
        notes: digests of their texts.

    Raises:
        StorageError: no room, no permission.
    """
    folder = _folder(workspace)
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / _TRAINED
    if _trained_is_lost(workspace):
        # A new file would have it that nothing was learned from before; without one, nobody knows.
        return
    known = _note_digests(path)
    if not path.exists() or not notes <= known:
        write_bytes(path, b"".join(sorted(known | notes)))


def read_trained(workspace: Workspace) -> frozenset[bytes]:
    """Digests of the notes that a head of a training over a connection has learned from.

    Raises:
        LedgerError: the ledger was changed.
        WorkspaceError: it tells of rounds, and nobody knows of which notes.
        StorageError: they can't be read.
    """
    path = _folder(workspace) / _TRAINED
    if _trained_is_lost(workspace):
        raise WorkspaceError(
            f"{path.name}: expected digests of the notes of earlier trainings, found no file; restore it from a backup"
        )
    return _note_digests(path)


def _trained_is_lost(workspace: Workspace) -> bool:
    there = _is_there(_folder(workspace) / _TRAINED)
    return not there and any(_has_taught(entry) for entry in ledger.entries(workspace))


def _has_taught(entry: ledger.Entry) -> bool:
    nothing_learned = any(entry.details.get(name) for name in ("measured", "out_of_time", "failed"))
    return entry.event == Event.FEDERATED_ROUND and not nothing_learned


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


def read_all(workspace: Workspace) -> Iterator[tuple[int, bool, ShareDigests]]:
    """Of every share that has left: its number, whether it counts still, and what is known of it.

    Raises:
        LedgerError: the ledger was changed.
        WorkspaceError: what was known of one is lost, or is not what it was when the share left.
        StorageError: it can't be read.
    """
    for sequence, left in _shares_that_left(workspace).items():
        found = digest_of_known(workspace, sequence)
        if not left.is_lost(found):
            yield sequence, left.counts, read_digests(workspace, sequence)
        elif left.given_up:
            yield sequence, left.counts, ShareDigests(frozenset())
        else:
            raise WorkspaceError(
                f"known-notes/{sequence:04}.digests, .sentences: expected what is known of the notes of share {sequence}, which has left, "
                f"found {'other files' if found else 'one missing'}; restore known-notes/ from a backup of the workspace, or, if they are "
                "lost for good, give `encode --lost-known-notes`: its notes may then leave a second time, and the ledger tells of it"
            )


def _as_array(digests: Sequence[bytes]) -> Digests:
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _folder(workspace: Workspace) -> Path:
    return workspace.root / "known-notes"


def _note_digests(path: Path) -> frozenset[bytes]:
    notes = _read(path)
    return frozenset(notes[place : place + _NOTE_BYTES] for place in range(0, len(notes), _NOTE_BYTES))


def _read(path: Path) -> bytes:
    """The bytes of a file; none where an earlier version wrote no such file."""
    if not _is_there(path):
        return b""
    with map_os_errors(path):
        return path.read_bytes()


def _is_there(path: Path) -> bool:
    with map_os_errors(path):
        return path.exists()
