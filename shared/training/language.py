"""Training of the language model whose states a tagger reads (Peters et al. 2018, section 3; docs/adr/0048).

Each direction predicts the next word, or that there is none, among the commonest words of the texts; what is rarer is one class. Both read
through the same words and predict through the same layer, which is left behind: of the vocabulary nothing travels but what the weights remember.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shared.errors import ConfigurationError, TrainingError
from shared.models.language_model import LanguageModel, LanguageModelConfig
from shared.progress import Progress, silent
from shared.sentences.ragged import batch_rows, padded_positions
from shared.text.spelling import spellings
from shared.text.tokens import tokenise
from shared.training.checkpoint import Checkpoint, digest_arrays
from shared.training.loop import Descent, TrainingLoop, seed_training
from shared.training.parts import Course, Part

# Longer sentences are cut: they are tables and lists, and one of them would make a batch of padding.
_LONGEST_SENTENCE = 60
_HELD_OUT = 50
_BOUNDARY, _RARE, _COMMON = 0, 1, 2
_SCORED = 128


@dataclass(frozen=True)
class LanguageSettings:
    """How a language model is trained.

    Args:
        units: of a word, and of each direction.
        epochs: passes over the texts.
        outputs: words that are predicted by themselves, the commonest ones.
        batch: sentences a step.
        learning_rate: of Nadam.
        clip: bound on the norm of the gradient.
        decay: share of the training, at its end, over which the learning rate falls to zero.
    """

    units: int = 128
    epochs: int = 3
    outputs: int = 8000
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    decay: float = 0.8

    def __post_init__(self) -> None:
        if min(self.units, self.epochs, self.outputs, self.batch) < 1:
            raise ConfigurationError("language model: expected units, epochs, outputs and batch of at least 1")
        if self.learning_rate <= 0 or self.clip <= 0 or not 0 <= self.decay <= 1:
            raise ConfigurationError("language model: expected learning rate and clip above 0 and decay in [0, 1]")


@dataclass(frozen=True)
class LanguageTraining:
    """A language model, and how well it predicts sentences that it never saw.

    Args:
        model: trained.
        tokens: that it learned from.
        words: different ones among them.
        perplexity: of a held-out word, both directions together; lower is better. None where no sentence was held out.
        by_frequency: of one who knows how common each word is, and nothing else.
    """

    model: LanguageModel
    tokens: int
    words: int
    perplexity: float | None
    by_frequency: float | None

    def as_json(self) -> dict[str, object]:
        """All but the model."""
        return {name: value for name, value in vars(self).items() if name != "model"}


class _Texts:
    """Sentences of public texts as numbers, four bytes a token, and the different words."""

    def __init__(self, texts: Iterable[str], outputs: int) -> None:
        numbers: dict[str, int] = {}
        ids: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        lengths: list[int] = []
        for text in texts:
            tokens = tokenise(text)
            ids.append(np.array([numbers.setdefault(word, len(numbers)) for word in tokens.words], dtype=np.int32))
            for start, end in tokens.sentences():
                whole, rest = divmod(end - start, _LONGEST_SENTENCE)
                lengths += [_LONGEST_SENTENCE] * whole + [rest] * (rest > 0)
        self.ids = np.concatenate(ids)
        self.lengths = np.array(lengths, dtype=np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.spelled = spellings(list(numbers))
        held = np.arange(len(self.lengths)) % _HELD_OUT == _HELD_OUT - 1
        self.held_out, self.learned = np.flatnonzero(held), np.flatnonzero(~held)
        counts = np.bincount(self.ids, minlength=len(numbers))
        common = np.argsort(-counts, kind="stable")[:outputs]
        self.classes = np.full(len(numbers), _RARE, dtype=np.int64)
        self.classes[common] = np.arange(len(common)) + _COMMON
        self.outputs = len(common) + _COMMON

    @property
    def digest(self) -> str:
        return digest_arrays(self.ids, self.lengths, self.spelled)

    def batches(self, rows: NDArray[np.int64], size: int, generator: np.random.Generator | None) -> Iterator[_Batch]:
        for places in batch_rows(self.lengths[rows], size, generator):
            chosen = rows[places]
            position, inside = padded_positions(self.starts[chosen], self.lengths[chosen])
            distinct, inverse = np.unique(self.ids[position], return_inverse=True)
            classes = np.where(inside, self.classes[self.ids[position]], _BOUNDARY)
            edge = np.full((len(chosen), 1), _BOUNDARY)
            yield _Batch(
                torch.from_numpy(self.spelled[distinct]),
                torch.from_numpy(inverse.reshape(position.shape)),
                torch.from_numpy(self.lengths[chosen]),
                torch.from_numpy(np.concatenate([classes[:, 1:], edge], 1)[inside]),
                torch.from_numpy(np.concatenate([edge, classes[:, :-1]], 1)[inside]),
                torch.from_numpy(inside),
            )


@dataclass(frozen=True)
class _Batch:
    """Words by their signs, which of them every token is, and what stands behind and before each token that is none of padding."""

    spelled: Tensor
    words: Tensor
    lengths: Tensor
    behind: Tensor
    before: Tensor
    inside: Tensor


class _Learner(nn.Module):
    """The model and the layer that predicts, a word's part by how common it is (Grave et al. 2017)."""

    def __init__(self, config: LanguageModelConfig, outputs: int) -> None:
        super().__init__()
        self.model = LanguageModel(config)
        self.predicted = nn.AdaptiveLogSoftmaxWithLoss(config.units, outputs, [max(1, outputs // 8)])

    def likelihood(self, batch: _Batch) -> Tensor:
        """Log-likelihood of what stands behind and before each token, `[2 * tokens]`."""
        words = self.model.words(batch.spelled)[batch.words]
        ahead, back = self.model.states(words, batch.lengths)[batch.inside].chunk(2, 1)
        found: Tensor = self.predicted(torch.cat([ahead, back]), torch.cat([batch.behind, batch.before])).output
        return found


def train_language_model(
    texts: Iterable[str],
    settings: LanguageSettings | None = None,
    *,
    seed: int,
    progress: Progress = silent,
    checkpoint: Path | None = None,
) -> LanguageTraining:
    """Train a language model, or go on with a training that was cut: it ends in the same weights.

    Args:
        texts: notes or other texts, public ones: weights may remember rare words. Read once.
        settings: how to train; the defaults if None.
        seed: of the training.
        progress: called after every step.
        checkpoint: file that keeps the training after each epoch; None keeps nothing.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: no text, or the loss is not finite any more.
    """
    settings = settings or LanguageSettings()
    read = _Texts(texts, settings.outputs)
    if len(read.learned) == 0:
        raise TrainingError("expected text to learn from, got none; check what the command was given")
    with seed_training(seed):
        learner = _Learner(LanguageModelConfig(settings.units), read.outputs)
        told = {"settings": asdict(settings), "seed": seed, "texts": read.digest}
        _learn(learner.train(), read, settings, seed, progress, checkpoint, told)
    learner.requires_grad_(False)
    model = learner.eval().model
    scored = (None, None) if len(read.held_out) == 0 else (_perplexity(learner, read), _by_frequency(read))
    return LanguageTraining(model, int(read.lengths[read.learned].sum()), len(read.classes), *scored)


def _learn(
    learner: _Learner,
    read: _Texts,
    settings: LanguageSettings,
    seed: int,
    progress: Progress,
    checkpoint: Path | None,
    told: dict[str, object],
) -> None:
    generator = np.random.default_rng(seed)
    steps = -(-len(read.learned) // settings.batch)
    loop = TrainingLoop("language model", settings.epochs * steps, progress)
    descent = Descent.nadam(learner.parameters(), settings.learning_rate, settings.clip)
    descent.fall_late(settings.decay, loop.total)

    def step(batch: _Batch) -> None:
        loop.descend(-learner.likelihood(batch).mean(), descent)
        descent.lower_rate()

    def learn() -> float:
        for _ in loop.passes("language model", 1, lambda: read.batches(read.learned, settings.batch, generator), step):
            pass
        # Nothing is held back that could end it.
        return 0.0

    networks = nn.ModuleDict({"learner": learner})
    kept = None if checkpoint is None else Checkpoint(checkpoint, told, networks, {"learner": descent}, generator)
    Course(networks, kept, lambda: {"steps": loop.done}, lambda facts: loop.take_up(facts["steps"])).run(
        [Part(settings.epochs, learn, settings.epochs, restores=False)]
    )


@torch.no_grad()
def _perplexity(learner: _Learner, read: _Texts) -> float:
    found = [learner.likelihood(batch) for batch in read.batches(read.held_out, _SCORED, None)]
    return math.exp(-float(torch.cat(found).double().mean()))


def _by_frequency(read: _Texts) -> float:
    """Of held-out words and ends by how common each class is among those that were learned."""

    def classes(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        batches = read.batches(rows, _SCORED, None)
        return np.concatenate([part.numpy() for one in batches for part in (one.behind, one.before)])

    counts = np.bincount(classes(read.learned), minlength=read.outputs) + 1
    return math.exp(-float(np.log(counts / counts.sum())[classes(read.held_out)].mean()))
