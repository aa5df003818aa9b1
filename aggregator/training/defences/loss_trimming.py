"""`trim`: after a short training the sentences that the head finds hardest are left out, and the head is trained anew.

Iterative trimmed loss minimisation (Shen and Sanghavi 2019), one round: it assumes that what is wrong is hard to learn. A trigger
that stands in many sentences is easy to learn, which is its weakness here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import PUBLIC, Taken, read_blocks
from shared.sentences.ragged import RaggedSentences
from shared.taggers.tagger import Tagger

SHARE = 0.05
"""Of the sentences of hospitals, so many are left out: those of the greatest loss a token."""


class LossTrimming(Selection):
    """What the head can't learn does not train it."""

    name = "trim"
    title = f"the {SHARE:.0%} of the sentences that a first head finds hardest are left out"

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection."""
        head = _train_hastily(material)
        paths = [path for site, paths in material.payloads.items() if site != PUBLIC for path in paths]
        losses = {path: [_losses(head, material.read(block)) for block in read_blocks(path)] for path in paths}
        together = [block for blocks in losses.values() for block in blocks]
        if not together:
            return {}
        bound = float(np.quantile(np.concatenate(together), 1 - SHARE))
        return {path: Taken(tuple(block <= bound for block in blocks)) for path, blocks in losses.items()}


def _train_hastily(material: PoolMaterial) -> Tagger:
    hasty = material.hasten()
    with hasty.pool() as pool:
        return hasty.learn_from(pool, "first")


def _losses(head: Tagger, block: RaggedSentences) -> NDArray[np.float64]:
    """Loss a token of every sentence."""
    found = np.zeros(block.sentences)
    with torch.no_grad():
        for batch in block.batches(256):
            found[batch.rows] = (head.loss(batch) / batch.lengths).numpy()
    return found
