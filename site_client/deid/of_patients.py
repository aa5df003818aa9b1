"""What was found in one note of a patient is found in all notes of that patient.

A name that a tagger misses where nothing around it says so is found in the next note, behind "Dear Mrs". Notes come in any order, and leave in it: one waits
until all notes of its patient have come, and whatever comes behind it waits too. So notes that lie patient by patient need little memory,
and notes in another order up to as much as all of them take.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

from shared.document import Document
from shared.pipeline.mentions import ArePublic, Sayings, nobody_knows, sayings_of, with_repeated


@dataclass(frozen=True, repr=False)
class Finding:
    """A note, and what is hidden of it.

    Args:
        note: as it came.
        own: with what the pipeline found.
        found: with what its labels say as well.
    """

    note: Document
    own: Document
    found: Document


@dataclass(frozen=True, repr=False)
class NotesOfPatients:
    """Whose note is whose.

    Args:
        patients: the patient of each note, by its id; a note that is not named stands alone.
        people: categories whose names are found by one of their words, too.
        are_public: tells words from names.
    """

    patients: Mapping[str, str]
    people: Set[str] = frozenset()
    are_public: ArePublic = nobody_knows

    def complete(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """All of them, in their order, each with what other notes of its patient say."""
        to_come = Counter(self.patients.values())
        said: dict[str, dict[tuple[str, ...], str]] = {}
        waiting: deque[Finding] = deque()
        for finding in findings:
            waiting.append(finding)
            patient = self.patients.get(finding.note.identifier)
            if patient is not None:
                to_come[patient] -= 1
                for words, category in self._sayings(finding).items():
                    said.setdefault(patient, {}).setdefault(words, category)
            while waiting and to_come[self._patient(waiting[0])] <= 0:
                yield self._completed(waiting.popleft(), said)
        for finding in waiting:
            yield self._completed(finding, said)

    def _patient(self, finding: Finding) -> str:
        return self.patients.get(finding.note.identifier, "")

    def _sayings(self, finding: Finding) -> Sayings:
        return sayings_of(finding.found, self.people, self.are_public)

    def _completed(self, finding: Finding, said: Mapping[str, Sayings]) -> Finding:
        also = said.get(self._patient(finding))
        if not also:
            return finding
        own, found = (
            with_repeated(one, self.people, self.are_public, also=also) for one in (finding.own, finding.found)
        )
        return replace(finding, own=own, found=found)
