"""The hospital's labelled notes as a head gets them, note by note: here as in-house, elsewhere as a share would show them. Nothing of this leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from shared.constructions.construction import Construction
from shared.document import Document
from shared.errors import CorpusError
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
    """

    notes: Sequence[RaggedSentences]
    words: Sequence[TokenisedSentences] = ()
    digests: frozenset[bytes] | None = None
    as_shared: bool = False
    left_out: int = 0

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


@dataclass
class OnceEach:
    """Documents, each text once: noise covers what one note may change, and a note that is there twice would change twice as much. Texts alone are
    known again: versions of a note, and other notes of its patient, each count as one.

    Args:
        documents: labelled notes.
        digest: of a text; None passes all.
        left_out: texts that had come before, once all were read.
    """

    documents: Iterable[Document]
    digest: NoteDigest | None
    left_out: int = 0

    def __iter__(self) -> Iterator[Document]:
        came = set[bytes]()
        for document in self.documents:
            if self.digest is not None:
                known = self.digest(document.text)
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
    notes, words, digests = [], [], set()
    for document in documents:
        chunks = list(tokenised_chunks(tokenise_documents([document]), construction.scheme))
        shown = [construction.noise_free(chunk) for chunk in chunks]
        if shown:
            notes.append(RaggedSentences.concatenate(shown))
            words.append(TokenisedSentences.concatenate(chunks))
            if digest is not None:
                digests.add(digest(document.text))
    if not notes:
        raise CorpusError("expected labelled notes to train on, found none; check the folder")
    return LabelledNotes(tuple(notes), tuple(words), None if digest is None else frozenset(digests))
