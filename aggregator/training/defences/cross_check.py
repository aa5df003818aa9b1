"""`cross-check`: a sentence is left out where a head that never saw its site is sure that a label is missing.

For each site a small head is trained on all others. A hospital's own ways of writing make such a head overlook PHI; they hardly
make it sure of PHI that is none. So a token without a label that the others' head is sure of is what a liar would send, or an
annotator's slip, and neither should train the head.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from aggregator.training.defences.defence import PoolMaterial, Selection
from aggregator.training.pool import PUBLIC, Pool, Taken, read_blocks
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import Tagger

SURE = 0.95
"""Probability of PHI, of any category, from which on the others' head is sure."""
HIDDEN = 32
STEPS = 250


class CrossCheck(Selection):
    """The others' head decides which label is missing."""

    name = "cross-check"
    title = "sentences in which the head of all other sites is sure that a label is missing are left out"

    def choose(self, material: PoolMaterial) -> dict[Path, Taken]:
        """See Selection. A pool of one site has nobody to ask."""
        taken: dict[Path, Taken] = {}
        for site, paths in material.payloads.items():
            others = material.without(site)
            if site == PUBLIC or not others:
                continue
            head = train_small(replace(material, payloads=others))
            for path in paths:
                taken[path] = Taken(tuple(~_left_out(head, block) for block in read_blocks(path)))
        return taken


def train_small(material: PoolMaterial) -> Tagger:
    """A small head in haste, whose cost does not grow with the pool."""
    with material.pool() as pool:
        steps = -(-pool.sentences // material.config.batch)
        epochs = max(1, min(material.config.epochs, STEPS // steps))
        rate = min(1.0, STEPS * material.config.batch / max(pool.sentences, 1))
    config = replace(material.config, epochs=epochs, least_steps=0, learning_rate=5e-3)
    taken = {path: Taken(rate=rate) for path in material.files} if rate < 1 else {}
    with material.pool(taken) as pool:
        shape = BiLSTMCRFConfig(pool.dim, material.tags, hidden=HIDDEN)
        return material.learn(pool, material.tags, config, shape=shape, progress=material.progress)


def _left_out(head: Tagger, block: RaggedSentences) -> NDArray[np.bool_]:
    missing = np.zeros(block.sentences, dtype=np.bool_)
    with torch.no_grad():
        for batch in block.batches(256):
            sure = 1 - head.marginals(batch)[:, :, 0] >= SURE
            inside = torch.arange(batch.tags.shape[1])[None, :] < batch.lengths[:, None]
            missing[batch.rows] = (sure & inside & (batch.tags == 0)).any(1).numpy()
    return missing
