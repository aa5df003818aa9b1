"""The network that guesses words from a share: what token inversion and readability have in common.

It reads a sentence as a share shows it (representation, casing, tag) with a BiLSTM, so it uses the context too, and
mixes two ways to name a word, each of which covers what the other can't:

- a classifier over the words that the attacker has seen often;
- a look-up: the public word vector is predicted, and every word of the public vocabulary is scored by its product
  with it, so that words come up that the attacker has never seen labelled. It starts from the least-squares solution.

A gate learns from the words that the attacker has seen only once, which are to the classifier what an unseen word is,
when to trust which.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.models.lstm import BiLSTM, lstm_precision
from shared.sentences.ragged import RaggedSentences
from shared.text.casing import CASING_CLASSES, casing_classes

HIDDEN_CASING = len(CASING_CLASSES)
"""Class of a token whose casing is not shown."""


@dataclass(frozen=True)
class GuesserSettings:
    """How hard the attacker tries.

    Args:
        epochs: passes, each over fresh shares of the attacker's sentences.
        sentences: of the attacker, at most.
        vocabulary: words that the classifier knows, the most frequent ones that occur at least twice.
        hidden: units a direction.
        batch: sentences a step.
        targets: words to guess in a step, at most.
        negatives: public words that the look-up is trained against in a step.
        learning_rate: of Nadam; it falls linearly to a tenth.
        clip: bound on the norm of the gradient.
        seed: of everything random.
    """

    epochs: int = 8
    sentences: int = 8000
    vocabulary: int = 5000
    hidden: int = 128
    batch: int = 32
    targets: int = 512
    negatives: int = 1024
    learning_rate: float = 2e-3
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = (self.epochs, self.sentences, self.vocabulary, self.hidden, self.batch, self.targets, self.negatives)
        if min(sizes) < 1 or min(self.learning_rate, self.clip) <= 0:
            raise ConfigurationError("word guesser: expected sizes of at least 1 and learning rate and clip above 0")


@dataclass(frozen=True, repr=False)
class Candidates:
    """The words that can be guessed; never log them.

    Args:
        words: the attacker's words, most frequent first, then the rest of the public vocabulary.
        vectors: float32 `[words, dim]`.
        casing: int64 `[words]`.
        closed: so many of the first are known to the classifier.
    """

    words: tuple[str, ...]
    vectors: Tensor
    casing: Tensor
    closed: int

    @classmethod
    def of(cls, seen: Iterable[str], vectors: WordVectors, vocabulary: int) -> Candidates:
        """Args: seen: the words behind the attacker's targets. vectors: public. vocabulary: size of the classifier, at most."""
        counts = Counter(seen).most_common()
        closed = min(vocabulary, sum(count > 1 for _, count in counts)) or min(vocabulary, len(counts))
        words = tuple(dict.fromkeys([*(word for word, _ in counts), *vectors.words]))
        casing = torch.from_numpy(casing_classes(words).astype(np.int64))
        return cls(words, torch.from_numpy(vectors.rows(words)), casing, closed)

    def ids(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Row of each word, -1 for one that can't be guessed."""
        index = {word: row for row, word in enumerate(self.words)}
        return np.array([index.get(word, -1) for word in words], dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Sight:
    """What the attacker sees of some sentences, and the words to guess.

    Args:
        share: representation (scaled to a spread near 1) with tags; casing may be HIDDEN_CASING.
        targets: indices of the tokens to guess, ascending, int64 `[targets]`.
        answers: candidate of each target, -1 where it is none, int64 `[targets]`.
    """

    share: RaggedSentences
    targets: NDArray[np.int64]
    answers: NDArray[np.int64]


class WordGuesser(nn.Module):
    """Log-probability of each candidate at a token."""

    def __init__(self, dim: int, tags: int, candidates: Candidates, hidden: int) -> None:
        super().__init__()
        inputs = dim + HIDDEN_CASING + 1 + tags
        features = 2 * hidden + inputs
        self.dim, self.tags, self.context = dim, tags, 2 * hidden
        self.encoder = BiLSTM(inputs, hidden)
        self.closed = nn.Linear(features, candidates.closed)
        self.query = nn.Linear(features, candidates.vectors.shape[1])
        self.gate = nn.Linear(features, 1)
        self.casing = nn.Parameter(torch.zeros(HIDDEN_CASING + 1, HIDDEN_CASING))
        self.sharpness = nn.Parameter(torch.tensor(math.log(20.0)))

    @torch.no_grad()
    def start_from(self, values: NDArray[np.floating], vectors: Tensor) -> None:
        """Let the look-up start with the least-squares map from a representation to its word's vector.

        Args:
            values: `[tokens, dim]`. vectors: of their words, `[tokens, word dim]`.
        """
        shown = torch.from_numpy(np.hstack([values, np.ones((len(values), 1))])).double()
        square = shown.T @ shown + len(shown) * 1e-4 * torch.eye(self.dim + 1, dtype=torch.float64)
        solution = torch.linalg.solve(square, shown.T @ vectors.double()).float()
        self.query.weight.mul_(0.1)
        self.query.weight[:, self.context : self.context + self.dim] = solution[:-1].T
        self.query.bias.copy_(solution[-1])

    def features(self, share: RaggedSentences, rows: NDArray[np.int64]) -> Tensor:
        """Float32 `[batch * steps, features]` of sentences in order of falling length."""
        batch = share.batch(rows, share.starts)
        inputs = torch.cat(
            [
                batch.inputs,
                functional.one_hot(batch.casing, HIDDEN_CASING + 1).float(),
                functional.one_hot(batch.tags, self.tags).float(),
            ],
            2,
        )
        return torch.cat([self.encoder(inputs, batch.lengths), inputs], 2).flatten(0, 1)

    def forward(self, features: Tensor, casing: Tensor, candidates: Candidates, others: Tensor) -> Tensor:
        """Log-probabilities, float32 `[targets, closed + others]`.

        Args:
            features: of the targets. casing: shown with them.
            others: candidates behind the closed ones that take part, ascending.
        """
        part = torch.cat([torch.arange(candidates.closed), others])
        with lstm_precision():
            closed = self.closed(features)
            score = self.query(features) @ candidates.vectors[part].T
        score = score.float() * self.sharpness.exp() + self.casing[casing][:, candidates.casing[part]]
        gate = self.gate(features)
        looked_up = functional.logsigmoid(-gate) + score.log_softmax(1)
        classified = functional.logsigmoid(gate) + closed.float().log_softmax(1)
        mixed = torch.logaddexp(looked_up[:, : candidates.closed], classified)
        return torch.cat([mixed, looked_up[:, candidates.closed :]], 1)


def target_cells(sight: Sight, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells of a padded batch laid end to end that hold a target, and which target each is."""
    share = sight.share
    steps = int(share.lengths[rows[0]])
    first, last = share.starts[rows], share.starts[rows] + share.lengths[rows]
    low, high = np.searchsorted(sight.targets, first), np.searchsorted(sight.targets, last)
    counts = high - low
    targets = np.repeat(low - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    line = np.repeat(np.arange(len(rows)), counts)
    return line * steps + sight.targets[targets] - first[line], targets
