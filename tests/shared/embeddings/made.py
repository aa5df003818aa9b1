"""Word vectors made by code, for the tests of everything that stands on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from shared.embeddings.subwords import Subwords
from shared.embeddings.vectors import WordVectors, unit_rows

NAMES = ("Alder", "Birke", "Cedro", "Douglas", "Esche", "Föhre")
VERBS = ("saw", "called", "examined", "visited")


def table(words: Sequence[str], dim: int = 8, seed: int = 0) -> WordVectors:
    """Random vectors of kind "words"."""
    matrix = np.random.default_rng(seed).standard_normal((len(words), dim), dtype=np.float32)
    return WordVectors(words, unit_rows(matrix))


def with_subwords(words: Sequence[str], dim: int = 8, buckets: int = 50, seed: int = 0) -> WordVectors:
    """Random vectors of kind "subwords"."""
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((len(words), dim), dtype=np.float32)
    grams = generator.standard_normal((buckets, dim), dtype=np.float32)
    return WordVectors(words, unit_rows(matrix), Subwords(2, 4, grams))


def notes(count: int, seed: int = 0) -> Iterator[str]:
    """Short invented notes, read once."""
    generator = np.random.default_rng(seed)
    for number in range(count):
        first, second, verb = *generator.choice(NAMES, 2), generator.choice(VERBS)
        yield f"Dr. {first} {verb} {second} on {number % 28 + 1}/05/2019. The patient is well, señor.\n"
