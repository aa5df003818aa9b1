"""What a site does in a round: some passes over its own sentences, from the weights of the round.

Nothing of it stays: the next round begins with a fresh optimiser, so a site that missed rounds is as good as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from shared.errors import ConfigurationError, TrainingError
from shared.federated.weights import Vector, set_weights, weights_of
from shared.sentences.ragged import Batch, SentenceSource
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.training.loop import Descent, TrainingLoop, seed_training


class StoppedError(TrainingError):
    """The training was told to stop; what it had learned is gone."""


def never() -> bool:
    """Of a training that nobody stops."""
    return False


@dataclass(frozen=True)
class LocalRecipe:
    """How a site learns in one round.

    Args:
        epochs: passes over its sentences.
        batch: sentences a step.
        learning_rate: of Nadam.
        clip: bound on the norm of the gradient.
        proximal: weight of the pull back to where the round began (Li et al. 2020, equation 2); 0 for none.
        seed: of dropout and order.

    Raises:
        ConfigurationError: a value out of range.
    """

    epochs: int = 1
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    proximal: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch) < 1 or not min(self.learning_rate, self.clip) > 0 or not self.proximal >= 0:
            raise ConfigurationError(
                "a round: expected epochs, batch, learning rate and clip above 0, and proximal of at least 0"
            )

    def steps(self, sentences: int) -> int:
        """How many steps a round of so many sentences takes, without noise."""
        return self.epochs * -(-sentences // self.batch)


def learn_round(
    shape: TaggerConfig,
    start: Vector,
    source: SentenceSource,
    recipe: LocalRecipe,
    stopped: Callable[[], bool] = never,
) -> Vector:
    """The weights of a site after a round.

    Args:
        shape: of the tagger.
        start: weights that the round begins with.
        source: the site's sentences.
        recipe: of the round.
        stopped: asked ahead of every step.

    Raises:
        StoppedError: it was stopped.
        TrainingError: no sentences, or the loss is not finite any more.
        ConfigurationError: weights of another shape.
    """
    if not source.sentences:
        raise TrainingError("expected at least one labelled sentence to train on, got none; check the notes")
    generator = np.random.default_rng(recipe.seed)
    with seed_training(recipe.seed):
        tagger = build_tagger(shape).train()
        set_weights(tagger, start)
        anchor = [value.detach().clone() for value in tagger.parameters()] if recipe.proximal else []
        descent = Descent.nadam(tagger.parameters(), recipe.learning_rate, recipe.clip)
        loop = TrainingLoop("round", recipe.steps(source.sentences))

        def step(batch: Batch) -> None:
            if stopped():
                raise StoppedError("the round was stopped; nothing of it leaves")
            loss = tagger.loss(batch).mean()
            if recipe.proximal:
                loss = loss + recipe.proximal / 2 * _distance(tagger, anchor)
            loop.descend(loss, descent)

        for _ in loop.passes("round", recipe.epochs, lambda: source.batches(recipe.batch, generator), step):
            pass
    return weights_of(tagger)


def _distance(tagger: Tagger, anchor: list[Tensor]) -> Tensor:
    """Squared distance from where the round began."""
    return torch.stack([((now - then) ** 2).sum() for now, then in zip(tagger.parameters(), anchor, strict=True)]).sum()
