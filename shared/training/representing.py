"""What every training of a representer shares: the networks, the task, the false twins, and the record.

The procedures differ in how they keep a word from its neighbours: `three_part` and `dann` by adversaries, `invariance`
by a distance in closed form. A procedure is a function

    train_representer(source, table, tags, shape, config, progress) -> (representer, record)

and `procedures` lists them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shared.errors import TrainingError
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress
from shared.sentences.ragged import Batch, RaggedSentences, batch_rows
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.taggers.tagger import Tagger
from shared.training.adversarial.pairs import NeighbourTable, sentences_with_phi, twin_batch
from shared.training.checkpoint import Checkpoint, digest_arrays
from shared.training.loop import Descent, TrainingLoop
from shared.training.parts import Course, Part


class Recipe(Protocol):
    """The settings that every procedure has: sentences a step, bound on a gradient's norm, seed."""

    @property
    def batch(self) -> int:
        """Sentences in a batch."""

    @property
    def clip(self) -> float:
        """L2 norm that gradients are clipped to."""

    @property
    def seed(self) -> int:
        """Of all chance in the training."""


@dataclass
class TrainingRecord:
    """What happened, for the report: one entry an epoch, NaN for what a part does not measure.

    Args:
        part: of the procedure.
        task_loss: nats a sentence on training sentences.
        adversary_accuracy: share of pairs that the adversaries in training decide right; 0.5 is chance. Where there are no
            adversaries, that of the best that can exist (see `invariance`).
        noise: smallest standard deviation of the output noise.
        held_loss: what ends the part, on sentences that nobody learns from, in nats; NaN where nothing is held back.
    """

    part: list[str] = field(default_factory=list)
    task_loss: list[float] = field(default_factory=list)
    adversary_accuracy: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)
    held_loss: list[float] = field(default_factory=list)


class Step(NamedTuple):
    """What a step measured, for the record; NaN for what it does not measure.

    Args:
        task_loss: nats a sentence.
        accuracy: of the adversaries, see TrainingRecord.
    """

    task_loss: float = math.nan
    accuracy: float = math.nan


class RepresenterTraining:
    """The networks of one training and its random choices; see `seed_training`, under which all of it must run.

    Args:
        source: labelled public sentences as word ids into unit word vectors.
        table: what each word id may be replaced by.
        tags: number of tags of the label scheme.
        shape: the representer.
        recipe: the settings.
        progress: called after every step.
        checkpoint: file that keeps the training between epochs; None keeps nothing.

    Raises:
        TrainingError: no sentence holds PHI.
    """

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        recipe: Recipe,
        progress: Progress,
        checkpoint: Path | None = None,
    ) -> None:
        self.source, self.table, self.recipe = source, table, recipe
        self.generator = np.random.default_rng(recipe.seed)
        self.with_phi = sentences_with_phi(source, table)
        if not len(self.with_phi):
            raise TrainingError(
                "expected sentences with PHI to tell from their false twins, got none; check the labels of the corpus"
            )
        self.representer = Representer(shape)
        # The paper's, whatever the default kind is by now: what it trains is a representer.
        self.tagger: Tagger = BiLSTMCRF(BiLSTMCRFConfig(shape.dim, tags))
        self.record = TrainingRecord()
        # Half as many pairs a step as sentences: a pair is two sentences.
        self.pairs = max(recipe.batch // 2, 1)
        self.steps = -(-source.sentences // recipe.batch)
        self.loop = TrainingLoop("representer", 0, progress)
        self.networks = nn.ModuleDict({"representer": self.representer, "tagger": self.tagger})
        self.checkpoint = checkpoint
        # What tells this training from others: its settings, and what it learns from.
        self.told: dict[str, Any] = {"recipe": asdict(recipe), "shape": asdict(shape)}  # type: ignore[call-overload]
        self.told["learned"] = self.digest(source)

    def digest(self, source: RaggedSentences) -> str:
        """SHA-256 of some sentences, with what may stand in the place of their words."""
        own = (source.values, source.casing, source.tags, source.lengths, source.ids)
        return digest_arrays(*own, self.table.neighbours, self.table.position)

    def run(self, parts: Sequence[Part], name: str, descents: dict[str, Descent]) -> None:
        """Run the parts of a training, or what is left of them.

        Args:
            parts: in their order.
            name: tells this course from others of the same training.
            descents: all that it goes down by.
        """
        kept = None
        if self.checkpoint is not None:
            path = self.checkpoint.with_suffix(f".{name}.safetensors")
            kept = Checkpoint(path, self.told, self.networks, descents, self.generator)
        Course(self.networks, kept, self._facts, self._take_up).run(parts)

    def _facts(self) -> dict[str, Any]:
        return {"record": asdict(self.record), "steps": self.loop.done}

    def _take_up(self, facts: dict[str, Any]) -> None:
        self.record = TrainingRecord(**facts["record"])
        self.loop.take_up(facts["steps"])

    @property
    def task_parameters(self) -> list[nn.Parameter]:
        """All of representer and tagger."""
        return [*self.representer.parameters(), *self.tagger.parameters()]

    def task_loss(self, batch: Batch, noise: torch.Generator | None = None) -> Tensor:
        """Nats a sentence of the tagger on fresh noisy representations; None for torch's own generator."""
        representation = self.representer(batch.inputs, batch.lengths, noise or torch.default_generator)
        return self.tagger.loss(replace(batch, inputs=representation)).mean()

    def batches(self) -> Iterator[Batch]:
        """Those of one pass over all sentences."""
        return self.source.batches(self.recipe.batch, self.generator)

    def pair_pass(self) -> Iterator[NDArray[np.int64]]:
        """Rows of sentences with PHI, each once, in batches of like length."""
        for rows in batch_rows(self.source.lengths[self.with_phi], self.pairs, self.generator):
            yield self.with_phi[rows]

    def pair_batches(self) -> Iterator[NDArray[np.int64]]:
        """The same, pass after pass, endlessly."""
        while True:
            yield from self.pair_pass()

    def twins(self, rows: NDArray[np.int64]) -> tuple[Batch, Tensor]:
        """Some sentences, and the word vectors of their false twins; see `twin_batch`."""
        return twin_batch(self.source, rows, self.table, self.generator)

    def note(self, part: str, steps: Sequence[Step], held_loss: float = math.nan) -> None:
        """An epoch is done."""
        self.record.part.append(part)
        self.record.task_loss.append(float(np.mean([step.task_loss for step in steps])))
        self.record.adversary_accuracy.append(float(np.mean([step.accuracy for step in steps])))
        self.record.noise.append(min(self.representer.noise_scales()["output"]))
        self.record.held_loss.append(held_loss)

    def finish(self) -> tuple[Representer, TrainingRecord]:
        """The representer, frozen, and the record."""
        for parameter in self.representer.parameters():
            parameter.requires_grad_(False)
        return self.representer.eval(), self.record
