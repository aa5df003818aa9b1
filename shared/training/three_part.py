"""The three-part training of a representer against two adversaries (Friedrich et al. 2019, section 5.4 and Figure 3, after
Feutry et al. 2018).

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
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress, silent
from shared.sentences.ragged import Batch, RaggedSentences
from shared.training.adversaries import AdversarialTraining, right_share
from shared.training.loop import seed_training
from shared.training.pairs import NeighbourTable
from shared.training.representing import Step, TrainingRecord


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
        task_steps = self.steps * (config.task_epochs + config.joint_epochs)
        self.loop.total = task_steps + self.pair_steps * config.adversary_epochs

    def learn_task(self) -> None:
        for steps in self.loop.passes("task", self.config.task_epochs, self.batches, self.task_step):
            self.note("task", steps)

    def task_step(self, batch: Batch) -> Step:
        loss = self.task_loss(batch)
        self.loop.descend(loss, self.task)
        return Step(task_loss=loss.item())

    def learn_attack(self) -> None:
        pairs = self.pair_batches()

        def one_pass() -> Iterator[NDArray[np.int64]]:
            return islice(pairs, self.pair_steps)

        for steps in self.loop.passes("adversaries", self.config.adversary_epochs, one_pass, self.attack_step):
            self.note("adversaries", steps)

    def attack_step(self, rows: NDArray[np.int64]) -> Step:
        batch, twin = self.twins(rows)
        with torch.no_grad():
            shown, again = self.represent_pairs(batch, twin)
        true, false = self.decide(batch, shown, again)
        self.loop.descend(self.adversary_loss(true, false).mean(), self.attack)
        return Step(accuracy=right_share(true, false))

    def learn_jointly(self) -> None:
        pairs = self.pair_batches()
        self.task.fall_to(0.02, self.config.joint_epochs * self.steps)

        def step(batch: Batch) -> Step:
            task, loss = self.joint_loss(batch, next(pairs))
            self.loop.descend(loss, self.task)
            self.task.lower_rate()
            return Step(task.item(), self.attack_step(next(pairs)).accuracy)

        for steps in self.loop.passes("joint", self.config.joint_epochs, self.batches, step):
            self.note("joint", steps)

    def joint_loss(self, batch: Batch, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Loss of the task alone, and with how far the adversaries are from chance on some pairs."""
        task = self.task_loss(batch)
        pair, twin = self.twins(rows)
        logits = self.decide(pair, *self.represent_pairs(pair, twin))
        distance = (self.adversary_loss(*logits) - math.log(2)).abs().mean()
        return task, task + self.config.weight * distance


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
    with seed_training(config.seed):
        trainer = _Trainer(source, table, tags, shape, config, progress)
        trainer.learn_task()
        trainer.learn_attack()
        trainer.learn_jointly()
    return trainer.finish()
