"""The parts of a training, one after another, each ended by sentences that nobody learns from.

A part is over after its epochs, or as soon as its loss on the held-back sentences has not fallen for some. Its best epoch is
restored before the next part begins (Friedrich et al. 2019, section 5.4; how long to wait it does not say). Between epochs a
training may be kept on disk, so that one that was cut goes on where it stopped and ends in the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch import Tensor, nn

from shared.training.checkpoint import Checkpoint


@dataclass(frozen=True)
class Part:
    """One part.

    Args:
        epochs: at most.
        learn: runs one epoch and gives the loss on the held-back sentences that ends the part.
        patience: epochs without a better one that end the part.
        restores: whether the best epoch is restored; if not, the last one stays.
    """

    epochs: int
    learn: Callable[[], float]
    patience: int
    restores: bool = True


@dataclass
class _Progress:
    """Where a training is: in which part, how many epochs are done there, since how many none was better than `least`."""

    part: int = 0
    epoch: int = 0
    waited: int = 0
    least: float = math.inf


@dataclass
class Course:
    """Runs the parts of a training.

    Args:
        networks: all that learns.
        checkpoint: keeps the training between epochs; None keeps nothing.
        facts: what else is kept, as JSON.
        take_up: is given it where a training goes on.
    """

    networks: nn.ModuleDict
    checkpoint: Checkpoint | None = None
    facts: Callable[[], dict[str, Any]] = dict
    take_up: Callable[[dict[str, Any]], None] = lambda facts: None
    _progress: _Progress = field(default_factory=_Progress)
    _best: dict[str, Tensor] = field(default_factory=dict)

    def run(self, parts: Sequence[Part]) -> None:
        """Run all parts, or what is left of them."""
        kept = None if self.checkpoint is None else self.checkpoint.load()
        if kept is not None:
            told, self._best = kept
            self._progress = _Progress(**told["progress"])
            self.take_up(told["facts"])
        while self._progress.part < len(parts):
            self._run(parts[self._progress.part])

    def _run(self, part: Part) -> None:
        now = self._progress
        while now.epoch < part.epochs and now.waited < part.patience:
            loss = part.learn()
            now.epoch += 1
            now.waited += 1
            if now.epoch == 1 or loss < now.least:
                now.waited, now.least = 0, loss
                if part.restores:
                    self._best = {name: value.clone() for name, value in self.networks.state_dict().items()}
            self._save()
        if part.restores:
            self.networks.load_state_dict(self._best)
        self._progress, self._best = _Progress(now.part + 1), {}
        self._save()

    def _save(self) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save({"progress": asdict(self._progress), "facts": self.facts()}, self._best)
