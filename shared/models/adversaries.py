"""The two adversaries of Friedrich et al. 2019 (section 5.3), which try to tell a word from its neighbours.

T1 is given the clean word vectors of a sentence and a representation, and decides whether the one made the other.
T2 is given two representations, and decides whether they come from the same sentence.

The pairs are near-duplicates: the false sentence differs in one PHI word, replaced by one of its N neighbours.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.models.lstm import BiLSTM


class InputAdversary(nn.Module):
    """T1: word vectors against a representation.

    Args:
        inputs: size of the word vectors.
        dim: size of the representation.
        hidden: units a direction; 300 in the paper.
    """

    def __init__(self, inputs: int, dim: int, hidden: int = 300) -> None:
        super().__init__()
        self.encoder = BiLSTM(inputs + dim, hidden)
        self.output = nn.Linear(2 * hidden, 1)

    def forward(self, vectors: Tensor, representation: Tensor, lengths: Tensor) -> Tensor:
        """Logit that the representation was made from the vectors, `[batch]`."""
        joint = torch.cat([vectors, representation], 2)
        logits: Tensor = self.output(self.encoder.last_states(joint, lengths)).squeeze(1)
        return logits


class RepresentationAdversary(nn.Module):
    """T2: two representations and their cosine at every token.

    Args:
        dim: size of the representation.
        hidden: units a direction; 300 in the paper.
    """

    def __init__(self, dim: int, hidden: int = 300) -> None:
        super().__init__()
        self.encoder = BiLSTM(2 * dim + 1, hidden)
        self.output = nn.Linear(2 * hidden, 1)

    def forward(self, first: Tensor, second: Tensor, lengths: Tensor) -> Tensor:
        """Logit that both representations come from the same sentence, `[batch]`."""
        cosine = functional.cosine_similarity(first, second, dim=2).unsqueeze(2)
        joint = torch.cat([first, second, cosine], 2)
        logits: Tensor = self.output(self.encoder.last_states(joint, lengths)).squeeze(1)
        return logits
