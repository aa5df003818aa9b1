"""Heads that know which hospital a sentence is of while they learn, and an ensemble of heads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.models.crf import ConditionalRandomField
from shared.sentences.ragged import Batch
from shared.taggers.bilstm_crf import BiLSTMCRF
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.training.dann import reverse_gradient

_BATCH = 64
_ETA, _WEIGHT, _RAMP = 0.01, 0.1, 10.0


class WeighedHead(BiLSTMCRF):
    """Every hospital weighs as much in a step, however many sentences of it are there.

    Args:
        config: of the head.
        sites: of every sentence of its source, int64 `[sentences]`.
    """

    def __init__(self, config: Any, sites: NDArray[np.int64]) -> None:
        super().__init__(config)
        self._sites = torch.from_numpy(sites)
        self.weights = torch.full((int(sites.max()) + 1,), 1 / (int(sites.max()) + 1))

    def loss(self, batch: Batch) -> Tensor:
        """So scaled that its mean is the sum over hospitals of weight times mean loss; see Tagger."""
        losses = super().loss(batch)
        sites = self._sites[torch.from_numpy(batch.rows)]
        counts = torch.bincount(sites, minlength=len(self.weights)).clamp(min=1)
        sums = torch.zeros(len(self.weights)).index_add(0, sites, losses.detach())
        self.weigh(sums / counts, torch.bincount(sites, minlength=len(self.weights)) > 0)
        return losses * (self.weights / counts)[sites] * len(losses)

    def weigh(self, means: Tensor, there: Tensor) -> None:
        """Set the weights of hospitals ahead of a step; here they stay.

        Args:
            means: loss of each, `[hospitals]`.
            there: which of them have a sentence in the batch, bool `[hospitals]`.
        """


class GroupHead(WeighedHead):
    """Group distributionally robust optimisation (Sagawa et al. 2020, algorithm 1): what a hospital weighs grows with its loss."""

    def weigh(self, means: Tensor, there: Tensor) -> None:
        """See WeighedHead. Losses are of sentences, so they are taken for what they are beside each other: a long one must not decide alone."""
        if self.training:
            relative = means / means[there].mean().clamp(min=1e-9)
            grown = self.weights * torch.exp(_ETA * relative * there)
            self.weights = grown / grown.sum()


class AdversarialHead(BiLSTMCRF):
    """Its sentences shall not tell of which hospital they are (Ganin et al. 2016): an adversary reads the mean state of each, its gradient comes back reversed.

    Args:
        config: of the head.
        sites: of every sentence of its source, int64 `[sentences]`.
        steps: of the training, over which the reversal rises.
    """

    def __init__(self, config: Any, sites: NDArray[np.int64], steps: int) -> None:
        super().__init__(config)
        self._sites, self._steps, self._done = torch.from_numpy(sites), steps, 0
        width = 2 * config.hidden
        self.adversary = nn.Sequential(
            nn.Linear(width, config.hidden), nn.ReLU(), nn.Linear(config.hidden, int(sites.max()) + 1)
        )

    def loss(self, batch: Batch) -> Tensor:
        """Of the tags, and of the adversary behind the reversal; see Tagger."""
        seen: list[Tensor] = []
        hook = self.second.register_forward_hook(lambda module, given, states: seen.append(states))
        try:
            losses = super().loss(batch)
        finally:
            hook.remove()
        strength = _WEIGHT * math.tanh(_RAMP * self._done / self._steps / 2)
        self._done += self.training
        inside = (torch.arange(seen[0].shape[1])[None, :] < batch.lengths[:, None]).to(seen[0].dtype)
        means = (seen[0] * inside[:, :, None]).sum(1) / batch.lengths[:, None]
        guesses = self.adversary(reverse_gradient(means, strength))
        return losses + functional.cross_entropy(guesses, self._sites[torch.from_numpy(batch.rows)], reduction="none")


class Ensemble(Tagger):
    """The mean of what heads think of a token, and the best tags by it that BIO allows.

    Args:
        members: of one shape.
    """

    kind = "ensemble"
    config_type = TaggerConfig

    def __init__(self, members: Sequence[Tagger]) -> None:
        super().__init__(members[0].config)
        self.members = nn.ModuleList(members)
        self.crf = ConditionalRandomField(members[0].config.tags)
        for values in self.crf.parameters():
            nn.init.zeros_(values)

    def loss(self, batch: Batch) -> Tensor:
        """An ensemble is not trained."""
        raise NotImplementedError

    @torch.no_grad()
    def scores(self, batch: Batch) -> Tensor:
        """Logarithm of the mean; see Tagger."""
        return self.marginals(batch).clamp(min=1e-9).log()

    @torch.no_grad()
    def decode(self, batch: Batch) -> Tensor:
        """See Tagger."""
        return self.tags_and_marginals(batch)[0]

    @torch.no_grad()
    def marginals(self, batch: Batch) -> Tensor:
        """See Tagger."""
        return torch.stack([member.marginals(batch) for member in self.members]).mean(0)  # type: ignore[operator]

    @torch.no_grad()
    def draw(self, batch: Batch, generator: np.random.Generator) -> Tensor:
        """See Tagger."""
        return self.crf.draw(self.scores(batch), batch.lengths, generator)

    @torch.no_grad()
    def tags_and_marginals(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """See Tagger."""
        marginals = self.marginals(batch)
        return self.crf.decode(marginals.clamp(min=1e-9).log(), batch.lengths), marginals
