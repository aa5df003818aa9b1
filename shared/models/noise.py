"""Gaussian noise with a learned scale per dimension.

The reference code leaves the standard deviation free in sign and lets it collapse to almost nothing in some dimensions,
and one such dimension gives every word away. Here it is positive by construction and never below a floor.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.models.noise_source import MemoisedNoise, PrivateNoise, SentenceNoise

NoiseSource: TypeAlias = torch.Generator | PrivateNoise | SentenceNoise
"""Where noise is drawn from: a torch.Generator in training; for whatever leaves a hospital a PrivateNoise, or the
SentenceNoise of the very sentences that are represented."""

SharingNoise: TypeAlias = NoiseSource | MemoisedNoise
"""What an encoder takes for a share: it makes the SentenceNoise of a MemoisedNoise itself, see `noise_for`."""


class GaussianNoise(nn.Module):
    """Adds noise in training and at inference alike: the noise is the protection, not a regulariser.

    Args:
        dim: size of the vectors.
        initial: standard deviation at the start.
        floor: standard deviation that no dimension falls below.
    """

    def __init__(self, dim: int, *, initial: float, floor: float) -> None:
        super().__init__()
        self.floor = floor
        # Inverse of softplus, so that `scale` starts at `initial`.
        self.raw = nn.Parameter(_unsoftplus(torch.full((dim,), max(float(initial) - floor, 1e-4))))

    @property
    def scale(self) -> Tensor:
        """Standard deviation of each dimension, `[dim]`, in units of the vectors."""
        return self.floor + functional.softplus(self.raw)

    def forward(self, vectors: Tensor, generator: NoiseSource | None = None, factor: Tensor | float = 1.0) -> Tensor:
        """The vectors with fresh noise.

        Args:
            vectors: float32 `[batch, steps, dim]`.
            generator: source of the noise; None is torch's global one, for training.
            factor: how many times its scale the noise has; of a shape that goes with `vectors`.
                A SentenceNoise takes it as `[tokens, 1]`, see `raised_normal`.
        """
        if isinstance(generator, SentenceNoise) and isinstance(factor, Tensor):
            raised = generator.raised_normal(tuple(vectors.shape), factor[:, 0].numpy())
            return vectors + torch.from_numpy(raised) * self.scale
        if isinstance(generator, PrivateNoise | SentenceNoise):
            noise = torch.from_numpy(generator.standard_normal(tuple(vectors.shape)))
        else:
            noise = torch.empty_like(vectors).normal_(generator=generator)
        if torch.is_grad_enabled():
            return vectors + noise * (self.scale * factor)
        return noise.mul_(self.scale * factor).add_(vectors)


def _unsoftplus(scale: Tensor) -> Tensor:
    """What softplus maps to `scale`, in a form that no large scale overflows."""
    return scale + torch.log(-torch.expm1(-scale))
