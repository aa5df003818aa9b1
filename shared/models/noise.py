"""Gaussian noise with a learned scale per dimension.

The reference code leaves the standard deviation free in sign and lets it collapse to almost nothing in some dimensions,
and one such dimension gives every word away. Here it is positive by construction and never below a floor.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.models.noise_source import MemoisedNoise, PrivateNoise, SentenceNoise

PrivateSource: TypeAlias = PrivateNoise | SentenceNoise
"""Where the noise of whatever leaves a hospital is drawn from: the SentenceNoise is that of the very sentences that are
represented. A torch.Generator is none: all of its seeds can be tried."""

SharingNoise: TypeAlias = PrivateNoise | MemoisedNoise
"""The same ahead of the words: the SentenceNoise of a MemoisedNoise is made once they are known, see `noise_for`."""


@runtime_checkable
class Draws(Protocol):
    """What numbers can be drawn from, private or not."""

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Normal numbers, float32 of `shape`."""
        ...

    def random(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Numbers uniform in [0, 1), float64 of `shape`."""
        ...


NoiseSource: TypeAlias = torch.Generator | Draws
"""Any source: training, attacks and measurements draw from one that can be drawn from again. Nothing that comes of it can
be shared, see `shared.sentences.sharing`."""

RehearsalNoise: TypeAlias = NoiseSource | MemoisedNoise
"""The same ahead of the words."""


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
        # Inverse of softplus, so that `scale` starts at `initial`. Not computed on the device `meta`, on which a description is tried
        # first: there torch loads what compiles networks, which takes seconds.
        start = torch.full((dim,), max(float(initial) - floor, 1e-4), device="cpu")
        self.raw = nn.Parameter(_unsoftplus(start).to(torch.get_default_device()))

    @property
    def scale(self) -> Tensor:
        """Standard deviation of each dimension, `[dim]`, in units of the vectors."""
        return self.floor + functional.softplus(self.raw)

    def forward(self, vectors: Tensor, source: NoiseSource, factor: Tensor | float = 1.0) -> Tensor:
        """The vectors with fresh noise.

        Args:
            vectors: float32 `[batch, steps, dim]`.
            source: of the noise. There is no default: what is forgotten would be a noise that somebody else can draw, or none.
            factor: how many times its scale the noise has; of a shape that goes with `vectors`.
                A SentenceNoise takes it as `[tokens, 1]`, see `raised_normal`.

        Raises:
            TypeError: the source is none.
        """
        if isinstance(source, SentenceNoise) and isinstance(factor, Tensor):
            raised = source.raised_normal(tuple(vectors.shape), factor[:, 0].numpy())
            return vectors + torch.from_numpy(raised) * self.scale
        if isinstance(source, torch.Generator):
            noise = torch.empty_like(vectors).normal_(generator=source)
        elif isinstance(source, Draws):
            noise = torch.from_numpy(source.standard_normal(tuple(vectors.shape)))
        else:
            raise TypeError(f"expected a source of noise, got {type(source).__name__}; give one")
        if torch.is_grad_enabled():
            return vectors + noise * (self.scale * factor)
        return noise.mul_(self.scale * factor).add_(vectors)


def _unsoftplus(scale: Tensor) -> Tensor:
    """What softplus maps to `scale`, in a form that no large scale overflows."""
    return scale + torch.log(-torch.expm1(-scale))
