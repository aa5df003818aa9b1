"""`aggregator train-repr`: the representer, trained on public notes and frozen (Friedrich et al. 2019, sections 4 and 5)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from aggregator.workspace import Workspace
from protocols.sentence_block import SentenceBlock
from protocols.shuffled_writer import ShuffledWriter
from shared.augment.pseudonyms import Pseudonymiser
from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.encoding import embedded_corpus, represented
from shared.errors import ConfigurationError, TrainingError
from shared.files import new_folder, write_text
from shared.models.noise_source import PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.pipeline import Encoder, save_encoder
from shared.training.batches import RaggedSentences
from shared.training.pairs import neighbour_table
from shared.training.tagging import Progress, silent
from shared.training.three_part import ThreePartConfig, train_representer

_SENTENCES = 2048

PRESETS = {
    # Minutes on two cores for a few hundred short notes: for the demonstration and for trying things out.
    "quick": ThreePartConfig(task_epochs=6, adversary_epochs=1, joint_epochs=4, adversary_hidden=48),
    # MEDDOCAN's 500 notes in about a quarter of an hour on one core.
    "standard": ThreePartConfig(task_epochs=6, adversary_epochs=2, joint_epochs=6, adversary_hidden=96),
    # The paper's section 5.3: 20, 20 and 40 epochs against adversaries of 300 units.
    "paper": ThreePartConfig(task_epochs=20, adversary_epochs=20, joint_epochs=40, adversary_hidden=300),
}


@dataclass(frozen=True)
class RepresenterOptions:
    """What the provider chooses.

    Args:
        neighbours: N, candidates among which an adversary should not find the true word, itself included.
        dim: d, size of the representation.
        preset: name of an entry of PRESETS.
        seed: of the training.
    """

    neighbours: int = 100
    dim: int = 50
    preset: str = "standard"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigurationError(f"expected a preset among {', '.join(PRESETS)}, got {self.preset!r}")
        if self.neighbours < 2:
            raise ConfigurationError(f"expected at least 2 neighbours, the word itself included, got {self.neighbours}")


def train(
    workspace: Workspace,
    documents: Iterable[Document],
    vectors: WordVectors,
    options: RepresenterOptions,
    progress: Progress = silent,
) -> dict[str, object]:
    """Train on public notes and put the result into the workspace.

    Returns:
        what happened: sizes, settings, record of the training, noise scales; also written beside the weights.
    """
    source, words = embedded_corpus(documents, vectors, workspace.scheme)
    if not source.sentences:
        raise TrainingError("expected labelled public notes with at least one token, got none; check the corpus")
    pseudonyms = Pseudonymiser(Neighbours(vectors), options.neighbours)
    table = neighbour_table(
        source, words, pseudonyms, np.random.default_rng(options.seed), cache=workspace.root / "cache"
    )
    recipe = replace(PRESETS[options.preset], seed=options.seed)
    shape = RepresenterConfig(vectors.dim, options.dim)
    representer, record = train_representer(source, table, len(workspace.scheme.tags), shape, recipe, progress)
    summary: dict[str, object] = {
        "options": asdict(options),
        "recipe": asdict(PRESETS[options.preset]),
        "sentences": source.sentences,
        "tokens": source.tokens,
        "phi_tokens": int((source.tags > 0).sum()),
        "embeddings": vectors.digest,
        # JSON has no NaN, which stands for what a part of the training does not measure.
        "record": {
            name: [None if value != value else value for value in values] for name, values in asdict(record).items()
        },
        "noise": representer.noise_scales(),
    }
    with new_folder(workspace.representer) as folder:
        save_encoder(Encoder(vectors, representer, workspace.scheme), folder)
        write_text(folder / "training.json", json.dumps(summary, indent=1))
        write_public_share(source, representer, folder / "public.parquet")
    return summary


def write_public_share(source: RaggedSentences, representer: Representer, path: Path) -> None:
    """The provider's own notes, encoded like a hospital's, so that they can join the pool.

    They are public, but the head must see one kind of input: noisy representations, from every source.
    """
    noise = PrivateNoise()
    with ShuffledWriter(path, dim=representer.config.dim) as writer:
        for begin in range(0, source.sentences, _SENTENCES):
            piece = source.select(np.arange(begin, min(begin + _SENTENCES, source.sentences)))
            shown = represented(piece, representer, noise)
            writer.append(
                SentenceBlock(
                    shown.values.astype("<f2", copy=False), shown.tags, shown.casing, shown.lengths.astype("<i4")
                )
            )
