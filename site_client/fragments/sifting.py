"""Lets through to the counting what is new, and nothing else; of every note it takes what may be PHI, for no phrase that touches it leaves.

Whoever holds two files subtracts one from the other: what ten patients have, of whom nine stood in the first, is what the tenth has. So, as with
shares (`site_client.sharing.new_notes`),

- a note of which fragments have left is not counted, nor is one of which more than half of the tokens stand in sentences that have left: it is
  that one, edited or printed anew; so is one of which more than half of the runs of eight words have left, for sentences are others once
  lines break elsewhere, or in signs of another format;
- of a new note, sentences that have left are not counted;
- where the hospital says whose notes are whose, no note of a patient is counted of whom fragments have left: k patients are k new ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shared.errors import ConfigurationError
from shared.text.letters import as_printed
from shared.text.tokens import tokenise
from site_client.fragments.careful import Careful
from site_client.fragments.counting import PhraseCounts
from site_client.fragments.parser import is_foreign
from site_client.fragments.store import Draft, Gone
from site_client.sharing.digest_files import Digests, are_among, join_digests, kept_runs
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.edited import EDITED, is_edited


@dataclass
class Tally:
    """What became of the notes.

    Args:
        counted: notes that were counted.
        owners: patients, or notes that are no copies, among them.
        gone: left out, for fragments of theirs have left.
        returned: left out, for fragments have left of other notes of their patients.
        foreign: left out, for they are in another language.
        phrases: that at least so many have, and that are new.
        earlier: that have left before.
        left_out: that a person keeps here.
        idle: lines of what that person wrote that kept nothing here.
    """

    counted: int = 0
    owners: int = 0
    gone: int = 0
    returned: int = 0
    foreign: int = 0
    phrases: int = 0
    earlier: int = 0
    left_out: int = 0
    idle: tuple[int, ...] = ()


class Sieve:
    """What every note comes by.

    Args:
        digests: make what a note is known by.
        gone: what has left.
        tally: is told what became of the notes.
        patients: the patient of each note by its id; None where nobody says.

    Raises:
        ConfigurationError: nobody says, and of earlier files somebody did.
    """

    def __init__(self, digests: DigestKey, gone: Gone, tally: Tally, patients: Mapping[str, str] | None = None) -> None:
        if gone.patients and patients is None:
            raise ConfigurationError(
                f"--patients: expected the table of the patients, as for {name_files(gone.named)}, got none: whoever came back since would "
                "count as new; give it"
            )
        self._digests, self._gone, self._tally = digests, gone, tally
        self._whose = patients
        self._notes: set[bytes] = set()
        self._patients: set[bytes] = set()
        self._sentences: list[Digests] = []
        self._runs: list[Digests] = []

    def count(self, careful: Careful, counts: PhraseCounts) -> None:
        """Count what is new of a note; take what may be PHI in it in any case.

        Args:
            careful: the note, and what may be PHI in it.
            counts: of the phrases.
        """
        note = careful.note
        tokens = tokenise(note.text)
        digest, sentences = self._digests.note(note.text), self._digests.sentences(note.text, tokens)
        patient = None if self._whose is None else self._digests.patient(self._whose[note.identifier])
        # A ruled line is of no note.
        worded = sentences != self._digests.wordless
        left = worded & are_among(sentences, self._gone.sentences)
        lengths = np.diff(tokens.sentence_ends(), prepend=0)
        runs = self._digests.runs(as_printed(note.text))
        edited = int(lengths[left].sum()) > EDITED * int(lengths[worded].sum()) or is_edited([runs], self._gone.runs)
        if digest in self._gone.notes or edited:
            self._tally.gone += 1
        elif patient in self._gone.patients:
            self._tally.returned += 1
        elif is_foreign(note):
            self._tally.foreign += 1
        elif digest in self._notes:
            # Words of this patient, too, leave with the note that it is a copy of.
            self._keep(patient)
        else:
            self._keep(patient)
            self._notes.add(digest)
            self._sentences.append(sentences[~left])
            self._runs.append(kept_runs(runs))
            counts.add(note, left.tolist(), careful.sure)
            return
        # The labels of an earlier note, or of a copy, are as good as those of a new one.
        counts.touch(note, careful.sure)

    def draft(self, manifest_sha256: str) -> Draft:
        """What is kept of the notes that were counted.

        Args:
            manifest_sha256: of the file that was made of them.
        """
        runs = join_digests(self._runs)
        return Draft(
            frozenset(self._notes),
            frozenset(self._patients),
            join_digests(self._sentences),
            manifest_sha256,
            self._digests.fingerprint,
            runs,
            int(are_among(runs, self._gone.runs).sum()),
        )

    def _keep(self, patient: bytes | None) -> None:
        if patient is not None:
            self._patients.add(patient)


def name_files(numbers: Sequence[int]) -> str:
    """Files of fragments in words."""
    return f"file{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
