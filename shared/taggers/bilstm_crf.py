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
from shared.sentences.ragged import Batch
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.text.casing import CASING_CLASSES


@dataclass(frozen=True)
class BiLSTMCRFConfig(TaggerConfig):
    """Size and regularisation of a tagger; the defaults are the paper's Table 1.

    Args:
        inputs, tags: as in TaggerConfig.
        hidden: units a direction in both layers.
        input_dropout: on the token vectors, ahead of the casing.
        variational_dropout: on the input of the second layer, one mask a sentence.
        dropout: ahead of the output layer.
    """

    hidden: int = 128
    input_dropout: float = 0.1
    variational_dropout: float = 0.25
    dropout: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden < 1:
            raise ConfigurationError(f"tagger: expected hidden units of at least 1, got {self.hidden}")
        for rate in (self.input_dropout, self.variational_dropout, self.dropout):
            if not 0 <= rate < 1:
                raise ConfigurationError(f"tagger: expected dropout in [0, 1), got {rate}")


class BiLSTMCRF(Tagger):
    """Token vectors and casing in, BIO tags out."""

    kind = "bilstm-crf"
    config_type = BiLSTMCRFConfig
    config: BiLSTMCRFConfig

    def __init__(self, config: BiLSTMCRFConfig) -> None:
        super().__init__(config)
        self.input_dropout = nn.Dropout(config.input_dropout)
        self.first = BiLSTM(config.inputs + len(CASING_CLASSES), config.hidden)
        self.between = LockedDropout(config.variational_dropout)
        self.second = BiLSTM(2 * config.hidden, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(2 * config.hidden, config.tags)
        self.crf = ConditionalRandomField(config.tags)

    def scores(self, batch: Batch) -> Tensor:
        """The emissions of the CRF; see Tagger."""
        one_hot = functional.one_hot(batch.casing, len(CASING_CLASSES)).to(batch.inputs.dtype)
        # A head of before there were shapes knows the first numbers of a token alone.
        known = batch.inputs[:, :, : self.config.inputs]
        vectors = torch.cat([self.input_dropout(known), one_hot], 2)
        hidden = self.second(self.between(self.first(vectors, batch.lengths)), batch.lengths)
        scores: Tensor = self.output(self.dropout(hidden))
        return scores

    def loss(self, batch: Batch) -> Tensor:
        """Negative log-likelihood of each sentence, `[batch]`, in nats, over all tags of a token whose tag is not known."""
        return self.crf.loss_of_known(self.scores(batch), batch.tags, batch.lengths)

    @torch.no_grad()
    def decode(self, batch: Batch) -> Tensor:
        """By Viterbi; see Tagger."""
        return self.crf.decode(self.scores(batch), batch.lengths)

    @torch.no_grad()
    def marginals(self, batch: Batch) -> Tensor:
        """By forward-backward; see Tagger."""
        return self.crf.marginals(self.scores(batch), batch.lengths)

    @torch.no_grad()
    def tags_and_marginals(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Both from the same scores, which cost the most; see Tagger."""
        scores = self.scores(batch)
        return self.crf.decode(scores, batch.lengths), self.crf.marginals(scores, batch.lengths)
