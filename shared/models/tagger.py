"""The tagger of Friedrich et al. 2019 (section 3 and Table 1): casing, two BiLSTM layers, CRF.

The same network serves as the non-private baseline, on word embeddings, and as the head, on shared representations.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import ConfigurationError
from shared.models.crf import ConditionalRandomField
from shared.models.lstm import BiLSTM, LockedDropout
from shared.text.casing import CASING_CLASSES


@dataclass(frozen=True)
class TaggerConfig:
    """Size and regularisation of a tagger; the defaults are the paper's Table 1.

    Args:
        inputs: size of a token's vector, without casing.
        tags: number of tags, from the label scheme.
        hidden: units a direction in both layers.
        input_dropout: on the token vectors, ahead of the casing.
        variational_dropout: on the input of the second layer, one mask a sentence.
        dropout: ahead of the output layer.
    """

    inputs: int
    tags: int
    hidden: int = 128
    input_dropout: float = 0.1
    variational_dropout: float = 0.25
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if self.inputs < 1 or self.hidden < 1 or self.tags < 3 or self.tags % 2 == 0:
            raise ConfigurationError(
                f"tagger: expected inputs and hidden of at least 1 and an odd number of tags from 3, got {self.inputs}, {self.hidden}, {self.tags}"
            )
        for rate in (self.input_dropout, self.variational_dropout, self.dropout):
            if not 0 <= rate < 1:
                raise ConfigurationError(f"tagger: expected dropout in [0, 1), got {rate}")


class Tagger(nn.Module):
    """Token vectors and casing in, BIO tags out."""

    def __init__(self, config: TaggerConfig) -> None:
        super().__init__()
        self.config = config
        self.input_dropout = nn.Dropout(config.input_dropout)
        self.first = BiLSTM(config.inputs + len(CASING_CLASSES), config.hidden)
        self.between = LockedDropout(config.variational_dropout)
        self.second = BiLSTM(2 * config.hidden, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(2 * config.hidden, config.tags)
        self.crf = ConditionalRandomField(config.tags)

    def emissions(self, inputs: Tensor, casing: Tensor, lengths: Tensor) -> Tensor:
        """Score of every tag at every token.

        Args:
            inputs: float32 `[batch, steps, inputs]`.
            casing: int64 `[batch, steps]`, indices into CASING_CLASSES.
            lengths: int64 `[batch]`, falling.

        Returns:
            float32 `[batch, steps, tags]`.
        """
        one_hot = functional.one_hot(casing, len(CASING_CLASSES)).to(inputs.dtype)
        vectors = torch.cat([self.input_dropout(inputs), one_hot], 2)
        hidden = self.second(self.between(self.first(vectors, lengths)), lengths)
        scores: Tensor = self.output(self.dropout(hidden))
        return scores

    def loss(self, inputs: Tensor, casing: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """Negative log-likelihood of each sentence, `[batch]`, in nats."""
        return self.crf.negative_log_likelihood(self.emissions(inputs, casing, lengths), tags, lengths)

    @torch.no_grad()
    def predict(self, inputs: Tensor, casing: Tensor, lengths: Tensor) -> Tensor:
        """The best tags, int64 `[batch, steps]`, O on padding."""
        return self.crf.decode(self.emissions(inputs, casing, lengths), lengths)
