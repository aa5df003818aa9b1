"""`aggregator train-repr`: a construction, made from public notes and frozen.

Which procedures there are says `shared.constructions.registry`, and docs/privacy.md what each guarantees.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aggregator.training.augmenting import Augmenting
from aggregator.training.unfinished import keep_unfinished
from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.folders import new_folder
from protocols.payload.sentence_block import SentenceBlock
from protocols.payload.shuffled_writer import ShuffledWriter
from shared.anonymity.public_lists import PublicList
from shared.anonymity.public_words import PublicRule
from shared.anonymity.shipped_lists import shipped_lists
from shared.constructions.construction import Construction
from shared.constructions.registry import find_procedure
from shared.constructions.training import TrainingMaterial, TrainingOptions
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, TrainingError
from shared.models.noise_source import PrivateNoise
from shared.progress import Phase, Phases, Watch, unwatched
from shared.sentences.codes import SharedCodes
from shared.sentences.encoding import index_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from shared.text.tokens import Tokens

_SENTENCES = 2048
READ, LEARN, WRITE = "reading the notes", "learning", "your own notes as a share"
# The order of the record's first format; what later constructions add comes after it.
_RECORDED = (
    "public_words",
    "clusters",
    "smallest_cluster",
    "largest_share",
    "recipe",
    "record",
    "noise",
    "surrogate_spans",
)


@dataclass(frozen=True)
class RepresenterOptions(TrainingOptions):
    """What the provider chooses, of the procedures that there are; see TrainingOptions.

    Raises:
        ConfigurationError: a value out of range, no such procedure, or one that can't keep what is asked of it.
    """

    def __post_init__(self) -> None:
        find_procedure(self.procedure).check(self)
        super().__post_init__()

    @property
    def rule(self) -> PublicRule:
        """When a word may be shown as it is: as the provider says, or else the procedure."""
        return self.public or find_procedure(self.procedure).rule


@dataclass(frozen=True)
class PublicMaterial:
    """All that the provider may learn from; none of it is secret.

    Args:
        notes: with PHI labels.
        vectors: of words.
        texts: further public text without labels, which tells what words are common.
        names: lists of names of people and places, each of one kind: surrogates are drawn from them, and a word on a
            list is shown as it is only if it is common and hardly ever has a capital. See `shared.anonymity.names`.
        public_lists: no other word is shown as it is; by default those by which hospitals check a release.
        augmenting: makes copies of the notes, by the methods that the options name; what it draws PHI from is published in clear.
    """

    notes: Iterable[Document]
    vectors: WordVectors
    texts: Iterable[str] = ()
    names: tuple[tuple[str, ...], ...] = ()
    public_lists: Sequence[PublicList] = field(default_factory=shipped_lists)
    augmenting: Augmenting = field(default_factory=lambda: Augmenting(None, {"methods": []}))


@dataclass(frozen=True)
class RepresenterTraining:
    """What a construction was made of; its record lies beside the weights.

    Args:
        options: of the training.
        notes: digests of the notes, sorted: an audit says how many of those that it attacks are among them.
        sentences: of these notes.
        tokens: of them.
        phi_tokens: tokens that are labelled.
        embeddings: digest of the construction's word vectors.
        dim: size of what a head gets for a token.
        told: what the training and the construction say of themselves, in JSON's types; each procedure says other things.
    """

    options: RepresenterOptions
    notes: tuple[str, ...]
    sentences: int
    tokens: int
    phi_tokens: int
    embeddings: str
    dim: int
    told: Mapping[str, Any]

    def as_json(self) -> dict[str, object]:
        """The record."""
        first = {name: self.told[name] for name in _RECORDED if name in self.told}
        return {
            "options": asdict(self.options) | {"public": asdict(self.options.rule)},
            "notes": list(self.notes),
            "sentences": self.sentences,
            "tokens": self.tokens,
            "phi_tokens": self.phi_tokens,
            "embeddings": self.embeddings,
            "dim": self.dim,
            **first,
            **{name: value for name, value in self.told.items() if name not in first},
        }


def train(
    workspace: Workspace,
    material: PublicMaterial,
    options: RepresenterOptions,
    watch: Watch = unwatched,
    *,
    resume: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> RepresenterTraining:
    """Make the representer from public notes and put the result into the workspace.

    Args:
        workspace: the provider's.
        material: what may be learned from.
        options: how.
        watch: is told how far it is.
        resume: go on with a training that was cut; it ends in the same representer.
        tell: is told where one that was cut is given up.

    Raises:
        WorkspaceError, ConfigurationError: there is nothing to go on with, or it had other inputs.
        TrainingError: the notes have no token, or no PHI.
        ConfigurationError: the clusters cannot be as large, or their words as evenly used, as the options ask.
    """
    if set(options.augment) != set(material.augmenting.facts["methods"]):
        raise ConfigurationError("expected what makes the copies that the options ask for, got another; give both")
    inputs = {
        "word vectors": material.vectors.digest,
        "lists of names": _digest(material.names),
        **asdict(options),
        "augment": material.augmenting.facts,
    }
    with keep_unfinished(workspace, "train-repr", inputs, resume=resume, tell=tell) as kept:
        phases = Phases((Phase(READ, 1), Phase(LEARN, 1, staged=True), Phase(WRITE, 1)), watch)
        made = _make(workspace, material, options, phases, kept / "checkpoint")
        phases.end()
    return made


def _make(
    workspace: Workspace, material: PublicMaterial, options: RepresenterOptions, phases: Phases, kept: Path
) -> RepresenterTraining:
    phases.begin(READ)
    digests: list[str] = []
    sentences: list[int] = []
    notes = _counted(tokenise_documents(_digested(material.notes, digests)), sentences)
    chunks = list(tokenised_chunks(notes, workspace.scheme))
    if not chunks:
        raise TrainingError("expected labelled public notes with at least one token, got none; check the corpus")
    augmentation = material.augmenting.augmentation
    copies = [] if augmentation is None else list(augmentation.copies(chunks, options.seed))
    originals = np.zeros(0, dtype=np.int64) if augmentation is None else augmentation.originals(chunks)
    trained = find_procedure(options.procedure).train(
        TrainingMaterial(
            chunks,
            material.vectors,
            workspace.scheme,
            material.texts,
            material.names,
            workspace.root / "cache",
            material.public_lists,
            np.repeat(np.arange(len(sentences)), sentences),
            kept,
            copies,
            originals,
        ),
        options,
        phases.begin(LEARN),
    )
    phases.begin(WRITE)
    construction = trained.construction
    source, _ = index_sentences(chunks, construction.vectors)
    made = RepresenterTraining(
        options=options,
        notes=tuple(sorted(digests)),
        sentences=source.sentences,
        tokens=source.tokens,
        phi_tokens=int((source.tags > 0).sum()),
        embeddings=construction.vectors.digest,
        dim=construction.dim,
        told=trained.record | construction.facts() | _copied(material.augmenting, copies),
    )
    with new_folder(workspace.representer) as folder:
        construction.save(folder)
        write_text(folder / "training.json", json.dumps(made.as_json(), indent=1), private=False)
        write_public_share(source, construction, folder / "public.parquet")
    return made


def _copied(augmenting: Augmenting, copies: Sequence[TokenisedSentences]) -> dict[str, object]:
    """What the record says of copies; nothing where there are none."""
    if augmenting.augmentation is None:
        return {}
    return {"augment": augmenting.facts | {"sentences": sum(chunk.sentences for chunk in copies)}}


def _digest(names: Sequence[Sequence[str]]) -> str:
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()


def _digested(notes: Iterable[Document], digests: list[str]) -> Iterator[Document]:
    for note in notes:
        digests.append(note.digest)
        yield note


def _counted(notes: Iterable[tuple[Document, Tokens]], sentences: list[int]) -> Iterator[tuple[Document, Tokens]]:
    for document, tokens in notes:
        sentences.append(len(tokens.sentence_starts))
        yield document, tokens


def write_public_share(source: RaggedSentences, construction: Construction, path: Path) -> None:
    """The provider's own notes, encoded like a hospital's, so that they can join the pool.

    They are public, but the head must see one kind of input, from every source: noisy representations, or what is read from codes.
    """
    noise, rows = PrivateNoise(), construction.rows()
    with ShuffledWriter(path, dim=rows.dim, features=rows.features) as writer:
        for begin in range(0, source.sentences, _SENTENCES):
            piece = source.select(np.arange(begin, min(begin + _SENTENCES, source.sentences)))
            shown = construction.share_public_sentences(piece, noise)
            if isinstance(shown, SharedSentences):
                rows.check(shown.values)
            writer.append(block_of(shown))


def block_of(shown: SharedSentences | SharedCodes) -> SentenceBlock:
    """What may leave, in the layout of a payload."""
    return SentenceBlock(shown.stored, shown.tags, shown.casing, shown.lengths.astype("<i4"), shown.features)
