"""How long the demonstration takes here, and how far it is."""

from __future__ import annotations

import time

import numpy as np
import torch

from shared.sentences.ragged import Batch
from shared.taggers.registry import build_tagger, default_config
from shared.training.loop import Descent, TrainingLoop, seed_training

RAW = "raw notes"
_USUAL_S = {
    "aggregator train-embeddings": 7.0,
    "aggregator train-repr": 8.0,
    "aggregator audit": 75.0,
    "aggregator publish": 4.0,
    "site-client pull": 2.5,
    "site-client encode": 5.0,
    "site-client inspect": 2.5,
    "aggregator ingest": 3.0,
    "aggregator train-head": 85.0,
    "aggregator release": 4.0,
    "site-client deid": 5.0,
    RAW: 75.0,
}
"""Seconds of each step with `_USUAL_NOTES` notes of each hospital on a machine of `_USUAL_RATE`; of any other step `_SHORT_S`."""
_SHORT_S = 0.5
_USUAL_NOTES = 60
_USUAL_RATE = 10.0
_PROBE_S = 1.0
_SENTENCES, _TOKENS, _DIM, _TAGS = 32, 20, 200, 51


class Pace:
    """How far a demonstration is.

    Args:
        steps: names of all that it will do, in order.
        notes: of each hospital.
        rate: see `training_rate`.
    """

    def __init__(self, steps: list[str], notes: int, rate: float) -> None:
        scale = notes / _USUAL_NOTES * _USUAL_RATE / rate
        self._left = [_USUAL_S.get(step, _SHORT_S) * scale for step in steps]
        self.seconds = sum(self._left)
        """How long it takes in all, as far as can be told ahead."""

    @property
    def percent(self) -> int:
        """How much of it is done."""
        return round(100 * (1 - sum(self._left) / self.seconds))

    def step(self) -> None:
        """Another step is done."""
        del self._left[:1]


def training_rate() -> float:
    """Steps a second of a training like the demonstration's, measured for about a second on one thread."""
    torch.set_num_threads(1)
    with seed_training(0):
        tagger = build_tagger(default_config(_DIM, _TAGS)).train()
        batch = Batch(
            torch.randn(_SENTENCES, _TOKENS, _DIM),
            torch.zeros(_SENTENCES, _TOKENS, dtype=torch.int64),
            torch.ones(_SENTENCES, _TOKENS, dtype=torch.int64),
            torch.full((_SENTENCES,), _TOKENS),
            np.arange(_SENTENCES),
        )
        loop, descent = TrainingLoop("tagger", 1), Descent.nadam(tagger.parameters(), 1e-3, 1.0)
        # The first step makes room, and takes longer than the others.
        loop.descend(tagger.loss(batch).mean(), descent)
        done, began = 0, time.perf_counter()
        while time.perf_counter() - began < _PROBE_S:
            loop.descend(tagger.loss(batch).mean(), descent)
            done += 1
    return done / (time.perf_counter() - began)
