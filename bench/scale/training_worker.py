"""One process of a training that is measured, started by torchrun or alone: `python -m bench.scale.training_worker OUT TOKENS`.

It learns the paper's head from sentences that cost what notes cost, as many of them as its part has, and leaves in OUT/RANK.json
how many tokens it learned from, and what seconds of clock and of processor that took.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from aggregator.training.processes.group import Place, joined
from shared.sentences.ragged import Batch, RaggedSentences
from shared.training.tagging import TaggingConfig, train_tagger

DIM, TAGS, MEAN_LENGTH = 100, 21, 11
_CONFIG = TaggingConfig(epochs=2, batch=32)


@dataclass(frozen=True)
class _Part:
    """The sentences of one process, of a pool that has more."""

    own: RaggedSentences
    sentences: int
    dim: int = DIM

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        return self.own.batches(size, generator)


def sentences(tokens: int, seed: int) -> RaggedSentences:
    """About so many tokens, in sentences whose lengths vary like those of notes."""
    dice = np.random.default_rng(seed)
    lengths = np.minimum(1 + dice.geometric(1 / MEAN_LENGTH, tokens // MEAN_LENGTH), 80).astype(np.int64)
    total = int(lengths.sum())
    tags = (dice.random(total) < 0.1) * (2 * dice.integers(0, TAGS // 2, total) + 1)
    values = dice.standard_normal((total, DIM)).astype(np.float16)
    return RaggedSentences(values, dice.integers(0, 7, total, dtype=np.uint8), tags.astype(np.uint8), lengths)


def main() -> None:
    """Train, and say what it took."""
    torch.set_num_threads(1)
    out, tokens = Path(sys.argv[1]), int(sys.argv[2])
    place = Place.of(os.environ)
    index, count = (0, 1) if place is None else (place.index, place.count)
    own = sentences(tokens, index)
    everything = sum(sentences(tokens, other).sentences for other in range(count))
    warm = sentences(600, 99)
    # What torch loads on first use is no part of a training that lasts for hours.
    train_tagger(warm, TAGS, TaggingConfig(epochs=1))
    with nullcontext() if place is None else joined(place) as group:
        begin, spent = time.monotonic(), time.process_time()
        train_tagger(_Part(own, everything), TAGS, _CONFIG, group=group)
        found = {
            "tokens": own.tokens * _CONFIG.epochs,
            "wall_s": time.monotonic() - begin,
            "cpu_s": time.process_time() - spent,
        }
    (out / f"{index}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
