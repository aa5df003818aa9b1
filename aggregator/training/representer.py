"""`aggregator train-repr`: the representer, made from public notes and frozen.

The constructions, from the paper's to ours; docs/privacy.md says what each guarantees:

- "three-part", "dann": adversarial training as published (Friedrich et al. 2019, sections 4 and 5).
- "invariance": the divergence that the best adversary lives on is made small in closed form.
- "k-anonymous": words outside a public list show the cluster of at least K words that they belong to.
- "k-anonymous-invariance": the one on top of the other.
- "surrogates": a k-anonymous vocabulary, and labelled PHI is replaced by public PHI before anything is computed. The default.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.folders import new_folder
from protocols.payload.sentence_block import SentenceBlock
from protocols.payload.shuffled_writer import ShuffledWriter
from shared.anonymity.public_words import PublicRule, WordUse
from shared.anonymity.surrogates import surrogate_bank
from shared.augment.pseudonyms import Pseudonymiser
from shared.document import Document
from shared.embeddings.generalised import PUBLIC, FoldedVectors, GeneralisedVectors, folded, generalise
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, TrainingError
from shared.models.noise_source import PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.models.token_local import TokenLocal, token_local
from shared.pipeline.pipeline import Encoder, save_encoder
from shared.progress import Progress, silent
from shared.sentences.encoding import indexed
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised, tokenised_chunks
from shared.training import procedures
from shared.training.pairs import neighbour_table

_SENTENCES = 2048

_K_ANONYMOUS = ("surrogates", "k-anonymous", "k-anonymous-invariance")
PROCEDURES = (*_K_ANONYMOUS, *procedures.PROCEDURES)
PRESETS = ("quick", "standard", "paper")
# A word that public notes label PHI more often than that is hidden, where labelled PHI reaches the vocabulary.
_PHI_SHARE = 0.02


@dataclass(frozen=True)
class RepresenterOptions:
    """What the provider chooses.

    Args:
        procedure: one of PROCEDURES.
        neighbours: N, candidates among which an adversary should not find the true word, itself included; only for the
            procedures that are trained against adversaries.
        cluster_size: K, words in a cluster; only for the procedures with a k-anonymous vocabulary.
        max_share: the most that a word may hold of its cluster's frequency in the public notes and texts, in (0, 1]; 1 bounds
            nothing. For the same procedures.
        hide_casing: whether surrogates have a casing and punctuation of their own, so that those of labelled PHI do not travel.
        dim: d, size of the representation; None for the paper's 50 where it is learned, else for that of the word vectors.
        preset: one of PRESETS: how long a procedure is trained, where it is.
        public: when a word may be shown as it is; None for the rule of the procedure, see `rule`.
        seed: of the training.
    """

    procedure: str = "surrogates"
    neighbours: int = 100
    cluster_size: int = 1000
    max_share: float = 1.0
    hide_casing: bool = False
    dim: int | None = None
    preset: str = "standard"
    public: PublicRule | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.procedure not in PROCEDURES:
            raise ConfigurationError(f"expected a procedure among {', '.join(PROCEDURES)}, got {self.procedure!r}")
        if self.preset not in PRESETS:
            raise ConfigurationError(f"expected a preset among {', '.join(PRESETS)}, got {self.preset!r}")
        if self.neighbours < 2:
            raise ConfigurationError(f"expected at least 2 neighbours, the word itself included, got {self.neighbours}")
        if self.hide_casing and self.procedure != "surrogates":
            raise ConfigurationError(
                f"only surrogates can hide the casing of PHI, got {self.procedure!r}; choose one of the two"
            )
        if self.max_share < 1 and self.procedure not in _K_ANONYMOUS:
            raise ConfigurationError(
                f"only a vocabulary of clusters can keep a largest share, got {self.procedure!r}; choose one of the two"
            )
        if not 0 < self.max_share <= 1:
            raise ConfigurationError(f"expected a largest share in (0, 1], got {self.max_share}")

    @property
    def rule(self) -> PublicRule:
        """When a word may be shown as it is.

        Surrogates take the place of labelled PHI ahead of the vocabulary, so there a word is not asked how often it is PHI.
        """
        return self.public or PublicRule(phi_share=1.0 if self.procedure == "surrogates" else _PHI_SHARE)


@dataclass(frozen=True)
class PublicMaterial:
    """All that the provider may learn from; none of it is secret.

    Args:
        notes: with PHI labels.
        vectors: of words.
        texts: further public text without labels, which tells what words are common.
        names: lists of names of people and places, each of one kind: surrogates are drawn from them, and a word on a
            list is shown as it is only if it is common and hardly ever has a capital. See `shared.anonymity.names`.
    """

    notes: Iterable[Document]
    vectors: WordVectors
    texts: Iterable[str] = ()
    names: tuple[tuple[str, ...], ...] = ()


def train(
    workspace: Workspace, material: PublicMaterial, options: RepresenterOptions, progress: Progress = silent
) -> dict[str, object]:
    """Make the representer from public notes and put the result into the workspace.

    Returns:
        what happened: sizes, settings, what is shown, record of a training; also written beside the weights.

    Raises:
        TrainingError: the notes have no token, or no PHI.
        ConfigurationError: the clusters cannot be as large, or their words as evenly used, as the options ask.
    """
    digests: list[str] = []
    chunks = list(tokenised_chunks(tokenised(_digested(material.notes, digests)), workspace.scheme))
    if not chunks:
        raise TrainingError("expected labelled public notes with at least one token, got none; check the corpus")
    vectors, record = material.vectors, dict[str, object]()
    # Twins are near before words are clustered: all words of a cluster are as near, and shown alike anyway.
    neighbours = Neighbours(vectors)
    if options.procedure in _K_ANONYMOUS:
        clear = folded(vectors, material.names)
        neighbours = Neighbours(clear)
        vectors = k_anonymous_vocabulary(clear, material, chunks, options)
        record |= {
            "public_words": vectors.public_words,
            "clusters": len(vectors.centres),
            "smallest_cluster": vectors.k,
            "largest_share": vectors.largest_share,
        }
    if options.procedure in ("surrogates", "k-anonymous"):
        representer: Representer | TokenLocal = token_local(torch.tensor(vectors.matrix), options.dim or vectors.dim)
    else:
        representer, trained = _trained(workspace, vectors, neighbours, chunks, options, progress)
        record |= trained
    bank = None
    if isinstance(vectors, GeneralisedVectors) and options.procedure == "surrogates":
        names = hidden_names(material.names, vectors)
        bank = surrogate_bank(chunks, names, hides_casing=options.hide_casing)
    record["surrogate_spans"] = 0 if bank is None else len(bank.spans)
    encoder = Encoder(vectors, representer, workspace.scheme, bank)
    source, _ = indexed(chunks, encoder.vectors)
    summary: dict[str, object] = {
        "options": asdict(options) | {"public": asdict(options.rule)},
        # An audit says how many of the notes that it attacks are among them.
        "notes": sorted(digests),
        "sentences": source.sentences,
        "tokens": source.tokens,
        "phi_tokens": int((source.tags > 0).sum()),
        "embeddings": encoder.vectors.digest,
        "dim": encoder.dim,
        **record,
    }
    with new_folder(workspace.representer) as folder:
        save_encoder(encoder, folder)
        write_text(folder / "training.json", json.dumps(summary, indent=1), private=False)
        write_public_share(source, encoder, folder / "public.parquet")
    return summary


def _digested(notes: Iterable[Document], digests: list[str]) -> Iterator[Document]:
    for note in notes:
        digests.append(note.digest)
        yield note


def _trained(
    workspace: Workspace,
    vectors: WordVectors,
    neighbours: Neighbours,
    chunks: list[TokenisedSentences],
    options: RepresenterOptions,
    progress: Progress,
) -> tuple[Representer, dict[str, object]]:
    """A representer that hides a word among its neighbours, and the record of its training.

    Args:
        workspace: keeps the searches.
        vectors: what is shown of a word.
        neighbours: search for what may stand in a word's place, over the same words in the same order.
        chunks: the labelled public notes.
        options: procedure, N and preset.
        progress: called after every step.
    """
    procedure = procedures.named(options.procedure.removeprefix("k-anonymous-"))
    source, words = indexed(chunks, vectors)
    pseudonyms = Pseudonymiser(neighbours, options.neighbours)
    table = neighbour_table(
        source, words, pseudonyms, np.random.default_rng(options.seed), cache=workspace.root / "cache"
    )
    recipe = procedure.recipe(options.preset, options.seed)
    shape = RepresenterConfig(vectors.dim, options.dim or 50)
    representer, record = procedure.train(source, table, len(workspace.scheme.tags), shape, recipe, progress)
    return representer, {
        "recipe": asdict(recipe),
        # JSON has no NaN, which stands for what a part of the training does not measure.
        "record": {
            name: [None if value != value else value for value in values] for name, values in asdict(record).items()
        },
        "noise": representer.noise_scales(),
    }


def k_anonymous_vocabulary(
    vectors: FoldedVectors, material: PublicMaterial, chunks: list[TokenisedSentences], options: RepresenterOptions
) -> GeneralisedVectors:
    """Word vectors in which a word outside the public list shows its cluster only.

    Args:
        vectors: of all words, as they are.
        material: texts and names.
        chunks: the labelled public notes.
        options: what a cluster must keep, and when a word is public.

    Raises:
        ConfigurationError: as for `generalise`.
    """
    names = frozenset(word for words in material.names for word in words)
    use = WordUse(vectors.words)
    for chunk in chunks:
        use.add_labelled(chunk)
    use.add_texts(material.texts)
    public = use.public(options.rule, names)
    return generalise(vectors, public, options.cluster_size, use.frequencies, options.max_share)


def hidden_names(lists: tuple[tuple[str, ...], ...], vectors: GeneralisedVectors) -> tuple[tuple[str, ...], ...]:
    """The lists without public words: "Calle" is a surname too, but in an address it is a cue that must stay."""
    kept = (
        tuple(word for word, own in zip(words, vectors.cluster(words).tolist(), strict=True) if own != PUBLIC)
        for words in lists
    )
    return tuple(words for words in kept if words)


def write_public_share(source: RaggedSentences, encoder: Encoder, path: Path) -> None:
    """The provider's own notes, encoded like a hospital's, so that they can join the pool.

    They are public, but the head must see one kind of input: noisy representations, from every source.
    """
    noise = PrivateNoise()
    with ShuffledWriter(path, dim=encoder.dim) as writer:
        for begin in range(0, source.sentences, _SENTENCES):
            piece = source.select(np.arange(begin, min(begin + _SENTENCES, source.sentences)))
            writer.append(_block_of(encoder.shared_as_they_are(piece, noise)))


def _block_of(shown: SharedSentences) -> SentenceBlock:
    """What may leave, in the layout of a payload."""
    return SentenceBlock(shown.values.astype("<f2", copy=False), shown.tags, shown.casing, shown.lengths.astype("<i4"))
