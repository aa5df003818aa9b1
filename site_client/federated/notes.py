"""The hospital's labelled notes as a head gets them, note by note: here as in-house, elsewhere as a share would show them. Nothing of this leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from shared.constructions.construction import Construction
from shared.document import Document
from shared.errors import ConfigurationError, CorpusError
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks

NoteDigest = Callable[[str], bytes]
"""Of a text, by which the site knows it again."""


@dataclass(frozen=True, repr=False)
class LabelledNotes:
    """Notes that a head can learn from.

    Args:
        notes: sentences of each note, what stands before the head has made of them.
        words: the same sentences as words, where a whole pipeline is to be measured on them.
        digests: by which the notes are known again; None where nobody asked for them.
        as_shared: whether all of this is made of what a share of the notes would show.
        left_out: notes whose text had come before.
        identifiers: of the notes, where somebody may ask whose they are.
        patients: which notes are of one patient; None where each note counts for itself.
    """

    notes: Sequence[RaggedSentences]
    words: Sequence[TokenisedSentences] = ()
    digests: frozenset[bytes] | None = None
    as_shared: bool = False
    left_out: int = 0
    identifiers: tuple[str, ...] = ()
    patients: tuple[tuple[int, ...], ...] | None = None

    @property
    def unit(self) -> str:
        """What noise covers one of."""
        return "note" if self.patients is None else "patient"

    @property
    def samples(self) -> Sequence[RaggedSentences]:
        """What noise covers one of each: notes, or patients with all their notes."""
        return self.notes if self.patients is None else _ByPatient(self.notes, self.patients)

    def of_sample(self, number: int) -> tuple[int, ...]:
        """Which notes are of a sample."""
        return (number,) if self.patients is None else self.patients[number]

    def drawn(self) -> Self:
        """The notes as the next round reads them."""
        return self

    @property
    def sentences(self) -> int:
        """Of all notes."""
        return sum(note.sentences for note in self.notes)

    @property
    def dim(self) -> int:
        """Numbers of a token."""
        return self.notes[0].dim

    def together(self) -> RaggedSentences:
        """All sentences."""
        return RaggedSentences.concatenate(self.notes)


@dataclass(frozen=True, repr=False)
class _ByPatient(Sequence[RaggedSentences]):
    """All notes of each patient together, made when they are asked for: beside the notes no second copy of them stands in memory."""

    notes: Sequence[RaggedSentences]
    patients: Sequence[tuple[int, ...]]

    def __len__(self) -> int:
        return len(self.patients)

    def __getitem__(self, number: Any) -> Any:
        return RaggedSentences.concatenate([self.notes[one] for one in self.patients[number]])


def group_by_patient(identifiers: Sequence[str], whose: Mapping[str, str]) -> tuple[tuple[int, ...], ...]:
    """Which notes are of one patient; a note of nobody that the table names stands for itself.

    Args:
        identifiers: of the notes.
        whose: the patient of each, by its identifier.

    Raises:
        ConfigurationError: none of the notes is in the table.
    """
    if not any(one in whose for one in identifiers):
        raise ConfigurationError(
            f"expected the patients of these notes, got a table that names none of the {len(identifiers)} notes; correct its ids"
        )
    found: dict[str | int, list[int]] = {}
    for number, one in enumerate(identifiers):
        found.setdefault(whose.get(one, number), []).append(number)
    return tuple(map(tuple, found.values()))


@dataclass
class OnceEach:
    """Documents, each text once: noise covers what one note may change, and a note that is there twice would change twice as much. Texts alone are
    known again: versions of a note, and other notes of its patient, each count as one.

    Args:
        documents: labelled notes.
        digest: of a text; None passes all.
        whose: the patient of each, by its identifier: a text counts once for each patient, since a copy that came and went with the notes
            of another one would change two samples.
        left_out: texts that had come before, once all were read.
    """

    documents: Iterable[Document]
    digest: NoteDigest | None
    whose: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0

    def __iter__(self) -> Iterator[Document]:
        came = set[tuple[str | None, bytes]]()
        for document in self.documents:
            if self.digest is not None:
                known = (self.whose.get(document.identifier), self.digest(document.text))
                if known in came:
                    self.left_out += 1
                    continue
                came.add(known)
            yield document


def read_notes(
    documents: Iterable[Document], construction: Construction, digest: NoteDigest | None = None
) -> LabelledNotes:
    """Labelled documents, note by note.

    Args:
        documents: in the words of the construction's scheme.
        construction: of the release.
        digest: of a text, by which the site knows it again.

    Raises:
        CorpusError: there are none, or none holds a sentence.
    """
    notes, words, digests, identifiers = [], [], set(), []
    for document in documents:
        chunks = list(tokenised_chunks(tokenise_documents([document]), construction.scheme))
        shown = [construction.noise_free(chunk) for chunk in chunks]
        if shown:
            notes.append(RaggedSentences.concatenate(shown))
            words.append(TokenisedSentences.concatenate(chunks))
            identifiers.append(document.identifier)
            if digest is not None:
                digests.add(digest(document.text))
    if not notes:
        raise CorpusError("expected labelled notes to train on, found none; check the folder")
    known = None if digest is None else frozenset(digests)
    return LabelledNotes(tuple(notes), tuple(words), known, identifiers=tuple(identifiers))
