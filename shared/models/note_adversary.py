"""The adversary who asks which sentences are of one note: it is given two representations and nothing else."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from shared.models.lstm import BiLSTM


class NoteAdversary(nn.Module):
    """Looks at each sentence by itself, and then at where two of them are alike.

    Args:
        dim: size of the representation.
        hidden: units a direction.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.encoder = BiLSTM(dim, hidden)
        self.output = nn.Sequential(nn.Linear(4 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def summarise(self, representation: Tensor, lengths: Tensor) -> Tensor:
        """What it remembers of each sentence, `[batch, 2 * hidden]`."""
        return self.encoder.last_states(representation, lengths)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Logit that two sentences are of one note, by what is remembered of them, `[pairs]`; their order does not matter."""
        joint = torch.cat([(first - second).abs(), first * second], 1)
        logits: Tensor = self.output(joint).squeeze(1)
        return logits
