"""Which notes and sentences have left before, as the hospital itself knows it: keyed digests, two files for each share that was encoded.

    known-notes/0007.digests     16 bytes for each note: its text
    known-notes/0007.sentences   a line of JSON, then 8 bytes for each sentence, its letters and digits, 8 for each, these and its labels,
                                 and 8 for each, its tokens: what versions before format 2 knew a sentence by; then 8 for each of a sample
                                 of the runs of eight words of the notes, wherever their lines break: none before format 3; then 8 for
                                 each word that was hidden though nobody had labelled it: not known before format 4
    known-notes/trained.digests  16 bytes for each note that a head of a training over a connection has learned from

They never leave. The key lies in `keys/notes.key`; without it, and with it too but for texts that somebody can guess, the digests tell
nothing of a note. With another key nothing would be known again, so it is made with the workspace and never anew unasked, and the ledger
holds a fingerprint of it with all that left. What has left is what the ledger says was submitted, whatever became of it: a share that was refused or taken back
was in other hands. A share that was encoded and never submitted stands in nobody's way. The ledger also holds the digest of both files of
what left, so that a file that is lost or exchanged is no share of which nothing is known: nobody goes on until it is restored, or somebody
gives it up, which the ledger tells of. Versions 0.1 kept no such files; their shares left before the ledger tells of any release that was
looked at.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.secret_files import SECRET_BYTES, make_secret, read_secret
from protocols.canonical import Json
from shared.sentences.tokenised import TokenisedSentences
from shared.text.letters import compose, only_letters, only_words
from shared.text.tokens import Tokens
from site_client import ledger
from site_client.errors import WorkspaceError
from site_client.ledger import Event
from site_client.sharing.digest_files import (
    NOTE_BYTES,
    SENTENCE_BYTES,
    Digests,
    ShareDigests,
    digest_of_known,
    is_there,
    join_digests,
    known_notes_folder,
    read_digests,
    read_note_digests,
)
from site_client.sharing.sifting.decisions import Decision
from site_client.workspace import Workspace

_TRAINED = "trained.digests"
_OF_SHARES = (Event.APPROVED, Event.APPROVAL_WAIVED, Event.SUBMITTED, Event.RECEIPT, Event.WITHDRAWAL_REQUESTED)
RUN_WORDS = 8
# Odd and different, so that other words, or these in another order, have another sum.
_WEIGHTS = (2 * np.arange(RUN_WORDS, dtype=np.uint64) + 1) * np.uint64(0x9E3779B97F4A7C15)
ANOTHER_KEY = "another"
"""Instead of the fingerprint of a key that was lost before the ledger told of any."""
_WITH_THE_KEY = (Event.FRAGMENTS_APPROVED, Event.FEDERATED_ROUND, Event.HEAD_ADAPTED, Event.NOTES_KEY_MADE_ANEW)
"""What is told of nowhere but where the key is."""


class DigestKey:
    """Makes the digests of a site.

    Args:
        workspace: of the site.

    Raises:
        WorkspaceError: the key is lost though digests were made that only it can know again.
        StorageError: it can't be read, or others may read it.
    """

    def __init__(self, workspace: Workspace) -> None:
        if _key_is_lost(workspace):
            raise WorkspaceError(
                f"keys/{workspace.notes_key.name}: expected the key of the digests of earlier notes, found no file; restore it, and known-notes/, "
                "from a backup of the workspace: without it nobody knows which notes have left; or, if it is lost for good, give `encode "
                "--lost-known-notes`: these notes may then leave a second time, and the ledger tells of it"
            )
        # None is there in a workspace of before there were digests.
        self._key, self._workspace = read_secret(workspace.notes_key), workspace

    @property
    def fingerprint(self) -> str:
        """By what the key itself is known again; it tells nothing of it."""
        return _fingerprint(self._key)

    def has_made(self, stated: str) -> bool:
        """Whether digests that state the fingerprint of their key are of this one.

        Args:
            stated: "" for those of an earlier version, which are of the first key.

        Raises:
            LedgerError: the ledger was changed.
        """
        if stated:
            return stated == self.fingerprint
        return all(entry.event != Event.NOTES_KEY_MADE_ANEW for entry in ledger.entries(self._workspace))

    def note(self, text: str) -> bytes:
        """Of the text of a note. Neither white space nor how the marks of letters are written makes another note of it."""
        return self._digest(" ".join(compose(text).split()).encode("utf-8"), NOTE_BYTES)

    def patient(self, identifier: str) -> bytes:
        """Of who a patient is, by whatever the hospital calls them; of no note that says the same."""
        data = identifier.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=NOTE_BYTES, key=self._key, person=b"patient").digest()

    def sentences(self, text: str, tokens: Tokens) -> Digests:
        """Of the letters and digits of each sentence, uint64 `[sentences]`; neither casing, labels nor what stands between them matters.

        Args:
            text: of a note.
            tokens: say where its sentences start, and no more: how a span is cut depends on whether it is labelled.
        """
        edges = [0, *tokens.spans[tokens.sentence_starts[1:], 0].tolist(), len(text)]
        parts = (text[start:end] for start, end in pairwise(edges))
        return self._of_texts([only_letters(part) for part in islice(parts, len(tokens.sentence_starts))])

    @cached_property
    def wordless(self) -> int:
        """What each sentence is known by that has neither letter nor digit, such as a ruled line: notes that share it share nothing."""
        return int(self._of_texts([""])[0])

    def runs(self, text: str) -> Digests:
        """Of the runs of words of a note, ascending, uint64; neither casing nor where lines and sentences break matters.

        Args:
            text: of a note; one of fewer words than a run is one run.
        """
        words = only_words(text)
        if not words:
            return join_digests([])
        size = min(RUN_WORDS, len(words))
        runs = (sliding_window_view(self._of_texts(words), size) * _WEIGHTS[:size]).sum(axis=1).astype("<u8").tobytes()
        # Once more by the key: sums of digests tell of one another.
        return join_digests(
            [_as_array([self._digest(runs[place : place + 8], SENTENCE_BYTES) for place in range(0, len(runs), 8)])]
        )

    def cut_sentences(self, tokens: Tokens) -> Digests:
        """Of the tokens of each sentence, whatever their casing, as earlier versions knew it; uint64 `[sentences]`."""
        words, starts, ends = tokens.words, tokens.sentence_starts.tolist(), tokens.sentence_ends().tolist()
        return self._of_texts([" ".join(words[start:end]).casefold() for start, end in zip(starts, ends, strict=True)])

    def labelled(self, sentences: Digests, chunk: TokenisedSentences, notes: Sequence[bytes] = ()) -> Digests:
        """Of each sentence with its labels, uint64 `[sentences]`.

        Args:
            sentences: their digests.
            chunk: these sentences.
            notes: digests of the notes that they are of; none as versions before format 4 knew a sentence with its labels.
        """
        notes = notes or [b""] * len(sentences)
        words, tags = sentences.astype("<u8").tobytes(), chunk.tags.tobytes()
        return _as_array(
            [
                self._digest(notes[row] + words[8 * row : 8 * row + 8] + tags[start : start + length], SENTENCE_BYTES)
                for row, (start, length) in enumerate(zip(chunk.starts.tolist(), chunk.lengths.tolist(), strict=True))
            ]
        )

    def places(self, labelled: Digests, chunk: TokenisedSentences, tokens: NDArray[np.int64]) -> Digests:
        """Of some tokens by their places, uint64 `[tokens]`.

        Args:
            labelled: digests of the sentences.
            chunk: these sentences.
            tokens: which.
        """
        rows = np.repeat(np.arange(chunk.sentences), chunk.lengths)[tokens]
        places = np.stack([labelled[rows], (tokens - chunk.starts[rows]).astype(np.uint64)], 1).astype("<u8").tobytes()
        return _as_array([self._digest(places[at : at + 16], SENTENCE_BYTES) for at in range(0, len(places), 16)])

    def _of_texts(self, texts: Sequence[str]) -> Digests:
        return _as_array([self._digest(text.encode("utf-8", "surrogatepass"), SENTENCE_BYTES) for text in texts])

    def _digest(self, data: bytes, size: int) -> bytes:
        return hashlib.blake2b(data, digest_size=size, key=self._key).digest()


@dataclass(frozen=True)
class _Left:
    """A share that has left, as the ledger tells it.

    Args:
        counts: whether it counts still, as far as is known here.
        sha256: of what was known of its notes when it left; "" where an earlier version submitted it.
        kept: whether something must be known of them.
        notes_key: fingerprint of the key that this was made with; "" where nobody knows of another than today's.
        given_up: whether somebody has said that it is lost for good.
        decided: by the provider.
    """

    counts: bool
    sha256: str
    kept: bool
    notes_key: str = ""
    given_up: bool = False
    decided: Decision | None = None

    def is_of_another(self, notes_key: str) -> bool:
        """Whether what is known was made with another key than one of this fingerprint."""
        return bool(self.sha256 or self.kept) and self.notes_key not in ("", notes_key)

    def is_lost(self, found: str, notes_key: str) -> bool:
        """Whether what is known now, by its digest and the fingerprint of the key, is not what it was."""
        if self.is_of_another(notes_key):
            return True
        return found != self.sha256 if self.sha256 else self.kept and not found


def shares_that_left(workspace: Workspace) -> dict[int, bool]:
    """Numbers of the shares that have left, ascending, and whether each counts still, as far as is known here.

    Raises:
        LedgerError: the ledger was changed, so that nobody knows what has left.
    """
    shares = _shares_that_left(workspace)
    return {number: any(left.counts for (one, _), left in shares.items() if one == number) for number, _ in shares}


def has_left(workspace: Workspace, manifest_sha256: str) -> bool:
    """Whether exactly this share has left; its number alone does not tell, for settings that were restored gave numbers a second time.

    Raises:
        LedgerError: the ledger was changed.
    """
    return any(manifest == manifest_sha256 for _, manifest in _shares_that_left(workspace))


def last_number(workspace: Workspace) -> int:
    """The highest number of a share that the ledger or a file of digests tells of; the settings may know fewer, being restored.

    Raises:
        LedgerError: the ledger was changed.
    """
    files = (path.stem for path in known_notes_folder(workspace).glob("*.*"))
    told = (entry.details.get("sequence") for entry in ledger.entries(workspace) if entry.event in _OF_SHARES)
    numbers = [*(int(stem) for stem in files if stem.isdecimal()), *(one for one in told if isinstance(one, int))]
    return max(numbers, default=0)


def _shares_that_left(workspace: Workspace) -> dict[tuple[int, str], _Left]:
    """By number and digest of the manifest, ascending."""
    found: dict[tuple[int, str], _Left] = {}
    kept = False
    for entry in ledger.entries(workspace):
        sequence, given_up = entry.details.get("sequence"), entry.details.get("shares")
        share = (sequence, str(entry.details.get("manifest_sha256"))) if isinstance(sequence, int) else None
        # Digests are kept by every version that looks at releases, and by none before.
        kept = kept or entry.event == Event.RELEASE_EXAMINED
        if entry.event == Event.KNOWN_NOTES_GIVEN_UP and isinstance(given_up, list):
            found |= {one: replace(left, given_up=True) for one, left in found.items() if one[0] in given_up}
        elif entry.event == Event.NOTES_KEY_MADE_ANEW:
            found = {one: replace(left, notes_key=left.notes_key or ANOTHER_KEY) for one, left in found.items()}
        elif entry.event == Event.SUBMITTED and share is not None:
            stated, key = (str(entry.details.get(name, "")) for name in ("known_notes", "notes_key"))
            found.setdefault(share, _Left(True, stated, kept, key))
        elif entry.event == Event.RECEIPT and share in found:
            decision = Decision.of(entry)
            if decision.follows(found[share].decided):
                found[share] = replace(found[share], counts=decision.counts, decided=decision)
    return dict(sorted(found.items()))


def give_up_lost(workspace: Workspace) -> tuple[int, ...]:
    """Shares of whose notes nobody knows any more, and nobody will: their notes may leave a second time. The ledger tells of it.

    Where the key itself is lost another is made, and no share of before is known.

    Raises:
        LedgerError, StorageError: see there.
    """
    if _key_is_lost(workspace):
        secret = secrets.token_bytes(SECRET_BYTES)
        # The entry first: what a key that nobody told of had made would pass for what the lost one made.
        ledger.record(workspace, Event.NOTES_KEY_MADE_ANEW, {"notes_key": _fingerprint(secret)})
        make_secret(workspace.notes_key, secret)
    key = DigestKey(workspace).fingerprint
    lost = {
        sequence: left.given_up
        for (sequence, _), left in _shares_that_left(workspace).items()
        if left.is_lost(digest_of_known(workspace, sequence), key)
    }
    new: list[Json] = [sequence for sequence, given_up in lost.items() if not given_up]
    if new:
        ledger.record(workspace, Event.KNOWN_NOTES_GIVEN_UP, {"shares": new})
    return tuple(lost)


def add_trained(workspace: Workspace, notes: frozenset[bytes]) -> None:
    """Keeps what a training over a connection learns from, beside what earlier ones have; nothing where theirs is lost.

    Args:
        workspace: of the site.
        notes: digests of their texts.

    Raises:
        StorageError: no room, no permission.
    """
    folder = known_notes_folder(workspace)
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / _TRAINED
    if _trained_is_lost(workspace):
        # A new file would have it that nothing was learned from before; without one, nobody knows.
        return
    known = read_note_digests(path)
    if not path.exists() or not notes <= known:
        write_bytes(path, b"".join(sorted(known | notes)))


def read_trained(workspace: Workspace) -> frozenset[bytes]:
    """Digests of the notes that a head of a training over a connection has learned from.

    Raises:
        LedgerError: the ledger was changed.
        WorkspaceError: it tells of rounds, and nobody knows of which notes.
        StorageError: they can't be read.
    """
    path = known_notes_folder(workspace) / _TRAINED
    if _trained_is_lost(workspace):
        raise WorkspaceError(
            f"{path.name}: expected digests of the notes of earlier trainings, found no file, or one of another key; restore it and "
            "keys/notes.key from a backup"
        )
    return read_note_digests(path)


def _trained_is_lost(workspace: Workspace) -> bool:
    lost = not is_there(known_notes_folder(workspace) / _TRAINED)
    taught = False
    for entry in ledger.entries(workspace):
        taught = taught or _has_taught(entry)
        lost = lost or (taught and entry.event == Event.NOTES_KEY_MADE_ANEW)
    return lost and taught


def _has_taught(entry: ledger.Entry) -> bool:
    nothing_learned = any(entry.details.get(name) for name in ("measured", "out_of_time", "failed"))
    return entry.event == Event.FEDERATED_ROUND and not nothing_learned


def read_all(workspace: Workspace) -> Iterator[tuple[int, bool, ShareDigests]]:
    """Of every share that has left: its number, whether it counts still, and what is known of it.

    Raises:
        LedgerError: the ledger was changed.
        WorkspaceError: what was known of one is lost, or is not what it was when the share left.
        StorageError: it can't be read.
    """
    shares = _shares_that_left(workspace)
    key = DigestKey(workspace).fingerprint if shares else ""
    for (sequence, _), left in shares.items():
        found = digest_of_known(workspace, sequence)
        if not left.is_lost(found, key):
            yield sequence, left.counts, read_digests(workspace, sequence)
        elif left.given_up:
            yield sequence, left.counts, ShareDigests(frozenset())
        else:
            other = "other files" if found else "one missing"
            what = "those of another keys/notes.key" if left.is_of_another(key) else other
            raise WorkspaceError(
                f"known-notes/{sequence:04}.digests, .sentences: expected what is known of the notes of share {sequence}, which has left, "
                f"found {what}; restore known-notes/ and keys/notes.key from a backup of the workspace, or, if they are "
                "lost for good, give `encode --lost-known-notes`: its notes may then leave a second time, and the ledger tells of it"
            )


def _fingerprint(secret: bytes) -> str:
    return hashlib.blake2b(digest_size=NOTE_BYTES, key=secret, person=b"fingerprint").hexdigest()


def _key_is_lost(workspace: Workspace) -> bool:
    """Whether there is no key, and anything shows that there was one: files of digests, or what the ledger tells."""
    if is_there(workspace.notes_key):
        return False
    if any(known_notes_folder(workspace).glob("*.digests")) or any((workspace.root / "fragments").glob("*.notes")):
        return True
    examined = with_policy = False
    for entry in ledger.entries(workspace):
        # Whoever had a policy from the first had the key as well; digests are kept by every version that looks at releases.
        with_policy = with_policy or (entry.number == 1 and entry.event == Event.POLICY_SET)
        examined = examined or entry.event == Event.RELEASE_EXAMINED
        kept = entry.event == Event.SUBMITTED and (examined or entry.details.get("known_notes"))
        if kept or entry.event in _WITH_THE_KEY:
            return True
    return with_policy and workspace.sequence > 0


def _as_array(digests: Sequence[bytes]) -> Digests:
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
