"""What all taggers with a linear-chain CRF on top have in common: whatever gives the scores, the CRF reads them alike."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from shared.labels import UNKNOWN_TAG
from shared.models.crf import ConditionalRandomField
from shared.sentences.ragged import Batch
from shared.taggers.tagger import Tagger

# Far below any score, and well within float32.
_DENIED = -1e4


class CRFTagger(Tagger):
    """A tagger whose scores are the emissions of `crf`, which the subclass makes."""

    crf: ConditionalRandomField

    def loss(self, batch: Batch) -> Tensor:
        """Negative log-likelihood of each sentence, `[batch]`, in nats, over all tags of a token whose tag is not known.

        Nothing is learnt of such a token: between neighbours that are no PHI it would drift towards their tag, all by itself.
        """
        scores, unknown = self.scores(batch), batch.tags == UNKNOWN_TAG
        scores = torch.where(unknown[:, :, None], scores.detach(), scores)
        tags = batch.tags.masked_fill(unknown, 0)
        loss = self.crf.negative_log_likelihood(scores, tags, batch.lengths)
        if bool(unknown.any()):
            # Among all sequences, less among those that agree with what is known: that of one sequence cancels.
            others = functional.one_hot(tags, self.config.tags) == 0
            agreeing = scores.masked_fill(others & ~unknown[:, :, None], _DENIED)
            loss = loss - self.crf.negative_log_likelihood(agreeing, tags, batch.lengths)
        return loss

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
