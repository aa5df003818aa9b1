"""One training by several processes, each with its own part of the sentences: every step follows the gradient of all of them.

The gradient of a step is the sum over all processes divided by the sentences of all, which is the gradient of the one batch that
their batches make together. So a process with fewer sentences weighs less, and one that has none left adds nothing and still goes
along: all take the same number of steps, and none waits for a step that nobody else takes. Weights, and the state of a training
that goes on, come from the first process; it alone writes.

What each process draws for itself (dropout, the order of its sentences) comes from a seed that all draw alike for every pass. So
nothing of the others has to be kept, and a training that goes on ends in the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

from shared.errors import ConfigurationError
from shared.sentences.ragged import Batch, SentenceSource
from shared.taggers.tagger import Tagger
from shared.training.checkpoint import Checkpoint
from shared.training.loop import Descent, TrainingLoop

_SEEDS = 1 << 63


class Together(Protocol):
    """The processes of a training, seen from one of them."""

    @property
    def index(self) -> int:
        """Which one this is; 0 is the first."""

    @property
    def count(self) -> int:
        """How many there are."""

    def add(self, vector: Tensor) -> None:
        """Put the sum over all processes in the place of a vector of numbers; all call it alike.

        Raises:
            TrainingError: another process is lost.
        """

    def hand_out(self, data: bytes) -> bytes:
        """What the first process has, for all; all call it alike.

        Raises:
            TrainingError: another process is lost.
        """
        ...


@dataclass
class Strides:
    """The steps of a tagger that several processes take at the same time.

    Args:
        group: the processes.
        loop: of the training.
        tagger: that learns.
        descent: of all its parameters.
    """

    group: Together
    loop: TrainingLoop
    tagger: Tagger
    descent: Descent
    _over: bool = False

    def learn(self, source: SentenceSource, size: int, generator: np.random.Generator) -> None:
        """One pass over the sentences of all.

        Args:
            source: gives the batches of this process's part alone.
            size: sentences of a batch of one process.
            generator: the same in all of them, before and after.

        Raises:
            TrainingError: the loss of some process is not finite, or a process is lost; every process says so.
        """
        order, *own = generator.integers(_SEEDS, size=1 + self.group.count).tolist()
        torch.default_generator.manual_seed(own[self.group.index])
        self._align()
        batches = source.batches(size, np.random.default_rng(order))
        for _ in self.loop.passes("tagger", 1, lambda: self._strides(batches), self._step):
            pass

    def _strides(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch | None, bool]]:
        """This process's batches, and whether it has more behind each; None where it has none any more and others have."""
        self._over = False
        batch = next(batches, None)
        while not self._over:
            following = None if batch is None else next(batches, None)
            yield batch, following is not None
            batch = following

    def _step(self, stride: tuple[Batch | None, bool]) -> None:
        batch, more = stride
        self.descent.optimizer.zero_grad(set_to_none=True)
        told = [0.0, 0.0, 0.0]
        if batch is not None:
            loss = self.tagger.loss(batch).sum()
            torch.autograd.backward(loss)
            told = [loss.item(), float(len(batch.rows)), float(more)]
        parts = [torch.zeros_like(one) if one.grad is None else one.grad for one in self.descent.parameters]
        vector = torch.cat([*(part.reshape(-1) for part in parts), torch.tensor(told)])
        self.group.add(vector)
        loss_of_all, sentences, left = vector[-len(told) :].tolist()
        self._over = not left
        if not sentences:
            return
        gradients = (vector[: -len(told)] / sentences).split([one.numel() for one in parts])
        for parameter, gradient in zip(self.descent.parameters, gradients, strict=True):
            parameter.grad = gradient.view_as(parameter)
        self.loop.follow(loss_of_all / sentences, self.descent)
        self.descent.lower_rate()

    def _align(self) -> None:
        """Machines of different make round differently: each pass begins with the weights of the first."""
        weights = {name: value.detach().clone().contiguous() for name, value in self.tagger.state_dict().items()}
        self.tagger.load_state_dict(load(self.group.hand_out(save(weights))))


@dataclass(frozen=True)
class SharedCheckpoint(Checkpoint):
    """A checkpoint that the first process keeps, and that all go on from.

    Args:
        group: the processes.
        kept: whether this one keeps anything at the path, if it is the first.
    """

    group: Together
    kept: bool

    def save(self, progress: Mapping[str, object], best: Mapping[str, Tensor]) -> None:
        """See Checkpoint."""
        if self.kept and self.group.index == 0:
            super().save(progress, best)

    def read(self) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """See Checkpoint; the others get the bytes of the first one."""
        own = super().read() if self.kept and self.group.index == 0 else None
        data = self.group.hand_out(b"" if own is None else _packed(*own))
        return _unpacked(data) if data else None


def require_same(group: Together, what: Mapping[str, object]) -> None:
    """Hold what this process begins with against what the first one does.

    Args:
        group: the processes.
        what: all that decides the result, in JSON's types, by words that people know.

    Raises:
        ConfigurationError: this process has another.
    """
    mine = json.loads(json.dumps(what))
    first = json.loads(group.hand_out(json.dumps(what).encode()))
    other = sorted(name for name in {*mine, *first} if mine.get(name) != first.get(name))
    if other:
        raise ConfigurationError(
            f"process {group.index}: expected what process 0 begins with, got other {', '.join(other)}; start all of them with the same "
            "options and software on the same workspace"
        )


def _packed(facts: dict[str, Any], tensors: dict[str, Tensor]) -> bytes:
    head = json.dumps(facts).encode()
    return len(head).to_bytes(8, "little") + head + save(tensors)


def _unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), load(data[end:])
