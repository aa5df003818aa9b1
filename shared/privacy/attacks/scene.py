"""What every attack of an audit is given: what is attacked, and what the attacker has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from shared.augment.pseudonyms import Pseudonymiser
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.pipeline.pipeline import Encoder
from shared.progress import Progress, silent
from shared.sentences.tokenised import TokenisedSentences

OwnSet = Callable[[str], Iterable[str]]
"""The words that a construction claims can't be told from a word, always in the same order, the word itself among them or not."""


@dataclass(frozen=True)
class AuditMaterial:
    """What the attacker has, and what it is judged on.

    Args:
        vectors: public word vectors as they are, from which neighbours come.
        known: the attacker's labelled public notes.
        target: labelled notes that are attacked; none of them known.
        names: public full names for the linkage attack; without enough of them it is left out.
        name_categories: PHI categories that hold names of people.
    """

    vectors: WordVectors
    known: Sequence[Document]
    target: Sequence[Document]
    names: Sequence[tuple[str, ...]] = ()
    name_categories: Sequence[str] = ()


@dataclass(frozen=True, repr=False)
class Scene:
    """What all attacks of one audit share.

    Args:
        encoder: what is attacked, frozen.
        material: notes, names and public word vectors.
        known: the sentences of the attacker's notes.
        target: the sentences of the notes that are attacked.
        pseudonyms: the N candidates for a PHI word, by the public vectors.
        own_set: None where the construction has no such set.
        progress: called by attacks that train.
    """

    encoder: Encoder
    material: AuditMaterial
    known: TokenisedSentences
    target: TokenisedSentences
    pseudonyms: Pseudonymiser
    own_set: OwnSet | None
    progress: Progress = silent
