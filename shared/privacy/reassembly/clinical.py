"""Which sentences of a share are clinical, as whoever holds the share sees it.

A header line ("Name: ...", "Referred by: Dr ...") looks like the same line of every other note, so whatever is averaged over
all sentences hides how well the others are joined. It is short, or mostly PHI, and lengths and tags are what a share shows for sure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.sentences.layout import SentenceLayout

LEAST_TOKENS = 10
# In MEDDOCAN's training notes a long line is PHI to a quarter at most or to more than half; hardly any lies between.
MOST_PHI = 0.25


def clinical_rows(shown: SentenceLayout, shortest: int = LEAST_TOKENS, most_phi: float = MOST_PHI) -> NDArray[np.int64]:
    """The clinical sentences, ascending.

    Args:
        shown: of a share.
        shortest: they have so many tokens at least.
        most_phi: so much of their tokens is labelled PHI at the most.
    """
    phi = np.add.reduceat((shown.tags > 0).astype(np.int64), shown.starts) if shown.sentences else shown.lengths
    return np.flatnonzero((shown.lengths >= shortest) & (phi <= most_phi * shown.lengths))
