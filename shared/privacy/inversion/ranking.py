"""At which rank a trained guesser puts the true word, from one view of a sentence or from several weighed together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.privacy.inversion.model import Candidates, Sight, WordGuesser, target_cells
from shared.privacy.inversion.table import Prior
from shared.sentences.ragged import batch_rows

# Scores held at a time.
_BLOCK_SCORES = 1 << 22

Groups = tuple[NDArray[np.int64], NDArray[np.int64]]
"""A group of each candidate and of each target. A target of group 0 or more is one of its group, and nothing else."""


@dataclass(frozen=True)
class Ranks:
    """Where the true words stand among the candidates.

    Args:
        ahead: candidates that score more, float64 `[targets]`; infinite where the word can't be guessed.
        equal: other candidates that score the same, float64 `[targets]`.
    """

    ahead: NDArray[np.float64]
    equal: NDArray[np.float64]

    def chance_within(self, top: int) -> NDArray[np.float64]:
        """Chance that the word is one of the first `top`, float64 `[targets]`; among equals the attacker has to draw."""
        return np.clip((top - self.ahead) / (self.equal + 1), 0.0, 1.0)


def ranks(
    network: WordGuesser,
    sights: Sequence[Sight],
    candidates: Candidates,
    *,
    weights: NDArray[np.float64] | None = None,
    groups: Groups | None = None,
    prior: Prior | None = None,
) -> Ranks:
    """Where the true word of each target stands.

    Args:
        network: trained.
        sights: views of the same sentences.
        candidates: what the network was trained with.
        weights: of each view's log-probability, `[targets, views]`; by default all alike.
        groups: what the attacker knows that each target must be.
        prior: one more view, behind the sights.
    """
    targets = len(sights[0].targets)
    found = Ranks(np.full(targets, np.inf), np.zeros(targets))
    weighed = np.ones((targets, len(sights) + (prior is not None))) if weights is None else weights
    for part, views in _scored(network, sights, candidates, prior):
        scores = _mixed(views, weighed[part])
        if groups is not None:
            of_candidate, of_target = torch.from_numpy(groups[0]), torch.from_numpy(groups[1][part])[:, None]
            scores = scores.masked_fill((of_target >= 0) & (of_candidate[None] != of_target), -math.inf)
        here = _ranks(scores, torch.from_numpy(sights[0].answers[part]))
        found.ahead[part], found.equal[part] = here.ahead, here.equal
    return found


def likelihoods(
    network: WordGuesser,
    sights: Sequence[Sight],
    candidates: Candidates,
    choices: NDArray[np.float64],
    prior: Prior | None = None,
) -> NDArray[np.float64]:
    """Log-probability of the true word under several weightings of the views; 0 where it can't be guessed.

    Args:
        network, sights, candidates, prior: as for `ranks`.
        choices: weightings, `[choices, views]`.

    Returns:
        `[targets, choices]`.
    """
    found = np.zeros((len(sights[0].targets), len(choices)))
    for part, views in _scored(network, sights, candidates, prior):
        answers = torch.from_numpy(sights[0].answers[part])
        for index, weights in enumerate(choices):
            scores = _mixed(views, np.broadcast_to(weights, (len(part), len(views)))).log_softmax(1)
            own = scores.gather(1, answers.clamp(min=0)[:, None])[:, 0]
            found[part, index] = torch.where(answers < 0, 0.0, own).numpy()
    return found


@torch.no_grad()
def _scored(
    network: WordGuesser, sights: Sequence[Sight], candidates: Candidates, prior: Prior | None
) -> Iterator[tuple[NDArray[np.int64], list[Tensor]]]:
    """Some targets, and their log-probabilities from each view, `[targets, candidates]`."""
    others = torch.arange(candidates.closed, len(candidates.words))
    size = max(1, _BLOCK_SCORES // len(candidates.words))
    for rows in batch_rows(sights[0].share.lengths, 128):
        cells, targets = target_cells(sights[0], rows)
        features = [network.features(sight.share, rows)[cells] for sight in sights] if len(targets) else []
        for begin in range(0, len(targets), size):
            part = targets[begin : begin + size]
            views = []
            for sight, found in zip(sights, features, strict=True):
                casing = torch.from_numpy(sight.share.casing[sight.targets[part]].astype(np.int64))
                views.append(network(found[begin : begin + size], casing, candidates, others))
            if prior is not None:
                views.append(prior(part))
            yield part, views


def _mixed(views: list[Tensor], weights: NDArray[np.float64]) -> Tensor:
    """Weighted sum of log-probabilities; weights `[targets, views]`."""
    # A copy: of weights that are alike for all targets there may be one row only, which nobody may write to.
    columns = torch.tensor(weights.T, dtype=torch.float32)
    return torch.stack([view * weight[:, None] for view, weight in zip(views, columns, strict=True)]).sum(0)


def _ranks(scores: Tensor, answers: Tensor) -> Ranks:
    """Where each row's answer stands."""
    own = scores.gather(1, answers.clamp(min=0)[:, None])
    ahead, equal = (scores > own).sum(1).double(), (scores == own).sum(1).double() - 1
    ahead[(answers < 0) | torch.isneginf(own[:, 0])] = math.inf
    return Ranks(ahead.numpy(), equal.numpy())
