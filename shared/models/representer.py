"""The representer: word vectors in, noisy representation out (Friedrich et al. 2019, section 5.2 and Figure 2).

word vectors -> noise -> BiLSTM -> linear -> unit ball -> noise

The authors' program normalises after its noise, which the paper does not say; here the output is bounded before the noise,
so that the last noise is a Gaussian mechanism of known sensitivity (any two outputs are at most 2 apart) and everything behind
it is post-processing: normalising after it too, which is a setting, weakens nothing that the noise proves.
Casing is never an input: it goes to the tagger beside the representation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import ConfigurationError
from shared.models.lstm import BiLSTM, lstm_precision
from shared.models.noise import GaussianNoise, NoiseSource, PrivateSource
from shared.models.noise_source import PrivateNoise, SentenceNoise
from shared.models.shapes import rounded_steps


@dataclass(frozen=True)
class RepresenterConfig:
    """Shape and noise of a representer.

    Args:
        inputs: size of the word vectors.
        dim: size of the representation; the paper's d.
        hidden: units a direction.
        input_noise: initial standard deviation on the word vectors, which have length 1.
        output_noise: initial standard deviation on the representation, which has length at most 1.
        noise_floor: standard deviation that no dimension falls below, input or output.
        normalised: 1 to stretch or shrink what comes out of the noise to length 1, as the authors' program does; 0 to leave it.
    """

    inputs: int
    dim: int = 50
    hidden: int = 128
    input_noise: float = 0.02
    output_noise: float = 0.05
    noise_floor: float = 0.01
    normalised: int = 0

    def __post_init__(self) -> None:
        if min(self.inputs, self.dim, self.hidden) < 1:
            raise ConfigurationError(
                f"representer: expected sizes of at least 1, got {self.inputs}, {self.dim}, {self.hidden}"
            )
        if self.normalised not in (0, 1):
            raise ConfigurationError(f"representer: expected normalised to be 0 or 1, got {self.normalised}")
        if not 0 < self.noise_floor <= min(self.input_noise, self.output_noise):
            raise ConfigurationError(
                f"representer: expected 0 < noise floor <= initial noise, got {self.noise_floor}, {self.input_noise} and {self.output_noise}"
            )


def clip_to_ball(vectors: Tensor) -> Tensor:
    """The vectors, drawn back to the unit ball where they lie outside."""
    length: Tensor = vectors.norm(dim=-1, keepdim=True)
    return vectors / length.clamp(min=1.0)


class Representer(nn.Module):
    """The noisy recurrent encoder whose output may leave a hospital."""

    kind: ClassVar[str] = "recurrent"

    def __init__(self, config: RepresenterConfig) -> None:
        super().__init__()
        self.config = config
        self.input_noise = GaussianNoise(config.inputs, initial=config.input_noise, floor=config.noise_floor)
        self.encoder = BiLSTM(config.inputs, config.hidden)
        self.output = nn.Linear(2 * config.hidden, config.dim)
        self.output_noise = GaussianNoise(config.dim, initial=config.output_noise, floor=config.noise_floor)

    def mean(self, vectors: Tensor, lengths: Tensor, source: NoiseSource) -> Tensor:
        """The representation ahead of its output noise, each token in the unit ball, `[batch, steps, dim]`."""
        return self.bounded(self.input_noise(vectors, source), lengths)

    def bounded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The same of word vectors that have their input noise already, or none."""
        return clip_to_ball(self.output(self.encoder(vectors, lengths)))

    def _finished(self, vectors: Tensor) -> Tensor:
        """What becomes of the representation behind its noise, or where there is none in its place."""
        return functional.normalize(vectors, dim=-1) if self.config.normalised else vectors

    def forward(self, vectors: Tensor, lengths: Tensor, source: NoiseSource) -> Tensor:
        """A fresh noisy representation, for training.

        Args:
            vectors: word vectors of length 1, float32 `[batch, steps, inputs]`.
            lengths: int64 `[batch]`.
            source: of all noise, as in `GaussianNoise`.

        Returns:
            float32 `[batch, steps, dim]`.
        """
        return self._finished(self.output_noise(self.mean(vectors, lengths, source), source))

    def noise_free(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The representation without any noise, for inference inside one house. It must never leave it."""
        return self._finished(self.bounded(vectors, lengths))

    def end_to_end(
        self, vectors: Tensor, lengths: Tensor, source: PrivateSource, factors: Tensor | None = None
    ) -> Tensor:
        """The representation of sentences laid end to end, as it may leave, at the speed that inference needs.

        Args:
            vectors: word vectors of length 1, float32 `[tokens, inputs]`.
            lengths: int64 `[batch]`, falling, their sum the number of tokens.
            source: of all noise; what others could draw again could be subtracted.
            factors: how many times its scale the output noise of each token has, `[tokens]`; None for once.

        Returns:
            float32 `[tokens, dim]`.

        Raises:
            TypeError: the source is not private.
        """
        if not isinstance(source, PrivateNoise | SentenceNoise):
            raise TypeError(f"expected a private source of noise, got {type(source).__name__}; see `PrivateSource`")
        return self.end_to_end_rehearsed(vectors, lengths, source, factors)

    @torch.no_grad()
    def end_to_end_rehearsed(
        self, vectors: Tensor, lengths: Tensor, source: NoiseSource, factors: Tensor | None = None
    ) -> Tensor:
        """The same under noise of any source, for attacks and measurements: it is not to leave."""
        mean = self._end_to_end_bounded(self.input_noise(vectors, source), lengths)
        return self._finished(self.output_noise(mean, source, 1.0 if factors is None else factors[:, None]))

    @torch.no_grad()
    def end_to_end_noise_free(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The same without any noise, for inference inside one house, as in `noise_free`. It must never leave it."""
        return self._finished(self._end_to_end_bounded(vectors, lengths))

    def _end_to_end_bounded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """`bounded` of sentences laid end to end."""
        with lstm_precision():
            hidden = self.encoder.end_to_end(vectors, lengths)
            # No two batches have as many tokens, and each number of them would be compiled for.
            more = rounded_steps(len(hidden)) - len(hidden)
            parts = self.output(functional.pad(hidden, (0, 0, 0, more)))[: len(hidden)]
        # Bounded in float32, so that the bound holds exactly where the noise needs it.
        return clip_to_ball(parts.float())

    @property
    def value_bound(self) -> float:
        """L2 norm that no token's noisy representation exceeds, but with a chance below 1e-13.

        The mean has norm at most 1; a Gaussian vector of d dimensions exceeds (sqrt(d) + 8) standard deviations with a
        chance of at most exp(-32) (concentration of Lipschitz functions of Gaussians). Normalised, it has norm 1, and what
        rounding adds.
        """
        if self.config.normalised:
            return 1.001
        return 1.0 + float(self.output_noise.scale.max()) * (math.sqrt(self.config.dim) + 8)

    def raised_value_bound(self, factor: float) -> float:
        """The same under so many times its output noise."""
        return self.value_bound if self.config.normalised else 1 + factor * (self.value_bound - 1)

    @torch.no_grad()
    def noise_scales(self) -> dict[str, list[float]]:
        """Standard deviations per dimension, as published with the weights."""
        return {"input": self.input_noise.scale.tolist(), "output": self.output_noise.scale.tolist()}
