"""One training step and one training loop, for taggers, representers and the adversaries of the attacks alike.

with seeded(config.seed):
    descent = Descent.nadam(network.parameters(), config.learning_rate, config.clip)
    loop = TrainingLoop("tagger", total, progress)
    for results in loop.passes("tagger", epochs, batches, step):
        ...  # note, judge, or break off; a step ends with loop.descend(loss, descent)

A procedure decides what a step computes, and what happens between two passes. How a network goes down its loss is
decided here: a loss that is not finite ends the training, no gradient is longer than its bound, and Nadam takes the step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from shared.errors import TrainingError
from shared.progress import Progress, silent
from shared.training.optimisers import AdamW, Nadam

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def seed_training(seed: int) -> Iterator[None]:
    """Draw fresh weights, dropout and noise of a training from a seed, and leave torch's global generator as it was.

    Torch draws weights and dropout from its global generator alone, so it is lent for as long as the training lasts: neither
    does a training depend on what was drawn before it, nor what comes after on the training.
    """
    with torch.random.fork_rng(devices=[]):
        # Not `torch.manual_seed`, which would leave the seed on every accelerator too.
        torch.default_generator.manual_seed(seed)
        yield


@contextmanager
def frozen(*networks: nn.Module) -> Iterator[None]:
    """Let no gradient reach some networks for a while: they stay as they are, and nothing is computed for them in vain."""
    for network in networks:
        network.requires_grad_(False)
    try:
        yield
    finally:
        for network in networks:
            network.requires_grad_(True)


@dataclass
class Descent:
    """How some parameters go down a loss.

    Args:
        parameters: whose gradients are clipped together.
        optimizer: of them.
        clip: bound on the norm of their gradient.
        schedule: of the learning rate; None for one that stays.
    """

    parameters: list[nn.Parameter]
    optimizer: torch.optim.Optimizer
    clip: float
    schedule: torch.optim.lr_scheduler.LRScheduler | None = None

    @classmethod
    def of(
        cls, kind: Literal["nadam", "adamw"], parameters: Iterable[nn.Parameter], learning_rate: float, clip: float
    ) -> Descent:
        """By one of the two; see there.

        Args:
            kind: what a tagger goes down its loss by.
            parameters: all that learn.
            learning_rate: of them.
            clip: as in Descent.
        """
        begin = cls.adamw if kind == "adamw" else cls.nadam
        return begin(parameters, learning_rate, clip)

    @classmethod
    def nadam(
        cls,
        parameters: Iterable[nn.Parameter],
        learning_rate: float,
        clip: float,
        apart: tuple[list[nn.Parameter], float] | None = None,
    ) -> Descent:
        """By Nadam (Dozat 2016).

        Args:
            parameters: all that learn.
            learning_rate: of them.
            clip: as in Descent.
            apart: some of them with a learning rate of their own.
        """
        listed = list(parameters)
        own, own_rate = apart or ([], learning_rate)
        kept = {id(parameter) for parameter in own}
        groups: list[dict[str, Any]] = [{"params": [value for value in listed if id(value) not in kept]}]
        if own:
            groups.append({"params": own, "lr": own_rate})
        return cls(listed, Nadam(groups, lr=learning_rate), clip)

    @classmethod
    def adamw(cls, parameters: Iterable[nn.Parameter], learning_rate: float, clip: float) -> Descent:
        """By AdamW (Loshchilov and Hutter 2017); biases and what scales a layer do not decay.

        Args:
            parameters: all that learn.
            learning_rate: of them.
            clip: as in Descent.
        """
        listed = list(parameters)
        tables = [value for value in listed if value.dim() > 1]
        others = [value for value in listed if value.dim() <= 1]
        groups: list[dict[str, Any]] = [{"params": tables}, {"params": others, "weight_decay": 0.0}]
        return cls(listed, AdamW(groups, lr=learning_rate), clip)

    def fall_to(self, share: float, steps: int) -> None:
        """Let the rate fall linearly to a share of itself, over so many calls of `lower_rate`."""
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, share, steps)

    def fall_late(self, decay: float, steps: int) -> None:
        """Let the rate fall linearly to a hundredth of itself, over the last share of so many calls of `lower_rate`."""
        falling = max(int(steps * decay), 1)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(1.0, max((steps - step) / falling, 0.01))
        )

    def lower_rate(self) -> None:
        """Go on by one in the schedule."""
        if self.schedule is not None:
            self.schedule.step()


@dataclass
class TrainingLoop:
    """The course of one training.

    Args:
        trained: what learns, for errors.
        total: steps in all, or passes, as far as they can be known ahead.
        progress: called after every one.
        by_pass: whether passes are counted, where a step is too small to tell of.
        done: so many so far.
    """

    trained: str
    total: int
    progress: Progress = silent
    by_pass: bool = False
    done: int = 0

    def passes(
        self, stage: str, count: int, batches: Callable[[], Iterable[Item]], step: Callable[[Item], Result]
    ) -> Iterator[list[Result]]:
        """Run passes, one step for each batch.

        Args:
            stage: what progress is told.
            count: how many passes.
            batches: gives those of the next pass.
            step: learns from a batch.

        Yields:
            what the steps of a pass returned, once it is over. Whoever stops to ask has stopped the training.
        """
        for _ in range(count):
            results: list[Result] = []
            for batch in batches():
                results.append(step(batch))
                if not self.by_pass:
                    self._tick(stage)
            if self.by_pass:
                self._tick(stage)
            yield results

    def take_up(self, done: int) -> None:
        """Go on where so many steps are done."""
        self.done = done
        self.progress("going on", done, max(self.total, done))

    def _tick(self, stage: str) -> None:
        self.done += 1
        self.progress(stage, self.done, max(self.total, self.done))

    def descend(self, loss: Tensor, *descents: Descent) -> None:
        """One step down a loss.

        Args:
            loss: a scalar.
            descents: of all parameters that learn from it; other parameters keep what gradient they get.

        Raises:
            TrainingError: the loss is not finite.
        """
        self._require_finite(float(loss.detach()))
        for descent in descents:
            descent.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        _go_down(descents)

    def follow(self, loss: float, *descents: Descent) -> None:
        """One step by gradients that are there already.

        Args:
            loss: whose gradients they are.
            descents: as for `descend`.

        Raises:
            TrainingError: the loss is not finite.
        """
        self._require_finite(loss)
        _go_down(descents)

    def _require_finite(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise TrainingError(
                f"{self.trained}: the loss is not finite after {self.done} of {self.total} "
                f"{'passes' if self.by_pass else 'steps'}; lower the learning rate, or check what it learns from"
            )


def _go_down(descents: Sequence[Descent]) -> None:
    for descent in descents:
        nn.utils.clip_grad_norm_(descent.parameters, descent.clip)
        descent.optimizer.step()


class BestWeights:
    """The weights of the pass that did best on sentences that nobody learns from.

    Args:
        network: in training.
    """

    def __init__(self, network: nn.Module) -> None:
        self._network = network
        self._state: dict[str, Tensor] = {}
        self.score = -float("inf")

    def judge(self, score: float) -> None:
        """Keep the weights as they are now, if no earlier ones scored as much."""
        if not self._state or score > self.score:
            self._state = {name: value.clone() for name, value in self._network.state_dict().items()}
            self.score = score

    def restore(self) -> None:
        """Give the network the best weights back."""
        self._network.load_state_dict(self._state)
