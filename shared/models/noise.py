"""Gaussian noise with a learned scale per dimension.

The reference code leaves the standard deviation free in sign and lets it collapse to almost nothing in some dimensions,
and one such dimension gives every word away. Here it is positive by construction and never below a floor.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


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
        self.raw = nn.Parameter(torch.full((dim,), math.log(math.expm1(max(initial - floor, 1e-4)))))

    @property
    def scale(self) -> Tensor:
        """Standard deviation of each dimension, `[dim]`, in units of the vectors."""
        return self.floor + functional.softplus(self.raw)

    def forward(self, vectors: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """The vectors with fresh noise.

        Args:
            vectors: float32 `[batch, steps, dim]`.
            generator: source of the noise; None is torch's global one, for training. What leaves a hospital is drawn
                from a generator that was seeded by the operating system.
        """
        noise = torch.empty_like(vectors).normal_(generator=generator)
        return vectors + noise * self.scale
