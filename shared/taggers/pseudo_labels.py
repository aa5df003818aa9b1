"""Labels that a tagger gives to text that nobody has labelled, for another to learn from (Lee 2013, pseudo-labels)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from shared.labels import UNKNOWN_TAG
from shared.sentences.ragged import RaggedSentences
from shared.taggers.tagger import Tagger

_BATCH = 64


def pseudo_labels(teacher: Tagger, sentences: RaggedSentences, least: float) -> NDArray[np.uint8]:
    """The best tags of a teacher, uint8 `[tokens]`; UNKNOWN_TAG where their probability is below `least`.

    Args:
        teacher: of any kind.
        sentences: what it gets of the text.
        least: probability, in [0, 1].
    """
    tags, starts = np.zeros(len(sentences.tags), dtype=np.uint8), sentences.starts
    teacher.eval()
    for batch in sentences.batches(_BATCH):
        best, marginals = teacher.tags_and_marginals(batch)
        sure = marginals.gather(2, best[:, :, None])[:, :, 0] >= least
        found = torch.where(sure, best, torch.full_like(best, UNKNOWN_TAG)).numpy().astype(np.uint8)
        for row, length, own in zip(batch.rows.tolist(), batch.lengths.tolist(), found, strict=True):
            tags[starts[row] : starts[row] + length] = own[:length]
    return tags
