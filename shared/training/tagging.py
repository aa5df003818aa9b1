"""Training and use of a tagger, on word vectors or on shared representations (Friedrich et al. 2019, Table 1).

One addition to the paper's recipe: the learning rate falls linearly to zero over the last part of the training. (A running
average of the weights on top of that changed nothing: 98.7 / 95.2 with and without, held-out tenth of MEDDOCAN train.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from shared.errors import ConfigurationError, TrainingError
from shared.models.tagger import Tagger, TaggerConfig
from shared.sentences.ragged import SentenceSource

Progress = Callable[[str, int, int], None]
"""Called with the name of the stage, the steps done and the steps in all."""


def silent(stage: str, done: int, total: int) -> None:
    """A progress that nobody watches."""


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
) -> Tagger:
    """Train a tagger from scratch.

    Args:
        source: sentences and tags; read once an epoch, never held whole by the trainer.
        tags: number of tags of the label scheme.
        config: the recipe.
        shape: the network; by default the paper's.
        progress: called after every step.

    Raises:
        TrainingError: no sentences, or the loss is not finite any more.
    """
    if source.sentences == 0:
        raise TrainingError(
            "expected at least one labelled sentence to train on, got none; check the corpus or the pool"
        )
    generator = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    tagger = Tagger(shape or TaggerConfig(source.dim, tags))
    tagger.train()
    optimizer = torch.optim.NAdam(tagger.parameters(), lr=config.learning_rate)
    steps = -(-source.sentences // config.batch)
    epochs = max(config.epochs, -(-config.least_steps // steps))
    total = epochs * steps
    falling = max(int(total * config.decay), 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, max((total - step) / falling, 0.01)))
    done = 0
    for _ in range(epochs):
        for batch in source.batches(config.batch, generator):
            loss = tagger.loss(batch.inputs, batch.casing, batch.tags, batch.lengths).mean()
            if not bool(torch.isfinite(loss)):
                raise TrainingError(
                    f"the tagger's loss is not finite at step {done}; lower the learning rate or check the inputs"
                )
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(tagger.parameters(), config.clip)
            optimizer.step()
            schedule.step()
            done += 1
            progress("tagger", done, max(total, done))
    return tagger.eval()


def predict(
    tagger: Tagger, source: SentenceSource, batch: int = 128
) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.uint8]]]]:
    """Predicted tags of every sentence, batch by batch.

    Yields:
        rows of the source, and for each row its tags, uint8 `[tokens]`.
    """
    tagger.eval()
    for piece in source.batches(batch):
        tags = tagger.predict(piece.inputs, piece.casing, piece.lengths).numpy().astype(np.uint8)
        yield piece.rows, [line[:length] for line, length in zip(tags, piece.lengths.tolist(), strict=True)]
