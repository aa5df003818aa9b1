"""Notes, vocabulary and encoders that the attacks are tried on: one shows everything, one nothing, others a known part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace

import numpy as np
import torch
from numpy.typing import NDArray

from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.labels import LabelScheme
from shared.models.noise import GaussianNoise, NoiseSource
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from tests.shared.embeddings.made import table
from tests.tiny_notes import note

SCHEME = LabelScheme("attacked", ("PERSON", "PLACE"))
_SYLLABLES = ("ba", "do", "fe", "gi", "ku", "lo", "ma", "ne", "pi", "ru", "sa", "to", "va", "xe")
NAMES = tuple(f"{''.join(parts)}".capitalize() for parts in product(_SYLLABLES, repeat=2))
PLAIN = tuple("the patient saw doctor in at and was seen by a nurse who found cough fever pain rash today".split())
VECTORS = table((*PLAIN, *NAMES, "."), dim=12)
NEIGHBOURS = Neighbours(VECTORS)


def notes(count: int, seed: int = 0) -> list[Document]:
    """Notes of two sentences, each with a full name and a place among NAMES."""
    dice = np.random.default_rng(seed)
    made = []
    for number in range(count):
        pieces: list[str | tuple[str, str]] = []
        for _ in range(2):
            given, surname, place = dice.choice(NAMES, 3).tolist()
            before, after = " ".join(dice.choice(PLAIN, 3)), " ".join(dice.choice(PLAIN, 2))
            pieces += [
                f"{before} ",
                (f"{given} {surname}", "PERSON"),
                f" {after} ",
                (place, "PLACE"),
                " .\n",
            ]
        made.append(note(f"n{number}", *pieces))
    return made


@dataclass(frozen=True)
class Blind:
    """Every token looks like every other."""

    scheme: LabelScheme = SCHEME
    gaussian_noise: None = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        tokens = len(chunk.words)
        return RaggedSentences(
            np.ones((tokens, 4), dtype=np.float16), np.zeros(tokens, dtype=np.uint8), chunk.tags, chunk.lengths
        )


@dataclass(frozen=True)
class Mapped:
    """Shows the vector of another word in the place of each."""

    mapping: dict[str, str]
    vectors: WordVectors = VECTORS
    scheme: LabelScheme = SCHEME
    gaussian_noise: None = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        words = [self.mapping.get(word, word) for word in chunk.words]
        return shown_as(self.vectors, words, chunk)


@dataclass(frozen=True)
class Surrogates:
    """Shows a random name in the place of each PHI word, but the word itself with a chance."""

    honest: float = 0.0
    vectors: WordVectors = VECTORS
    scheme: LabelScheme = SCHEME
    gaussian_noise: None = None

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        assert isinstance(noise, torch.Generator)
        chances = torch.rand((len(chunk.words), 2), generator=noise).tolist()
        words = [
            NAMES[int(pick * len(NAMES))] if tag and lie >= self.honest else word
            for word, tag, (pick, lie) in zip(chunk.words, chunk.tags.tolist(), chances, strict=True)
        ]
        return shown_as(self.vectors, words, chunk)


class Noisy:
    """Word vectors under Gaussian noise ahead of nothing and behind it: all is known in closed form."""

    def __init__(self, inputs: float, output: float, vectors: WordVectors = VECTORS) -> None:
        self.vectors = vectors
        self.scheme = SCHEME
        self.representer = SimpleNamespace(
            input_noise=GaussianNoise(vectors.dim, initial=inputs, floor=0.001),
            output_noise=GaussianNoise(vectors.dim, initial=output, floor=0.001),
        )

    @property
    def gaussian_noise(self) -> tuple[NDArray[np.float64], int]:
        return self.representer.output_noise.scale.detach().double().numpy(), self.vectors.dim

    def rehearse_share(self, chunk: TokenisedSentences, noise: NoiseSource) -> RaggedSentences:
        with torch.no_grad():
            rows = self.representer.input_noise(torch.from_numpy(self.vectors.rows(chunk.words)), noise)
            rows = self.representer.output_noise(rows, noise).half().numpy()
        return RaggedSentences(rows, np.zeros(len(rows), dtype=np.uint8), chunk.tags, chunk.lengths)


def shown_as(vectors: WordVectors, words: list[str], chunk: TokenisedSentences) -> RaggedSentences:
    """The vectors and casing of some words, the labels of others."""
    values: NDArray[np.float16] = vectors.rows(words).astype(np.float16)
    return RaggedSentences(values, casing_classes(words), chunk.tags, chunk.lengths)


def clear() -> Mapped:
    """Shows everything."""
    return Mapped({})
