"""DANN training of a representer against two adversaries (Friedrich et al. 2019, section 5.4, after Ganin et al. 2016).

Representer, tagger and adversaries learn at once, from one loss:  L_tag + L_adversary. Between representer and adversaries
lies a gradient reversal: forward nothing changes, backward the gradient is multiplied by -lambda. So the adversaries go
down their loss, while the representer goes up it. Lambda rises from 0 to `weight` over the training, by the schedule of
Ganin et al. 2016 (section 5.2.2): while the adversaries know nothing yet, their gradient is noise.

What Friedrich et al. leave open, and what is done here: the program that they published holds no DANN training that runs, so the
schedule of lambda is that of the method's authors; the learning rate stays, as in the three-part training; the training ends by
the loss that ends part 3 there, L_tag + weight * |L_adversary - log 2| on sentences that are held back, and its best epoch is
restored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress, silent
from shared.sentences.ragged import Batch, RaggedSentences
from shared.training.adversarial.adversaries import AdversarialTraining, right_share
from shared.training.adversarial.pairs import NeighbourTable
from shared.training.loop import seed_training
from shared.training.parts import Part
from shared.training.representing import Step, TrainingRecord


@dataclass(frozen=True)
class DannConfig:
    """How a representer is trained.

    Args:
        epochs: passes over the sentences, at most; beside every batch of them goes one of pairs.
        patience: epochs without a better one that end the training.
        batch: sentences a step for the task; half as many pairs a step for the adversaries.
        learning_rate: of Nadam, for all networks.
        clip: bound on the norm of the gradient, once for representer and tagger, once for the adversaries.
        weight: lambda at the end of the training.
        ramp: how fast lambda rises; 10 in Ganin et al., 0 for no rise at all.
        adversary_hidden: units a direction; 300 in the paper.
        seed: of everything random.
    """

    epochs: int = 12
    patience: int = 10
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    weight: float = 1.0
    ramp: float = 10.0
    adversary_hidden: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.patience, self.batch, self.adversary_hidden) < 1:
            raise ConfigurationError("DANN training: expected epochs, patience, batch and hidden units of at least 1")
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


class DannTraining(AdversarialTraining):
    """All networks at once; see AdversarialTraining."""

    def learn(self, config: DannConfig) -> None:
        """The whole training, or what is left of it where it goes on from a checkpoint."""
        self.loop.total = self.loop.done + self.steps * config.epochs
        part = Part(config.epochs, lambda: self.learn_at_once(config), config.patience)
        self.run([part], "training", {"task": self.task, "attack": self.attack})

    def learn_at_once(self, config: DannConfig) -> float:
        """One epoch."""
        pairs = self.pair_batches()

        def step(batch: Batch) -> Step:
            strength = config.strength(self.loop.done / self.loop.total)
            task, attack, right = self.losses(batch, *self.twins(next(pairs)), strength)
            self.loop.descend(task + attack, self.task, self.attack)
            return Step(task.item(), right)

        [steps] = self.loop.passes("joint", 1, self.batches, step)
        held = self.judge_both()
        self.note("joint", steps, held)
        return held

    def losses(self, batch: Batch, pair: Batch, twin: Tensor, strength: float) -> tuple[Tensor, Tensor, float]:
        """Loss of the tagger, loss of the adversaries after the reversal, and how many pairs they decide right."""
        task = self.task_loss(batch)
        shown, again = (reverse_gradient(view, strength) for view in self.represent_pairs(pair, twin))
        true, false = self.decide(pair, shown, again)
        return task, self.adversary_loss(true, false).mean(), right_share(true, false)


def train_representer(
    source: RaggedSentences,
    table: NeighbourTable,
    tags: int,
    shape: RepresenterConfig,
    config: DannConfig,
    progress: Progress = silent,
    checkpoint: Path | None = None,
    held: RaggedSentences | None = None,
) -> tuple[Representer, TrainingRecord]:
    """Train a representer on public notes.

    Args:
        source: labelled public sentences as word ids into unit word vectors; the last of them end it.
        table: what each word id may be replaced by.
        tags: number of tags of the label scheme.
        shape: the representer.
        config: the recipe.
        progress: called after every step.
        checkpoint: file that keeps the training between epochs, and one that was cut goes on by; None keeps nothing.
        held: sentences to judge by, ids into the same vectors; None for the last of the source.

    Returns:
        the frozen representer and the record of its training.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: fewer than two sentences hold PHI, or the loss is not finite any more.
    """
    with seed_training(config.seed):
        training = DannTraining(source, table, tags, shape, config, progress, held=held, checkpoint=checkpoint)
        training.learn(config)
        return training.finish()
