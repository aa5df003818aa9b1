"""What the tests of the procedures that train a representer are run on."""

from __future__ import annotations

import numpy as np
import torch

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.neighbours import Neighbours
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.ragged import RaggedSentences
from shared.training.adversarial.pairs import neighbour_table
from tests.shared.training.toy import VECTORS, WORDS, toy

SOURCE = toy(60)
TABLE = neighbour_table(SOURCE, WORDS, Pseudonymiser(Neighbours(VECTORS), 5), np.random.default_rng(0))
SHAPE = RepresenterConfig(VECTORS.dim, dim=6, hidden=8)
NO_PHI = (toy(10, phi=False), SOURCE.select(np.zeros(0, dtype=np.int64)))
BROKEN = RaggedSentences(np.full_like(SOURCE.values, np.nan), SOURCE.casing, SOURCE.tags, SOURCE.lengths, SOURCE.ids)


def weights(representer: Representer) -> torch.Tensor:
    """All that was learned, laid end to end."""
    return torch.cat([value.flatten() for value in representer.state_dict().values()])
