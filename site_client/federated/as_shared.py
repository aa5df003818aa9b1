"""The hospital's labelled notes as a share of them would show them, for hospitals that train together on nothing else.

What `encode` does to sentences is done here, note by note: what nobody has labelled and is probably PHI is hidden, spans get public lengths, and
public PHI takes the place of labelled PHI, where the construction replaces it. Codes are then read as the provider would read them, under another
draw in every round. So a round, and what is measured of a head, hang on labelled PHI no more than a share does. What `encode` does to a share as a
whole is not done, for there is none: nothing is mixed over the notes, nobody approves it, and rounds read the same notes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from shared.constructions.construction import Construction
from shared.constructions.decoding import Decoding
from shared.document import Document
from shared.errors import CorpusError
from shared.labels import HIDDEN
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from site_client.checking.checker import make_checker
from site_client.errors import PolicyError
from site_client.federated.notes import LabelledNotes, NoteDigest, group_by_patient
from site_client.policy.enforcing import Judgement, Step, require_kept
from site_client.policy.examining import public_lists
from site_client.policy.own_notes import BankWatch, judge_on_notes
from site_client.sharing.encode import first_notes, noises_of
from site_client.sharing.guard import Guard, neighbours_of
from site_client.workspace import Workspace


@dataclass(frozen=True, repr=False)
class CodedNotes(LabelledNotes):
    """Notes of which a share would hold codes.

    Args:
        codes: of the sentences of each note.
        decoding: of the construction.
    """

    codes: Sequence[CodedSentences] = ()
    decoding: Decoding | None = None

    def drawn(self) -> Self:
        """See LabelledNotes: codes stand for many words, and each round reads others."""
        assert self.decoding is not None
        # Nobody could draw it again, so a note that is left out changes nothing of how the others are read.
        generator = np.random.default_rng()
        words = tuple(_draw(self.decoding, one, generator) for one in self.codes)
        return replace(self, notes=tuple(map(self.decoding.read_words, words)), words=words)


def read_as_shared(
    workspace: Workspace,
    judgement: Judgement,
    construction: Construction,
    documents: Iterable[Document],
    digest: NoteDigest | None = None,
    whose: Mapping[str, str] | None = None,
) -> LabelledNotes:
    """Labelled documents, note by note, as a share would show them.

    Args:
        workspace: of the site, whose secret the noise of its shares hangs on.
        judgement: of the release in use.
        construction: of it.
        documents: in the words of the construction's scheme.
        digest: of a text, by which the site knows it again.
        whose: the patient of each note; where it is known, patients are counted.

    Raises:
        PolicyError: what the release shows of these notes does not keep the policy, or there are fewer than a share must hold.
        CorpusError: there are none, or not one label.
        WorkspaceError: the secret of the noise is gone.
    """
    folder = workspace.release().folder
    first, documents = first_notes(documents)
    judgement = judge_on_notes(workspace, judgement, construction, first, None)
    require_kept(workspace, judgement, Step.FEDERATE)
    bank = BankWatch(construction, public_lists(workspace, judgement.policy))
    noise, checking = noises_of(workspace, construction, folder)
    guard = Guard(construction, neighbours_of(folder), None, checking)
    checker = make_checker(workspace, construction.scheme) if construction.replaces_phi else None

    shown, digests, identifiers, labelled = [], set(), list[str](), False
    for document in documents:
        labelled = labelled or any(one.category != HIDDEN for one in document.annotations)
        pieces = []
        for chunk in tokenised_chunks(tokenise_documents([_doubted(document, checker)]), construction.scheme):
            bank.add(chunk.words)
            passed, factors = guard.admit_sentences(chunk)
            if passed.sentences:
                sent = construction.with_public_lengths(passed, noise)
                pieces.append(construction.share_sentences(sent, noise, factors))
        if pieces:
            shown.append(pieces)
            identifiers.append(document.identifier)
            if digest is not None:
                digests.add(digest(document.text))
    require_kept(workspace, bank.judged(judgement), Step.FEDERATE)
    if not labelled:
        raise CorpusError("expected labelled notes to train on, found none; check the folder")
    unit, count = ("notes", len(shown)) if whose is None else ("patients", len(group_by_patient(identifiers, whose)))
    if count < judgement.policy.least_new_notes:
        raise PolicyError(
            f"expected at least {judgement.policy.least_new_notes} {unit}, as this hospital's policy asks of a share, got {count}; among "
            f"fewer, a sentence can be told to be of a certain one; take part with more {unit}"
        )
    known = None if digest is None else frozenset(digests)
    decoding = construction.decoding()
    if decoding is None:
        rows = [
            RaggedSentences.concatenate([one for one in pieces if isinstance(one, RaggedSentences)]) for pieces in shown
        ]
        return LabelledNotes(tuple(rows), (), known, as_shared=True, identifiers=tuple(identifiers))
    codes = [CodedSentences.concatenate([one for one in pieces if isinstance(one, CodedSentences)]) for pieces in shown]
    notes = CodedNotes((), (), known, as_shared=True, identifiers=tuple(identifiers), codes=codes, decoding=decoding)
    return notes.drawn()


def _doubted(document: Document, checker: Checker | None) -> Document:
    """The note with what is probably PHI and nobody has labelled marked as doubtful; by itself, since no note may change how another is read."""
    if checker is None:
        return document
    (found,) = checker.check([document])
    return found.with_doubts(HIDE_ABOVE)


def _draw(decoding: Decoding, codes: CodedSentences, generator: np.random.Generator) -> TokenisedSentences:
    """Words that a note may have been made of, as far as its codes tell; of what nobody has labelled nobody knows whether it is PHI."""
    labelled = replace(codes, tags=np.where(codes.known, codes.tags, np.uint8(0)))
    return decoding.draw_words(labelled, generator).with_tags(codes.tags)
