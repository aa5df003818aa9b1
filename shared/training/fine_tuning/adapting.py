"""A released tagger goes on learning from a few notes of one hospital, held to what it was.

Few notes teach a network of its own little, and teach a released one to forget: it has thousands of weights for every note. So it begins at
the released weights, at a lower rate, and every weight is drawn back to where it was (L2-SP; Li, Grandvalet and Davoine 2018, ICML, equation 2).
How long it learns is for labelled notes to say that it does not learn from: `look` is shown the tagger at some steps on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, islice

import numpy as np
import torch
from torch import Tensor

from shared.errors import ConfigurationError, TrainingError
from shared.progress import Progress, silent
from shared.sentences.ragged import Batch, SentenceSource
from shared.taggers.tagger import Tagger
from shared.training.loop import Descent, TrainingLoop, seed_training

# A network that was trained on text before bears a small rate alone.
_RATES = {"nadam": 2e-3, "adamw": 1e-4}

Look = Callable[[int, Tagger], object]
"""Takes a number of steps, and the tagger as it is after them, in evaluation mode; it must leave the weights alone."""


@dataclass(frozen=True)
class AdaptingConfig:
    """How a tagger is adapted.

    Args:
        steps: after which it is looked at, rising; the last of them ends the training.
        batch: sentences a step.
        learning_rate: None for what fits how the tagger goes down its loss: 0.002 by Nadam, 0.0001 by AdamW.
        pull: of every weight back to where it was released: half of it times the squared distance joins the loss, in nats a sentence.
        clip: bound on the norm of the gradient.
        decay: share of the training, at its end, over which the learning rate falls to zero.
        seed: of dropout and order.

    Raises:
        ConfigurationError: settings that can't be.
    """

    steps: tuple[int, ...] = (100, 200, 400)
    batch: int = 16
    learning_rate: float | None = None
    pull: float = 1e-4
    clip: float = 1.0
    decay: float = 0.6
    seed: int = 0

    def __post_init__(self) -> None:
        rising = self.steps == tuple(sorted(set(self.steps)))
        rate = 1.0 if self.learning_rate is None else self.learning_rate
        if not self.steps or not rising or self.steps[0] < 1 or min(self.batch, rate, self.clip) <= 0:
            raise ConfigurationError(
                "adapting: expected rising numbers of steps, batch, learning rate and clip above 0"
            )
        if self.pull < 0 or not 0 <= self.decay <= 1:
            raise ConfigurationError("adapting: expected a pull of at least 0 and decay in [0, 1]")


def adapt_tagger(
    released: Tagger,
    source: SentenceSource,
    config: AdaptingConfig,
    look: Look = lambda steps, tagger: None,
    progress: Progress = silent,
    *,
    until: int | None = None,
) -> Tagger:
    """A copy of a tagger that has learned from some sentences.

    Args:
        released: it; it stays as it is.
        source: sentences and tags of the hospital, read again in every pass.
        config: the recipe.
        look: is shown the copy at the steps of the recipe.
        progress: called after every step.
        until: one of the steps, at which the training ends before the recipe does, with the weights that `look` was shown there; None for the last.

    Raises:
        ConfigurationError: `until` is none of the steps.
        TrainingError: no sentences, or the loss is not finite any more.
    """
    if source.sentences == 0:
        raise TrainingError("expected labelled sentences to adapt the head to, got none; check the notes")
    if until is not None and until not in config.steps:
        raise ConfigurationError(f"adapting: expected an end among the steps {config.steps}, got {until}")
    tagger = deepcopy(released).train()
    for parameter in tagger.parameters():
        parameter.requires_grad_(True)
    with seed_training(config.seed):
        _learn(tagger, source, config, look, progress, until or config.steps[-1])
    for parameter in tagger.parameters():
        parameter.requires_grad_(False)
    return tagger.eval()


def _learn(
    tagger: Tagger, source: SentenceSource, config: AdaptingConfig, look: Look, progress: Progress, last: int
) -> None:
    generator = np.random.default_rng(config.seed)
    anchored = [(parameter, parameter.detach().clone()) for parameter in tagger.parameters()]
    loop = TrainingLoop("adapted head", last, progress)
    rate = _RATES[tagger.optimizer] if config.learning_rate is None else config.learning_rate
    descent = Descent.of(tagger.optimizer, tagger.parameters(), rate, config.clip)
    # Of the whole recipe, wherever it ends: the weights at a step are the same.
    descent.fall_late(config.decay, config.steps[-1])

    def step(batch: Batch) -> None:
        loop.descend(tagger.loss(batch).mean() + config.pull / 2 * _distance(anchored), descent)
        descent.lower_rate()
        done = loop.done + 1
        if done in config.steps:
            look(done, tagger.eval())
            tagger.train()

    endless = (batch for _ in count() for batch in source.batches(config.batch, generator))
    for _ in loop.passes("adapting", 1, lambda: islice(endless, last), step):
        pass


def _distance(anchored: list[tuple[torch.nn.Parameter, Tensor]]) -> Tensor:
    """Squared distance of all weights from where they were, a scalar."""
    return torch.stack([((parameter - was) ** 2).sum() for parameter, was in anchored]).sum()
