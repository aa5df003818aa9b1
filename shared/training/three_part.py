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
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.ragged import RaggedSentences
from shared.training.adversaries import AdversarialTraining, share_right
from shared.training.pairs import NeighbourTable
from shared.training.representing import TrainingRecord
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


class _Trainer(AdversarialTraining):
    """The three parts."""

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: ThreePartConfig,
        progress: Progress,
    ) -> None:
        super().__init__(source, table, tags, shape, config, progress)
        self.config = config
        self.pair_steps = -(-len(self.with_phi) // self.pairs)
        self.total = self.steps * (config.task_epochs + config.joint_epochs) + self.pair_steps * config.adversary_epochs

    def learn_task(self) -> None:
        for _ in range(self.config.task_epochs):
            losses = []
            for batch in self.source.batches(self.config.batch, self.generator):
                loss = self.task_loss(batch)
                self.descend(loss, (self.task, self.task_parameters))
                losses.append(loss.item())
                self.tick("task")
            self.note("task", losses, [])

    def learn_attack(self) -> None:
        pairs = self.pair_batches()
        for _ in range(self.config.adversary_epochs):
            right: list[float] = []
            for _ in range(self.pair_steps):
                right.append(self.attack_step(next(pairs)))
                self.tick("adversaries")
            self.note("adversaries", [], right)

    def attack_step(self, rows: NDArray[np.int64]) -> float:
        batch, twin = self.twins(rows)
        with torch.no_grad():
            shown, again = self.shown_pairs(batch, twin)
        true, false = self.decided(batch, shown, again)
        self.descend(self.adversary_loss(true, false).mean(), (self.attack, self.adversaries.parameters()))
        return share_right(true, false)

    def learn_jointly(self) -> None:
        pairs = self.pair_batches()
        fall = torch.optim.lr_scheduler.LinearLR(self.task, 1.0, 0.02, self.config.joint_epochs * self.steps)
        for _ in range(self.config.joint_epochs):
            losses: list[float] = []
            right: list[float] = []
            for batch in self.source.batches(self.config.batch, self.generator):
                task = self.task_loss(batch)
                pair, twin = self.twins(next(pairs))
                logits = self.decided(pair, *self.shown_pairs(pair, twin))
                distance = (self.adversary_loss(*logits) - math.log(2)).abs().mean()
                self.descend(task + self.config.weight * distance, (self.task, self.task_parameters))
                losses.append(task.item())
                fall.step()
                right.append(self.attack_step(next(pairs)))
                self.tick("joint")
            self.note("joint", losses, right)


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
    return trainer.frozen()
