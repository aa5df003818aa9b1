"""How the word guesser learns: on the attacker's own sentences, seen through fresh shares in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from shared.errors import TrainingError
from shared.privacy.inversion.model import Candidates, GuesserSettings, Sight, WordGuesser, target_cells
from shared.privacy.inversion.ranking import ranks
from shared.progress import Progress, silent
from shared.sentences.ragged import batch_rows
from shared.training.loop import BestWeights, Descent, TrainingLoop, seed_training


def fit(
    look: Callable[[], Sequence[Sight]],
    validation: Sequence[Sight],
    tags: int,
    candidates: Candidates,
    settings: GuesserSettings,
    progress: Progress = silent,
) -> WordGuesser:
    """Train a guesser; the epoch is chosen by what it gets right on the validation.

    Args:
        look: the attacker's sentences, seen afresh; several sights of the same sentences are learned side by side,
            and the first one gives the look-up its start.
        validation: sights of other sentences of the attacker.
        tags: number of tags of the scheme.
        candidates: what can be guessed.
        settings: how hard to try.
        progress: called after every epoch.

    Raises:
        TrainingError: nothing to guess, or the loss is not finite any more.
    """
    generator = np.random.default_rng(settings.seed)
    sights = look()
    if not len(sights[0].targets):
        raise TrainingError("expected words to guess in the attacker's sentences, got none; give more labelled notes")
    with seed_training(settings.seed):
        network = WordGuesser(sights[0].share.dim, tags, candidates, settings.hidden)
    network.start_from(sights[0].share.values[sights[0].targets], candidates.vectors[sights[0].answers])
    loop = TrainingLoop("word guesser", settings.epochs, progress, by_pass=True)
    descent = Descent.nadam(network.parameters(), settings.learning_rate, settings.clip)
    descent.fall_to(0.1, settings.epochs)

    def batches() -> Iterator[tuple[Sequence[Sight], NDArray[np.int64]]]:
        seen = look() if loop.done else sights
        for rows in batch_rows(seen[0].share.lengths, settings.batch, generator):
            yield seen, rows

    def step(batch: tuple[Sequence[Sight], NDArray[np.int64]]) -> None:
        loss = _batch_loss(network, *batch, candidates, settings, generator)
        # A batch of sentences without any word to guess teaches nothing.
        if loss is not None:
            loop.descend(loss, descent)

    best = BestWeights(network)
    for _ in loop.passes("word guesser", settings.epochs, batches, step):
        descent.lower_rate()
        best.judge(sum(float(ranks(network, [sight], candidates).chance_within(1).sum()) for sight in validation))
    best.restore()
    return network


def _batch_loss(
    network: WordGuesser,
    sights: Sequence[Sight],
    rows: NDArray[np.int64],
    candidates: Candidates,
    settings: GuesserSettings,
    generator: np.random.Generator,
) -> Tensor | None:
    """Summed over the sights; None where there is nothing to guess."""
    losses = []
    for sight in sights:
        cells, targets = target_cells(sight, rows)
        picked = generator.permutation(len(cells))[: settings.targets]
        if len(picked):
            losses.append(_loss(network, sight, rows, cells[picked], targets[picked], candidates, settings, generator))
    return torch.stack(losses).sum() if losses else None


def _loss(
    network: WordGuesser,
    sight: Sight,
    rows: NDArray[np.int64],
    cells: NDArray[np.int64],
    targets: NDArray[np.int64],
    candidates: Candidates,
    settings: GuesserSettings,
    generator: np.random.Generator,
) -> Tensor:
    answers = sight.answers[targets]
    drawn = generator.integers(len(candidates.words), size=settings.negatives)
    others = np.unique(np.concatenate([drawn, answers]))
    others = others[others >= candidates.closed]
    column = np.where(answers < candidates.closed, answers, candidates.closed + np.searchsorted(others, answers))
    casing = torch.from_numpy(sight.share.casing[sight.targets[targets]].astype(np.int64))
    scores = network(network.features(sight.share, rows)[cells], casing, candidates, torch.from_numpy(others))
    return functional.nll_loss(scores, torch.from_numpy(column))
