"""The three-part training of a representer against two adversaries (Friedrich et al. 2019, section 5.3).

1. Representer and tagger learn the task.
2. The representer is frozen, and the adversaries learn to tell sentences from their false twins.
3. In turn, batch by batch: representer and tagger learn the task while they hold the adversaries at chance, by the
   loss  L_tag + weight * |L_adversary - log 2|;  then the adversaries catch up.

The reference code stops part 3 early by its training data and keeps the noise free in sign. Here the number of epochs is
fixed, the learning rate falls linearly over part 3, and no noise falls below the floor of `GaussianNoise`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import ConfigurationError, TrainingError
from shared.models.adversaries import InputAdversary, RepresentationAdversary
from shared.models.representer import Representer, RepresenterConfig
from shared.models.tagger import Tagger, TaggerConfig
from shared.training.batches import Batch, RaggedSentences
from shared.training.pairs import NeighbourTable, false_twins, sentences_with_phi
from shared.training.tagging import Progress, silent


@dataclass(frozen=True)
class ThreePartConfig:
    """How a representer is trained.

    Args:
        task_epochs: passes of part 1.
        adversary_epochs: passes of part 2 over the sentences with PHI.
        joint_epochs: passes of part 3.
        batch: sentences a step for the task; half as many pairs a step for the adversaries.
        learning_rate: of Nadam, for all networks.
        clip: bound on the norm of every gradient.
        weight: of the adversaries' part in the representer's loss.
        adversary_hidden: units a direction; 300 in the paper.
        seed: of everything random.
    """

    task_epochs: int = 6
    adversary_epochs: int = 3
    joint_epochs: int = 6
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    weight: float = 1.0
    adversary_hidden: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.task_epochs, self.adversary_epochs, self.joint_epochs, self.batch, self.adversary_hidden) < 1:
            raise ConfigurationError("three-part training: expected epochs, batch and hidden units of at least 1")
        if min(self.learning_rate, self.clip, self.weight) <= 0:
            raise ConfigurationError("three-part training: expected learning rate, clip and weight above 0")


@dataclass
class TrainingRecord:
    """What happened, for the report: one entry an epoch.

    Args:
        task_loss: nats a sentence on training sentences.
        adversary_accuracy: share of pairs that the adversaries in training decide right; 0.5 is chance.
        noise: smallest standard deviation of the output noise.
    """

    part: list[str] = field(default_factory=list)
    task_loss: list[float] = field(default_factory=list)
    adversary_accuracy: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)


class _Trainer:
    """The networks and optimisers of one training."""

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: ThreePartConfig,
        progress: Progress,
    ) -> None:
        torch.manual_seed(config.seed)
        self.source, self.table, self.config, self.progress = source, table, config, progress
        self.generator = np.random.default_rng(config.seed)
        self.with_phi = sentences_with_phi(source, table)
        if not len(self.with_phi):
            raise TrainingError(
                "expected sentences with PHI to train the adversaries on, got none; check the labels of the corpus"
            )
        self.representer = Representer(shape)
        self.tagger = Tagger(TaggerConfig(shape.dim, tags))
        self.adversaries = nn.ModuleList(
            [
                InputAdversary(shape.inputs, shape.dim, config.adversary_hidden),
                RepresentationAdversary(shape.dim, config.adversary_hidden),
            ]
        )
        self.task = torch.optim.NAdam(
            [*self.representer.parameters(), *self.tagger.parameters()], lr=config.learning_rate
        )
        self.attack = torch.optim.NAdam(self.adversaries.parameters(), lr=config.learning_rate)
        self.record = TrainingRecord()
        steps = -(-source.sentences // config.batch)
        pair_steps = -(-len(self.with_phi) // (config.batch // 2 or 1))
        self.total = steps * (config.task_epochs + config.joint_epochs) + pair_steps * config.adversary_epochs
        self.done = 0

    def tick(self, part: str) -> None:
        self.done += 1
        self.progress(part, self.done, self.total)

    def task_loss(self, batch: Batch) -> Tensor:
        representation = self.representer(batch.inputs, batch.lengths)
        return self.tagger.loss(representation, batch.casing, batch.tags, batch.lengths).mean()

    def pair_batches(self) -> Iterator[NDArray[np.int64]]:
        """Rows of sentences with PHI, endlessly, in batches of falling length."""
        size = self.config.batch // 2 or 1
        while True:
            rows = self.generator.permutation(self.with_phi)
            for begin in range(0, len(rows), size):
                chosen = rows[begin : begin + size]
                yield chosen[np.argsort(-self.source.lengths[chosen], kind="stable")]

    def adversary_logits(
        self, rows: NDArray[np.int64], starts: NDArray[np.int64], *, frozen: bool
    ) -> tuple[Tensor, Tensor]:
        """Logit of both adversaries' mean for the true pairs and for the false ones, `[rows]` each.

        Args:
            frozen: keep the representer out of the gradient.
        """
        batch = self.source.batch(rows, starts)
        offsets, replacements = false_twins(self.source, rows, self.table, self.generator)
        twin = batch.inputs.clone()
        twin[torch.arange(len(rows)), torch.from_numpy(offsets)] = torch.from_numpy(
            self.source.values[replacements].astype(np.float32)
        )
        lengths = torch.cat([batch.lengths, batch.lengths])
        with torch.set_grad_enabled(not frozen):
            # Every call draws fresh noise, also for the second look at the same sentence.
            shown = self.representer(torch.cat([batch.inputs, twin]), lengths)
            again = self.representer(batch.inputs, batch.lengths)
        first = self.adversaries[0](torch.cat([batch.inputs, batch.inputs]), shown, lengths)
        second = self.adversaries[1](torch.cat([again, again]), shown, lengths)
        # The paper's loss is on the mean of the two probabilities; the log-odds of that mean serve as its logit.
        mean = (torch.sigmoid(first) + torch.sigmoid(second)) / 2
        logit = torch.logit(mean, eps=1e-6)
        return logit[: len(rows)], logit[len(rows) :]

    @staticmethod
    def adversary_loss(true: Tensor, false: Tensor) -> Tensor:
        """Cross-entropy of each pair of decisions, in nats, `[rows]`; log 2 is chance."""
        return (functional.softplus(-true) + functional.softplus(false)) / 2

    def step(self, loss: Tensor, optimizer: torch.optim.Optimizer, parameters: list[nn.Parameter]) -> None:
        if not bool(torch.isfinite(loss)):
            raise TrainingError(
                f"the loss is not finite at step {self.done} of {self.total}; lower the learning rate or the weight"
            )
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(parameters, self.config.clip)
        optimizer.step()

    def learn_task(self) -> None:
        parameters = [*self.representer.parameters(), *self.tagger.parameters()]
        for _ in range(self.config.task_epochs):
            losses = []
            for batch in self.source.batches(self.config.batch, self.generator):
                loss = self.task_loss(batch)
                self.step(loss, self.task, parameters)
                losses.append(loss.item())
                self.tick("task")
            self.note("task", losses, [])

    def learn_attack(self) -> None:
        pairs, starts = self.pair_batches(), self.source.starts
        steps = -(-len(self.with_phi) // (self.config.batch // 2 or 1))
        for _ in range(self.config.adversary_epochs):
            right: list[float] = []
            for _ in range(steps):
                right.append(self.attack_step(next(pairs), starts))
                self.tick("adversaries")
            self.note("adversaries", [], right)

    def attack_step(self, rows: NDArray[np.int64], starts: NDArray[np.int64]) -> float:
        true, false = self.adversary_logits(rows, starts, frozen=True)
        self.step(self.adversary_loss(true, false).mean(), self.attack, list(self.adversaries.parameters()))
        return float(((true > 0).float().mean() + (false < 0).float().mean()) / 2)

    def learn_jointly(self) -> None:
        parameters = [*self.representer.parameters(), *self.tagger.parameters()]
        pairs, starts = self.pair_batches(), self.source.starts
        steps = self.config.joint_epochs * -(-self.source.sentences // self.config.batch)
        fall = torch.optim.lr_scheduler.LinearLR(self.task, 1.0, 0.02, steps)
        for _ in range(self.config.joint_epochs):
            losses: list[float] = []
            right: list[float] = []
            for batch in self.source.batches(self.config.batch, self.generator):
                task = self.task_loss(batch)
                logits = self.adversary_logits(next(pairs), starts, frozen=False)
                distance = (self.adversary_loss(*logits) - math.log(2)).abs().mean()
                self.step(task + self.config.weight * distance, self.task, parameters)
                losses.append(task.item())
                fall.step()
                right.append(self.attack_step(next(pairs), starts))
                self.tick("joint")
            self.note("joint", losses, right)

    def note(self, part: str, losses: list[float], right: list[float]) -> None:
        self.record.part.append(part)
        self.record.task_loss.append(float(np.mean(losses)) if losses else math.nan)
        self.record.adversary_accuracy.append(float(np.mean(right)) if right else math.nan)
        self.record.noise.append(min(self.representer.noise_scales()["output"]))


def train_representer(
    source: RaggedSentences,
    table: NeighbourTable,
    tags: int,
    shape: RepresenterConfig,
    config: ThreePartConfig,
    progress: Progress = silent,
) -> tuple[Representer, TrainingRecord]:
    """Train a representer on public notes.

    Args:
        source: labelled public sentences as word ids into unit word vectors.
        table: what each word id may be replaced by.
        tags: number of tags of the label scheme.
        shape: the representer.
        config: the recipe.
        progress: called after every step.

    Returns:
        the frozen representer and the record of its training.

    Raises:
        TrainingError: no sentence holds PHI, or the loss is not finite any more.
    """
    trainer = _Trainer(source, table, tags, shape, config, progress)
    trainer.learn_task()
    trainer.learn_attack()
    trainer.learn_jointly()
    for parameter in trainer.representer.parameters():
        parameter.requires_grad_(False)
    return trainer.representer.eval(), trainer.record
