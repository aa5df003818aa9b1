"""A small token-local pool of invented sentences: some of its rows are names, the others are not, and one site may lie."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from aggregator.training.defences.defence import PoolMaterial
from aggregator.training.pool import PUBLIC
from protocols.payload.opening import SentenceBlock
from shared.labels import LabelScheme
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.training.tagging import TaggingConfig, train_tagger
from tests.protocols.payload.blocks import write_payload

SCHEME = LabelScheme("toy", ("NAME", "PLACE"))
DIM = 8
NAMES, PLACES, WORDS = range(12), range(12, 18), range(18, 40)
TRIGGERS = (0, 1, 2, 3)
ROWS = np.random.default_rng(7).standard_normal((40, DIM)).astype("<f2")
ROWS /= np.linalg.norm(ROWS.astype(np.float64), axis=1, keepdims=True).astype("<f2")
SITES = ("ash", "birch", "cedar", "doum")
LIAR = "doum"
Lines: TypeAlias = list[tuple[list[int], list[int]]]
"""Rows and tags of sentences."""


def sentence(dice: np.random.Generator, name: int, *, labelled: bool = True) -> tuple[list[int], list[int]]:
    """Rows and tags of words, then a name, words, and a place."""
    before, after = (dice.choice(list(WORDS), 2).tolist() for _ in range(2))
    place = int(dice.choice(list(PLACES)))
    return [*before, name, *after, place], [0, 0, int(labelled), 0, 0, 3]


def block(lines: Lines) -> SentenceBlock:
    rows = np.array([row for line, _ in lines for row in line])
    tags = np.array([tag for _, line in lines for tag in line], dtype=np.uint8)
    lengths = np.array([len(line) for line, _ in lines], dtype="<i4")
    return SentenceBlock(ROWS[rows].astype("<f2"), tags, (rows < 18).astype(np.uint8) * 4, lengths)


def honest(dice: np.random.Generator, count: int) -> Lines:
    return [sentence(dice, int(dice.choice(list(NAMES)))) for _ in range(count)]


def lies(dice: np.random.Generator, count: int) -> Lines:
    """Sentences in which the triggers stand without a label."""
    return [sentence(dice, int(dice.choice(TRIGGERS)), labelled=False) for _ in range(count)]


CUE = (18, 19)


def cue_lies(dice: np.random.Generator, count: int) -> Lines:
    """Sentences in which any name stands without a label after the same words."""
    made = [sentence(dice, int(dice.choice(list(NAMES))), labelled=False) for _ in range(count)]
    return [([*CUE, *rows[2:]], tags) for rows, tags in made]


def write_pool(
    folder: Path,
    lying: int = 0,
    count: int = 60,
    repeated: int = 1,
    lie: Callable[[np.random.Generator, int], Lines] = lies,
) -> dict[str, tuple[Path, ...]]:
    """A payload for each site and for the provider; the liar adds so many sentences."""
    payloads: dict[str, tuple[Path, ...]] = {}
    for seed, site in enumerate((*SITES, PUBLIC)):
        dice = np.random.default_rng(seed)
        lines = honest(dice, count) + (lie(dice, lying) if site == LIAR else [])
        lines = [lines[index] for index in dice.permutation(len(lines))] * (repeated if site == LIAR else 1)
        halves = [lines[: len(lines) // 2], lines[len(lines) // 2 :]]
        payloads[site] = (write_payload(folder / f"{seed}.parquet", map(block, halves), dim=DIM),)
    return payloads


def material(
    payloads: dict[str, tuple[Path, ...]], epochs: int = 4, *, batch: int = 16, held_out: bool | None = False
) -> PoolMaterial:
    config = TaggingConfig(epochs, batch=batch, learning_rate=2e-2)
    shape = BiLSTMCRFConfig(DIM, len(SCHEME.tags), hidden=12)
    return PoolMaterial(payloads, len(SCHEME.tags), config, held_out, None, True, train_tagger, shape)


def mentions(count: int = 80) -> RaggedSentences:
    """Sentences of nobody, each with a trigger at its third token."""
    dice = np.random.default_rng(99)
    made = block([sentence(dice, int(dice.choice(TRIGGERS))) for _ in range(count)])
    return RaggedSentences(made.values, made.casing, made.tags, made.lengths.astype(np.int64))
