"""Training of a representer by a distance in closed form, without adversaries.

Given the input noise, the outputs for a sentence and for its false twin are Gaussians around two means mu and mu' with the
standard deviations sigma, so all that any adversary can tell about the pair is in one number, the divergence

    D = 1/2 * sum over positions and dimensions of ((mu - mu') / sigma)^2

(the Kullback-Leibler divergence of the two, in nats). The loss is

    L_tag + weight * mean over pairs of log(1 + D).

The logarithm matters: D starts in the hundreds, and without it a few cue words would own the gradient. Both sentences of
a pair share one draw of the input noise: an attacker who knew it could only do better, so the bound errs to the safe side.
No adversary can be right more often than Phi(sqrt(2 D) / 2) (Neyman and Pearson); the record keeps its mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress, silent
from shared.sentences.ragged import Batch, RaggedSentences
from shared.training.adversarial.pairs import NeighbourTable
from shared.training.loop import Descent, seed_training
from shared.training.parts import Part
from shared.training.representing import RepresenterTraining, Step, TrainingRecord


@dataclass(frozen=True)
class InvarianceConfig:
    """How a representer is trained.

    Args:
        epochs: passes over the sentences; beside every batch of them goes one of pairs.
        batch: sentences a step for the task; half as many pairs a step.
        learning_rate: of Nadam, for the networks.
        noise_learning_rate: of Nadam, for the noise scales, which must travel further than any weight.
        learn_noise: whether the noise scales are learned, down to the floor of the representer's shape and as far up as it
            takes; if not, they stay where the shape starts them.
        clip: bound on the norm of every gradient.
        weight: of the distance. 0 trains the task alone: no protection, the positive control of an audit.
        decay: share of the training, at its end, over which the learning rates fall to almost nothing.
        seed: of everything random.
    """

    epochs: int = 10
    batch: int = 32
    learning_rate: float = 2e-3
    noise_learning_rate: float = 5e-3
    learn_noise: bool = True
    clip: float = 1.0
    weight: float = 2.5
    decay: float = 0.6
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch) < 1:
            raise ConfigurationError("invariance training: expected epochs and batch of at least 1")
        if min(self.learning_rate, self.noise_learning_rate, self.clip) <= 0:
            raise ConfigurationError("invariance training: expected learning rates and clip above 0")
        if self.weight < 0 or not 0 <= self.decay <= 1:
            raise ConfigurationError("invariance training: expected a weight of at least 0 and decay in [0, 1]")


def divergence(mean: Tensor, other: Tensor, scale: Tensor, lengths: Tensor) -> Tensor:
    """D of each pair of sentences, in nats, `[batch]`.

    Args:
        mean: float32 `[batch, steps, dim]`.
        other: the same for the false twins.
        scale: standard deviations of the output noise, `[dim]`.
        lengths: of the sentences, int64 `[batch]`; what stands behind them is padding and shows nothing.
    """
    inside = torch.arange(mean.shape[1])[None, :] < lengths[:, None]
    squares = (((mean - other) / scale) ** 2).sum(2)
    return squares.where(inside, 0).sum(1) / 2


def bayes_accuracy(divergences: Tensor) -> Tensor:
    """How often the best adversary is right about a pair of that divergence, from 0.5 to 1."""
    accuracy: Tensor = torch.special.ndtr((2 * divergences).sqrt() / 2)
    return accuracy


class _Trainer(RepresenterTraining):
    """Representer, tagger and noise."""

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: InvarianceConfig,
        progress: Progress,
        checkpoint: Path | None = None,
    ) -> None:
        super().__init__(source, table, tags, shape, config, progress, checkpoint)
        self.config = config
        self.loop.total = self.steps * config.epochs
        noise = [self.representer.input_noise.raw, self.representer.output_noise.raw]
        for scale in noise:
            scale.requires_grad_(config.learn_noise)
        apart = (noise, config.noise_learning_rate)
        self.descent = Descent.nadam(self.task_parameters, config.learning_rate, config.clip, apart)
        self.descent.fall_late(config.decay, self.loop.total)

    def pair_divergences(self, batch: Batch, twin: Tensor) -> Tensor:
        """D of sentences and their false twins under one draw of the input noise, `[batch]`."""
        noisy = self.representer.input_noise(batch.inputs, torch.default_generator)
        both = torch.cat([noisy, noisy + (twin - batch.inputs)])
        means = self.representer.bounded(both, torch.cat([batch.lengths, batch.lengths]))
        mean, other = means.chunk(2)
        return divergence(mean, other, self.representer.output_noise.scale, batch.lengths)

    def learn(self) -> None:
        """All epochs, or what is left of them where the training goes on from a checkpoint."""
        # Nothing is held back that could end it.
        part = Part(self.config.epochs, self.learn_epoch, patience=self.config.epochs, restores=False)
        self.run([part], "training", {"all": self.descent})

    def learn_epoch(self) -> float:
        """A pass over the sentences; nothing judges it."""
        pairs = self.pair_batches()

        def step(batch: Batch) -> Step:
            loss = task = self.task_loss(batch)
            accuracy = math.nan
            if self.config.weight:
                distances = self.pair_divergences(*self.twins(next(pairs)))
                loss = task + self.config.weight * distances.log1p().mean()
                accuracy = bayes_accuracy(distances.detach()).mean().item()
            self.loop.descend(loss, self.descent)
            self.descent.lower_rate()
            return Step(task.item(), accuracy)

        [steps] = self.loop.passes("invariance", 1, self.batches, step)
        self.note("invariance", steps)
        return 0.0


def train_representer(
    source: RaggedSentences,
    table: NeighbourTable,
    tags: int,
    shape: RepresenterConfig,
    config: InvarianceConfig,
    progress: Progress = silent,
    checkpoint: Path | None = None,
) -> tuple[Representer, TrainingRecord]:
    """Train a representer on public notes.

    Args:
        source: labelled public sentences as word ids into unit word vectors.
        table: what each word id may be replaced by.
        tags: number of tags of the label scheme.
        shape: the representer.
        config: the recipe.
        progress: called after every step.
        checkpoint: file that keeps the training between epochs, and one that was cut goes on by; None keeps nothing.

    Returns:
        the frozen representer and the record of its training.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: no sentence holds PHI, or the loss is not finite any more.
    """
    with seed_training(config.seed):
        trainer = _Trainer(source, table, tags, shape, config, progress, checkpoint)
        trainer.learn()
    return trainer.finish()
