"""Lets through to a share what has not left before, and nothing else.

Whoever holds two shares of a hospital subtracts one from the other. So

- a note that has left is left out whole, whatever its labels are by now, and whatever became of its share: else what is missing, or
  what is labelled otherwise, would point to what was corrected;
- a note of which more than half of the tokens stand in sentences that have left counts as that note, edited; so does one of which more
  than half of the runs of eight words have left, for sentences are others once lines break elsewhere, or signs are of another width;
- a note that is there twice leaves once, the first of the two, for the labels of the other may be corrected (see `copies`). All of this
  goes by true text, labelled PHI included, so what is missing tells that PHI came again: with its category in the place of each span
  whoever writes by templates could hardly share (docs/adr/0026);
- of a new note, the sentences that another note has brought out before are left out, so that no sentence comes twice;
- fewer new notes than the policy asks for are no share: among few, a sentence can be told to be of a certain note. What counts is what
  leaves: neither what the guard drops behind this, nor a note of which more than half leaves with earlier notes of the same share.

Under another representer the provider needs the notes of before once more (`--again`), and so it does where a share was refused.
Then whole shares leave again, with the labels and the hidden words that they left with, and no new note among them: else the two would
tell the same (see `leaving_again`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shared.document import Document
from shared.sentences.tokenised import TokenisedSentences
from shared.text.tokens import Tokens
from site_client.errors import PolicyError, WorkspaceError
from site_client.sharing.digest_files import (
    Digests,
    ShareDigests,
    are_among,
    are_repeated,
    compared_runs,
    digest_of_known,
    join_digests,
    kept_runs,
    read_digests,
    save_digests,
)
from site_client.sharing.known_notes import DigestKey, has_left, read_all
from site_client.sharing.sifting.copies import Copies
from site_client.sharing.sifting.edited import EDITED, is_edited, runs_as_written
from site_client.sharing.sifting.leaving_again import LeavingAgain
from site_client.sharing.sifting.sifted import Sifted, name_shares, too_few
from site_client.workspace import Workspace

# A note with less to share hides no other.
LEAST_TOKENS = 10


class Sieve:
    """What every note of one encoding passes on its way to the share.

    Args:
        workspace: of the site.
        representer: digest of what the notes are encoded with.
        again: let earlier shares through, and nothing else: those that left under another representer, or do not count.
        checked: whether what nobody labelled is looked for in the notes, as `encode` does unasked, or for more.

    Raises:
        LedgerError: the ledger was changed, so that nobody knows what has left.
        WorkspaceError, StorageError: the key or earlier digests are lost or damaged.
    """

    def __init__(self, workspace: Workspace, representer: str, *, again: bool = False, checked: bool = False) -> None:
        self._key = DigestKey(workspace)
        self._workspace, self._representer, self._again = workspace, representer, again
        # What counts with this representer would count twice; of what an earlier version shared, the labels are not known.
        left = list(read_all(workspace))
        self._left = [(sequence, digests) for sequence, _, digests in left]
        times = Counter(sequence for sequence, _ in self._left)
        self._open = {
            sequence: digests
            for sequence, counts, digests in left
            # Settings that were restored gave numbers a second time: which share such a one means nobody knows.
            if again
            and times[sequence] == 1
            and not digests.of_earlier_version
            and not (counts and digests.representer == representer)
        }
        closed = [digests for sequence, digests in self._left if sequence not in self._open]
        self._closed_notes = frozenset[bytes]().union(*(one.notes for one in closed))
        self._closed_sentences = join_digests([one.known for one in closed])
        self._closed_runs = join_digests([one.runs for one in closed])
        self._leaving_again = LeavingAgain(self._key, self._open, self._closed_sentences, checked=checked)
        self._copies = Copies(self._key)
        self._passed_notes: list[bytes] = []
        self._runs: list[Digests] = []
        self._known_runs: list[Digests] = []
        self._known_notes: set[bytes] = set()
        self._known_sentences: list[Digests] = []
        self._waiting: list[Digests] = []
        self._waiting_notes: list[NDArray[np.int64]] = []
        # Of each sentence that passed: what it is known by, which of the passed notes it is of, its length, and whether it leaves.
        self._sentences: list[Digests] = []
        self._labelled: list[Digests] = []
        # Words of these that are hidden though nobody labelled them, and of which sentence each is.
        self._hidden: list[Digests] = []
        self._hidden_in: list[NDArray[np.int64]] = []
        self._notes: list[NDArray[np.int64]] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._leave: list[NDArray[np.bool_]] = []
        self._looked_at = self._counted = self._sentences_out = 0
        self.left_out = 0
        """Notes that stay here whole."""

    def notes(self, notes: Iterable[tuple[Document, Tokens]]) -> Iterator[tuple[Document, Tokens]]:
        """The notes that may leave, in their order; `sentences` is asked for theirs in the same order."""
        for document, tokens in notes:
            note, sentences = self._key.note(document.text), self._digests(document.text, tokens)
            closed, lengths = self._have_left(sentences), np.diff(tokens.sentence_ends(), prepend=0)
            worded = self._are_worded(sentences)
            self._looked_at += 1
            self._known_notes.add(note)
            leave_again = worded & _are_known(sentences, self._leaving_again.known)
            self._known_sentences.append(sentences[closed | leave_again])
            runs = runs_as_written(self._key, document.text)
            by_sentences = int(lengths[closed].sum()) > EDITED * int(lengths[worded].sum())
            edited = by_sentences or is_edited(runs, self._closed_runs)
            compared = [compared_runs(one) for one in runs]
            # What leaves again is what has left, letter by letter: beside it, a note that went on would show its sentences twice.
            stays = note not in self._leaving_again.notes if self._again else edited
            if stays or note in self._closed_notes:
                self.left_out += 1
                self._known_runs += [one[are_among(one, self._closed_runs)] for one in compared]
                continue
            # A share of an earlier version may hold prints of one note, and leaves again as it was.
            if self._copies.is_one(document, note, [] if self._again else compared):
                continue
            self._waiting.append(sentences)
            self._waiting_notes.append(np.full(len(sentences), len(self._passed_notes)))
            self._passed_notes.append(note)
            self._runs.append(join_digests([kept_runs(one) for one in runs]))
            self._copies.take(document, note, self._runs[-1])
            yield document, tokens

    def sentences(self, chunk: TokenisedSentences) -> TokenisedSentences:
        """The sentences of the next chunk of these notes that may leave; `admitted` is told which of them do."""
        waiting, of_notes = _all(self._waiting), np.concatenate(self._waiting_notes)
        here, self._waiting = waiting[: chunk.sentences], [waiting[chunk.sentences :]]
        notes, self._waiting_notes = of_notes[: chunk.sentences], [of_notes[chunk.sentences :]]
        # What a program takes for PHI may be another thing next time; the labels are those that people gave.
        given = chunk.with_tags(np.where(chunk.are_doubtful, np.uint8(0), chunk.tags))
        owners = [self._passed_notes[note] for note in notes.tolist()]
        columns = [
            *(self._key.labelled(column, given) for column in here.T),
            self._key.labelled(here[:, 0], given, owners),
        ]
        labelled, away = np.stack(columns, 1), self._have_left(here)
        if self._again:
            away |= ~self._leaving_again.as_then(owners, here, labelled)
        passed, labelled = chunk.leave_out(away), labelled[~away]
        passed = self._leaving_again.hide(passed, labelled[:, -1])
        hidden = np.flatnonzero(passed.are_doubtful)
        self._hidden.append(self._key.places(labelled[:, -1], passed, hidden))
        first = sum(map(len, self._lengths))
        self._hidden_in.append(first + np.repeat(np.arange(passed.sentences), passed.lengths)[hidden])
        self._sentences.append(here[~away])
        self._labelled.append(labelled)
        self._notes.append(notes[~away])
        self._lengths.append(passed.lengths)
        self._sentences_out += int(away.sum())
        return passed

    def admitted(self, leave: NDArray[np.bool_]) -> None:
        """Is told which of the sentences of the last chunk leave, bool `[sentences]`; the guard may drop some."""
        self._leave.append(leave)

    def finish(self, least: int) -> Sifted:
        """What became of all notes, if it may be a share.

        Args:
            least: different notes that a share must hold.

        Raises:
            PolicyError: there are fewer; or earlier shares would leave again in part, or with other labels.
        """
        known, known_runs = join_digests(self._known_sentences), join_digests(self._known_runs)
        self._counted = self._count()
        met = (
            sequence
            for sequence, one in self._left
            if one.notes & self._known_notes
            or are_among(known, one.known).any()
            or are_among(known_runs, one.runs).any()
        )
        shares = tuple(dict.fromkeys(met))
        sifted = Sifted(
            self._looked_at,
            self._counted,
            self.left_out,
            self._sentences_out,
            shares,
            self._again,
            self._copies.left_out,
            tuple(self._copies.labelled_otherwise),
            self._leaving_again.hidden_again,
            any(number in shares and one.representer != self._representer for number, one in self._open.items()),
        )
        if self._counted < least or (self.left_out and not self._leaving_tokens().any()):
            raise PolicyError(too_few(sifted, least))
        if self._again:
            self._leaving_again.require_whole(set(self._passed_notes), _all(self._labelled, 3))
        return sifted

    def save(self, sequence: int) -> None:
        """Keeps what is known of the share that was made of these notes.

        Raises:
            StorageError: no room, no permission.
        """
        # Of what the guard dropped nothing has left, and it may leave with another share.
        leave = np.concatenate([np.zeros(0, dtype=np.bool_), *self._leave])
        sentences, labelled = _all(self._sentences)[leave], _all(self._labelled, 3)[leave]
        pairs = np.unique(np.stack([sentences[:, 0], labelled[:, -1]], 1), axis=0)
        by_tokens = join_digests([sentences[self._are_worded(sentences), 1]])
        again = tuple(self._open) if self._again else ()
        left = np.flatnonzero(self._leaving_tokens()).tolist()
        notes, runs = (
            frozenset(self._passed_notes[note] for note in left),
            join_digests([self._runs[note] for note in left]),
        )
        digests = ShareDigests(
            notes,
            pairs[:, 0],
            pairs[:, 1],
            self._representer,
            again,
            self._counted,
            by_tokens,
            self._key.fingerprint,
            runs,
            int(are_among(runs, self._closed_runs).sum()),
            join_digests([part[leave[rows]] for part, rows in zip(self._hidden, self._hidden_in, strict=True)]),
        )
        save_digests(self._workspace, sequence, digests)

    def _leaving_tokens(self, only: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Tokens of each passed note that leave, int64 `[notes]`; with `only` those of some sentences, bool `[sentences]`."""
        found = np.zeros(len(self._passed_notes), dtype=np.int64)
        if self._leave:
            leave = np.concatenate(self._leave)
            chosen = leave if only is None else leave & only
            np.add.at(found, np.concatenate(self._notes)[chosen], np.concatenate(self._lengths)[chosen])
        return found

    def _count(self) -> int:
        """How many notes count: those with something that leaves, and not mostly with earlier ones."""
        worded = self._are_worded(_all(self._sentences))
        tokens = self._leaving_tokens(worded)
        counts = tokens >= LEAST_TOKENS
        # What leaves again leaves as it did, and counts as it did.
        if not self._again and self._leave:
            leave, notes = np.concatenate(self._leave), np.concatenate(self._notes)
            repeated = np.zeros(len(leave), dtype=np.bool_)
            repeated[leave] = are_repeated(_all(self._sentences)[leave][:, 0], notes[leave])
            counts &= self._leaving_tokens(repeated & worded) <= EDITED * tokens
        return int(counts.sum())

    def _have_left(self, sentences: Digests) -> NDArray[np.bool_]:
        """Which sentences have left, bool `[sentences]`; a ruled line has in no case, for it is of no note."""
        return self._are_worded(sentences) & _are_known(sentences, self._closed_sentences)

    def _are_worded(self, sentences: Digests) -> NDArray[np.bool_]:
        """Which sentences have a letter or a digit, bool `[sentences]`."""
        worded: NDArray[np.bool_] = sentences[:, 0] != self._key.wordless
        return worded

    def _digests(self, text: str, tokens: Tokens) -> Digests:
        """What each sentence of a note is known by, today and in the shares of earlier versions: uint64 `[sentences, 2]`."""
        return np.stack([self._key.sentences(text, tokens), self._key.cut_sentences(tokens)], 1)


def require_not_left(workspace: Workspace, sequence: int, manifest_sha256: str, least: int) -> None:
    """Returns if nothing of a share that was encoded earlier has left since with another one.

    Args:
        workspace: of the site.
        sequence: number of the share.
        manifest_sha256: digest of its manifest; exactly the share that has left may leave again, as it is.
        least: different notes that a share must hold, by the policy of today.

    Raises:
        PolicyError: something has, or there are fewer notes.
        WorkspaceError: of this share, too, nobody would know that it has left, or what is known of it was made with a key that is lost.
        LedgerError, WorkspaceError, StorageError: as `Sieve`.
    """
    if has_left(workspace, manifest_sha256):
        return
    if not digest_of_known(workspace, sequence):
        raise WorkspaceError(
            f"share {sequence}: expected what is known of its notes in known-notes/, found nothing: nobody would know that they have left; "
            "encode the notes again"
        )
    own, key = read_digests(workspace, sequence), DigestKey(workspace)
    if not key.has_made(own.notes_key):
        raise WorkspaceError(
            f"share {sequence}: expected what is known of its notes by the key in keys/notes.key, found what another key made: nobody can tell "
            "whether they have left since; restore that key from a backup, or encode the notes again"
        )
    others = [(number, digests) for number, _, digests in read_all(workspace) if number not in own.again]
    worded = own.known[own.known != key.wordless]
    met = [number for number, other in others if own.notes & other.notes or are_among(worded, other.known).any()]
    runs = are_among(own.runs, join_digests([other.runs for _, other in others]))
    if not met and int(runs.sum()) > own.runs_known:
        met = [number for number, other in others if are_among(own.runs, other.runs).any()]
    if met:
        shares = name_shares(tuple(dict.fromkeys(met)))
        raise PolicyError(
            f"share {sequence}: expected what has not left before, but some of it has left with {shares} since it was "
            "encoded; encode the notes again"
        )
    if not own.of_earlier_version and own.new_notes < least:
        raise PolicyError(
            f"share {sequence}: expected at least {least} notes, got {own.new_notes}: the policy was changed since it was encoded; encode "
            "it again with more notes"
        )


def _are_known(sentences: Digests, known: Digests) -> NDArray[np.bool_]:
    """Which sentences are known by one of their digests, bool `[sentences]`."""
    found: NDArray[np.bool_] = np.logical_or.reduce(are_among(sentences, known), axis=1)
    return found


def _all(parts: Sequence[Digests], columns: int = 2) -> Digests:
    return np.concatenate([np.zeros((0, columns), dtype=np.uint64), *parts])
