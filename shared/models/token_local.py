"""The representer of constructions that protect words before any network sees them: a rotation, token by token.

It has no noise and looks at no other word, so a word can show at its own position only. What an attacker may learn is
decided by the vocabulary (`GeneralisedVectors`) and by the surrogates ahead of it: what follows them is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from shared.errors import ConfigurationError
from shared.models.representer import clip_to_ball

FRACTION_BITS = 24
"""Products of two such numbers have 48 digits behind the point; within the unit ball their sums fit the 53 of a double."""


@dataclass(frozen=True)
class TokenLocalConfig:
    """Shape of a token-local representer.

    Args:
        inputs: size of the word vectors.
        dim: size of the representation, at most `inputs`.
        fraction_bits: to how many binary digits behind the point vectors and projection are rounded, at most 24: then no
            sum of products is rounded, and every processor computes the same bits. 0, as in version 0.1, rounds nothing.
    """

    inputs: int
    dim: int
    fraction_bits: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.fraction_bits <= FRACTION_BITS:
            raise ConfigurationError(
                f"token-local representer: expected 0 to {FRACTION_BITS} binary digits, got {self.fraction_bits}"
            )
        if not 1 <= self.dim <= self.inputs:
            raise ConfigurationError(
                f"token-local representer: expected a size from 1 to {self.inputs}, that of the word vectors, got {self.dim}"
            )


class TokenLocal(nn.Module):
    """Projects word vectors onto their main directions; the result stays in the unit ball."""

    kind: ClassVar[str] = "token-local"

    def __init__(self, config: TokenLocalConfig) -> None:
        super().__init__()
        self.config = config
        # Not `torch.eye`: on the device `meta`, on which a description is tried first, it takes seconds to load what it needs.
        self.projection = nn.Parameter(torch.zeros(config.inputs, config.dim).fill_diagonal_(1), requires_grad=False)

    @torch.no_grad()
    def end_to_end_noise_free(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The representation of sentences laid end to end. There is no other: it has no noise.

        Args:
            vectors: float32 `[tokens, inputs]`.
            lengths: not used.

        Returns:
            float32 `[tokens, dim]`.
        """
        bits = self.config.fraction_bits
        if not bits:
            return clip_to_ball(vectors @ self.projection)
        # Whole numbers, of which any order of adding gives the same sum.
        whole = (vectors.double() * 2.0**bits).round() @ (self.projection.double() * 2.0**bits).round()
        return clip_to_ball(whole * 4.0**-bits).float()

    @property
    def value_bound(self) -> float:
        """L2 norm that no token's representation exceeds, after rounding to float16."""
        return 1.001

    def raised_value_bound(self, factor: float) -> float:
        """The same: there is no noise to raise."""
        return self.value_bound

    def noise_scales(self) -> dict[str, list[float]]:
        """No noise."""
        return {"input": [0.0] * self.config.inputs, "output": [0.0] * self.config.dim}


def fit_token_local(matrix: Tensor, dim: int) -> TokenLocal:
    """The projection that keeps most of some vectors (principal components about the origin).

    Args:
        matrix: float32 `[words, inputs]`, a row as often as it counts.
        dim: how many directions stay.
    """
    made = TokenLocal(TokenLocalConfig(matrix.shape[1], dim, FRACTION_BITS))
    if dim < matrix.shape[1]:
        _, directions = torch.linalg.eigh((matrix.T @ matrix).double())
        made.projection.copy_(directions.flip(1)[:, :dim].float())
    return made.eval()
