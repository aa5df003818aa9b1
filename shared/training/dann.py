"""DANN training of a representer against two adversaries (Friedrich et al. 2019, section 5.4, after Ganin et al. 2016).

Representer, tagger and adversaries learn at once, from one loss:  L_tag + L_adversary. Between representer and adversaries
lies a gradient reversal: forward nothing changes, backward the gradient is multiplied by -lambda. So the adversaries go
down their loss, while the representer goes up it. Lambda rises from 0 to `weight` over the training, by the schedule of
Ganin et al. 2016 (section 5.2.2): while the adversaries know nothing yet, their gradient is noise.

The reference code of Friedrich et al. holds no DANN training that runs, so the schedule is that of the method's authors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
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
class DannConfig:
    """How a representer is trained.

    Args:
        epochs: passes over the sentences; beside every batch of them goes one of pairs.
        batch: sentences a step for the task; half as many pairs a step for the adversaries.
        learning_rate: of Nadam, for all networks.
        clip: bound on the norm of the gradient, once for representer and tagger, once for the adversaries.
        weight: lambda at the end of the training.
        ramp: how fast lambda rises; 10 in Ganin et al., 0 for no rise at all.
        adversary_hidden: units a direction; 300 in the paper.
        seed: of everything random.
    """

    epochs: int = 12
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    weight: float = 1.0
    ramp: float = 10.0
    adversary_hidden: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch, self.adversary_hidden) < 1:
            raise ConfigurationError("DANN training: expected epochs, batch and hidden units of at least 1")
        if min(self.learning_rate, self.clip, self.weight) <= 0 or self.ramp < 0:
            raise ConfigurationError(
                "DANN training: expected learning rate, clip and weight above 0 and a ramp of at least 0"
            )

    def strength(self, progress: float) -> float:
        """Lambda after a share of the training, in [0, 1]: weight * (2 / (1 + exp(-ramp * progress)) - 1)."""
        if not self.ramp:
            return self.weight
        return self.weight * math.tanh(self.ramp * progress / 2)


class _Reversal(torch.autograd.Function):
    """The identity, whose gradient is that of -strength times the identity."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, strength: float) -> Tensor:
        context.strength = strength
        return inputs.view_as(inputs)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0] * -context.strength, None


def reverse_gradient(inputs: Tensor, strength: float) -> Tensor:
    """The inputs; going back, their gradient is multiplied by -strength."""
    result: Tensor = _Reversal.apply(inputs, strength)  # type: ignore[no-untyped-call]
    return result


class _Trainer(AdversarialTraining):
    """All networks at once."""

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: DannConfig,
        progress: Progress,
    ) -> None:
        super().__init__(source, table, tags, shape, config, progress)
        self.config = config
        self.loop.total = self.steps * config.epochs

    def losses(self, batch: Batch, pair: Batch, twin: Tensor) -> tuple[Tensor, Tensor, float]:
        """Loss of the tagger, loss of the adversaries after the reversal, and how many pairs they decide right."""
        task = self.task_loss(batch)
        strength = self.config.strength(self.loop.done / self.loop.total)
        shown, again = (reverse_gradient(view, strength) for view in self.represent_pairs(pair, twin))
        true, false = self.decide(pair, shown, again)
        return task, self.adversary_loss(true, false).mean(), right_share(true, false)

    def learn(self) -> None:
        pairs = self.pair_batches()
        # As in the last part of the three-part training: the networks come to rest against each other.
        for side in (self.task, self.attack):
            side.fall_to(0.02, self.loop.total)

        def step(batch: Batch) -> Step:
            task, attack, right = self.losses(batch, *self.twins(next(pairs)))
            self.loop.descend(task + attack, self.task, self.attack)
            for side in (self.task, self.attack):
                side.lower_rate()
            return Step(task.item(), right)

        for steps in self.loop.passes("joint", self.config.epochs, self.batches, step):
            self.note("joint", steps)


def train_representer(
    source: RaggedSentences,
    table: NeighbourTable,
    tags: int,
    shape: RepresenterConfig,
    config: DannConfig,
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
        trainer.learn()
    return trainer.finish()
