"""Sentences written anew behind noise, the baseline of Ignashina and Ive (2024): the auto-encoder of ADePT (Krishna et al. 2021), its noise corrected.

A sentence becomes a vector, the vector is clipped, noise is added, and the decoder says what it reads. The paper of ADePT clips in L2 and adds
Laplace noise for that, which is not epsilon-private in many dimensions (Habernal 2021); here the vector is clipped to an L1 ball of radius C, in which
any two vectors are at most 2C apart in L1, so that Laplace noise of scale 2C/epsilon in every coordinate is epsilon-private for the sentence.

This is an experiment: floating-point noise of a seeded generator protects nobody, and the auto-encoder is trained on the notes themselves. Nothing of it is in
the programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor, nn

LENGTH = 16
_VOCABULARY = 3000
_BATCH = 64
_PADDING, _START, _UNKNOWN = range(3)


@dataclass(frozen=True)
class AdeptConfig:
    """The recipe.

    Args:
        epsilon: of a sentence; None adds no noise.
        clip: radius of the L1 ball.
        dim: of the vector.
        steps: of the training.
        seed: of weights, order and noise.
    """

    epsilon: float | None = 100.0
    clip: float = 16.0
    dim: int = 96
    steps: int = 300
    seed: int = 0


class Adept(nn.Module):
    """The auto-encoder.

    Args:
        words: its vocabulary.
        config: the recipe.
    """

    def __init__(self, words: Sequence[str], config: AdeptConfig) -> None:
        super().__init__()
        self.words = ["", "", "", *words]
        self.rows = {word: row for row, word in enumerate(self.words) if word}
        self.config = config
        self.embedding = nn.Embedding(len(self.words), config.dim, padding_idx=_PADDING)
        self.encoder = nn.GRU(config.dim, config.dim, batch_first=True)
        self.decoder = nn.GRU(2 * config.dim, config.dim, batch_first=True)
        self.output = nn.Linear(config.dim, len(self.words))

    def rows_of(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Rows of words, int64 `[sentences, LENGTH]`."""
        rows = torch.full((len(sentences), LENGTH), _PADDING)
        for line, words in enumerate(sentences):
            for place, word in enumerate(islice(words, LENGTH)):
                rows[line, place] = self.rows.get(word, _UNKNOWN)
        return rows

    def encode(self, rows: Tensor) -> Tensor:
        """Clipped vectors of sentences, float32 `[sentences, dim]`."""
        _, last = self.encoder(self.embedding(rows))
        norms = last[0].abs().sum(1, keepdim=True)
        clipped: Tensor = last[0] * (self.config.clip / norms.clamp(min=self.config.clip))
        return clipped

    def loss(self, rows: Tensor) -> Tensor:
        """Of saying the sentences again, by their vectors and the words ahead."""
        vector = self.encode(rows)
        ahead = torch.cat([torch.full((len(rows), 1), _START), rows[:, :-1]], 1)
        given = torch.cat([self.embedding(ahead), vector[:, None].expand(-1, LENGTH, -1)], 2)
        hidden, _ = self.decoder(given, vector[None])
        return nn.functional.cross_entropy(self.output(hidden).flatten(0, 1), rows.flatten(), ignore_index=_PADDING)

    @torch.no_grad()
    def rewrite(self, sentences: Sequence[Sequence[str]], generator: torch.Generator) -> list[list[str]]:
        """Sentences behind the noise, the likeliest word at each place, as long as they were."""
        written: list[list[str]] = []
        for start in range(0, len(sentences), 256):
            rows = self.rows_of(sentences[start : start + 256])
            vector = self._noisy(self.encode(rows), generator)
            hidden, last = vector[None], torch.full((len(rows), 1), _START)
            said = []
            for _ in range(LENGTH):
                given = torch.cat([self.embedding(last), vector[:, None]], 2)
                state, hidden = self.decoder(given, hidden)
                scores = self.output(state[:, 0])
                scores[:, : _UNKNOWN + 1] = -torch.inf
                last = scores.argmax(1, keepdim=True)
                said.append(last)
            lengths = (rows != _PADDING).sum(1).tolist()
            for line, length in zip(torch.cat(said, 1).tolist(), lengths, strict=True):
                written.append([self.words[row] for row in line[:length]])
        return written

    def _noisy(self, vectors: Tensor, generator: torch.Generator) -> Tensor:
        if self.config.epsilon is None:
            return vectors
        # The difference of two exponentials is Laplace.
        first, second = (torch.empty_like(vectors).exponential_(generator=generator) for _ in range(2))
        return vectors + (first - second) * (2 * self.config.clip / self.config.epsilon)


def train_adept(sentences: Sequence[Sequence[str]], config: AdeptConfig) -> Adept:
    """An auto-encoder of sentences.

    Args:
        sentences: words in lower case.
        config: the recipe.
    """
    counts = Counter(word for words in sentences for word in words)
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        made = Adept([word for word, _ in counts.most_common(_VOCABULARY)], config)
    generator = torch.Generator().manual_seed(config.seed)
    rows = made.rows_of(sentences)
    optimizer = torch.optim.Adam(made.parameters(), 3e-3)
    for _ in range(config.steps):
        batch = rows[torch.randint(len(rows), (_BATCH,), generator=generator)]
        optimizer.zero_grad()
        made.loss(batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return made
