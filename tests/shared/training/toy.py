"""Toy sentences for trainings of seconds: a name always follows "Dr"."""

from __future__ import annotations

import numpy as np

from shared.sentences.ragged import RaggedSentences
from tests.shared.embeddings.made import table

WORDS = (
    "the",
    "patient",
    "saw",
    "Dr",
    "on",
    "a",
    "day",
    *(f"Name{letter}" for letter in "abcdefghijkl"),
    ".",
    "12",
    "34",
)
VECTORS = table(WORDS, dim=10)
NAMES = tuple(index for index, word in enumerate(WORDS) if word.startswith("Name"))


def toy(count: int, seed: int = 0, *, phi: bool = True) -> RaggedSentences:
    """Sentences as word ids, 3 tags: the word behind "Dr" is a name, B; a second name behind it is I."""
    generator = np.random.default_rng(seed)
    ids: list[int] = []
    tags: list[int] = []
    lengths: list[int] = []
    for _ in range(count):
        before = generator.integers(0, 3, size=generator.integers(0, 4)).tolist()
        names = generator.choice(NAMES, size=generator.integers(1, 3)).tolist() if phi else []
        after = generator.integers(4, 7, size=generator.integers(1, 5)).tolist()
        sentence = [*before, *([3] if phi else []), *names, *after, len(WORDS) - 3]
        lengths.append(len(sentence))
        ids += sentence
        marked = [0] * len(sentence)
        begin = len(before) + 1
        marked[begin : begin + len(names)] = [1, 2][: len(names)] if phi else []
        tags += marked
    casing = np.zeros(len(ids), dtype=np.uint8)
    return RaggedSentences(
        VECTORS.matrix,
        casing,
        np.array(tags, dtype=np.uint8),
        np.array(lengths, dtype=np.int64),
        np.array(ids, dtype=np.int32),
    )


def random_sentences(lengths: list[int], *, dim: int = 5, tags: int = 5, seed: int = 0) -> RaggedSentences:
    """Random vectors, casing and tags."""
    generator = np.random.default_rng(seed)
    tokens = sum(lengths)
    return RaggedSentences(
        generator.standard_normal((tokens, dim)).astype(np.float32),
        generator.integers(0, 7, tokens, dtype=np.uint8),
        generator.integers(0, tags, tokens, dtype=np.uint8),
        np.array(lengths, dtype=np.int64),
    )
