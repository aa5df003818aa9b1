"""A training step of the tagger against the bare two-layer bidirectional LSTM, forward and backward, on the same batches."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from bench.results import Entry
from bench.speed.material import DATA
from bench.speed.ratio import ratio, seconds_by_turns
from shared.labels import load_scheme
from shared.sentences.ragged import Batch, RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRF, BiLSTMCRFConfig
from shared.text.casing import CASING_CLASSES
from shared.training.loop import Descent, TrainingLoop
from shared.training.tagging import TaggingConfig

SCHEME = "i2b2_2014"
TURNS = 11
_BATCHES = 20


def measure(sentences: RaggedSentences, command: str) -> list[Entry]:
    """Time of our step over that of the bare LSTM."""
    torch.manual_seed(0)
    recipe = TaggingConfig()
    tagger = BiLSTMCRF(BiLSTMCRFConfig(sentences.dim, len(load_scheme(SCHEME).tags))).train()
    descent = Descent.nadam(tagger.parameters(), recipe.learning_rate, recipe.clip)
    bare = nn.LSTM(
        sentences.dim + len(CASING_CLASSES), tagger.config.hidden, num_layers=2, bidirectional=True, batch_first=True
    )
    loop = TrainingLoop("tagger", TURNS * _BATCHES)
    batches = list(sentences.batches(recipe.batch, np.random.default_rng(0)))[:_BATCHES]

    def our_steps() -> None:
        for batch in batches:
            loop.descend(tagger.loss(batch).mean(), descent)

    def bare_passes() -> None:
        for batch in batches:
            bare.zero_grad(set_to_none=True)
            bare(_vectors(batch))[0].sum().backward()

    taken = seconds_by_turns({"ours": our_steps, "bare": bare_passes}, TURNS)
    found = ratio(taken["ours"], taken["bare"])
    return [
        Entry(
            "time of a training step of the tagger, over forward and backward of the bare two-layer nn.LSTM in float32, torch's default",
            found.value,
            1.4,
            "<=",
            "times",
            (found.low, found.high),
            TURNS,
            DATA,
            command,
            f"our step: forward, loss, backward, clipping, Nadam; batch {recipe.batch}, casing in both, both in float32, one thread; "
            f"the bare LSTM runs the padded batch; interval: bootstrap over {TURNS} turns",
        )
    ]


def _vectors(batch: Batch) -> torch.Tensor:
    return torch.cat([batch.inputs, functional.one_hot(batch.casing, len(CASING_CLASSES)).float()], 2)
