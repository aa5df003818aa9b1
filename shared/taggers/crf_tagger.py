"""What all taggers with a linear-chain CRF on top have in common: whatever gives the scores, the CRF reads them alike."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from shared.models.crf import ConditionalRandomField
from shared.sentences.ragged import Batch
from shared.taggers.tagger import Tagger


class CRFTagger(Tagger):
    """A tagger whose scores are the emissions of `crf`, which the subclass makes."""

    crf: ConditionalRandomField

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
    def draw(self, batch: Batch, generator: np.random.Generator) -> Tensor:
        """See Tagger."""
        return self.crf.draw(self.scores(batch), batch.lengths, generator)

    @torch.no_grad()
    def tags_and_marginals(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Both from the same scores, which cost the most; see Tagger."""
        scores = self.scores(batch)
        return self.crf.decode(scores, batch.lengths), self.crf.marginals(scores, batch.lengths)
