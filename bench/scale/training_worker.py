"""One process of a training that is measured, started by torchrun or alone: `python -m bench.scale.training_worker POOL OUT`.

It learns the paper's head from its part of a pool on disk, and leaves in OUT/RANK.json how many tokens it learned from, and what
seconds of clock and of processor that took.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch

from aggregator.training.part import PoolPart
from aggregator.training.pool import Pool, read_blocks
from aggregator.training.processes.group import Place, joined
from protocols.payload.opening import SentenceBlock, create_payload
from shared.training.tagging import TaggingConfig, train_tagger

DIM, TAGS, MEAN_LENGTH = 100, 21, 11
_BLOCK = 8000
_CONFIG = TaggingConfig(epochs=2, batch=32)


def write_pool(path: Path, tokens: int) -> None:
    """A payload of about so many tokens, in sentences whose lengths vary like those of notes."""
    dice = np.random.default_rng(1)
    with create_payload(path, dim=DIM) as writer:
        for _ in range(-(-tokens // _BLOCK)):
            lengths = np.minimum(1 + dice.geometric(1 / MEAN_LENGTH, _BLOCK // MEAN_LENGTH), 80).astype("<i4")
            total = int(lengths.sum())
            tags = (dice.random(total) < 0.1) * (2 * dice.integers(0, TAGS // 2, total) + 1)
            values = dice.standard_normal((total, DIM)).astype("<f2")
            writer.append(SentenceBlock(values, tags.astype(np.uint8), dice.integers(0, 7, total, np.uint8), lengths))


def main() -> None:
    """Train, and say what it took."""
    torch.set_num_threads(1)
    payload, out = map(Path, sys.argv[1:])
    place = Place.of(os.environ)
    part = None if place is None else PoolPart(place.index, place.count)
    with Pool([payload], part=part) as pool:
        # What torch loads on first use is no part of a training that lasts for hours.
        train_tagger(next(read_blocks(payload)).select(np.arange(50)), TAGS, TaggingConfig(epochs=1))
        with nullcontext() if place is None else joined(place) as group:
            begin, spent = time.monotonic(), time.process_time()
            train_tagger(pool, TAGS, _CONFIG, group=group)
            found = {
                "tokens": pool.tokens * _CONFIG.epochs / (1 if place is None else place.count),
                "wall_s": time.monotonic() - begin,
                "cpu_s": time.process_time() - spent,
            }
    (out / f"{0 if place is None else place.index}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
