"""How the word guesser learns: on the attacker's own sentences, seen through fresh shares in every pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import TrainingError
from shared.privacy.inversion.model import Candidates, GuesserSettings, Sight, WordGuesser, target_cells
from shared.privacy.inversion.ranking import ranks
from shared.sentences.ragged import batch_rows
from shared.training.tagging import Progress, silent


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
    torch.manual_seed(settings.seed)
    sights = look()
    if not len(sights[0].targets):
        raise TrainingError("expected words to guess in the attacker's sentences, got none; give more labelled notes")
    network = WordGuesser(sights[0].share.dim, tags, candidates, settings.hidden)
    network.start_from(sights[0].share.values[sights[0].targets], candidates.vectors[sights[0].answers])
    optimizer = torch.optim.NAdam(network.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, settings.epochs)
    best = -1.0
    state: dict[str, Tensor] = {}
    for epoch in range(settings.epochs):
        sights = look() if epoch else sights
        _pass(network, optimizer, sights, candidates, settings, generator)
        schedule.step()
        right = sum(float(ranks(network, [sight], candidates).within(1).sum()) for sight in validation)
        if right > best:
            best, state = right, {key: value.clone() for key, value in network.state_dict().items()}
        progress("word guesser", epoch + 1, settings.epochs)
    network.load_state_dict(state)
    return network


def _pass(
    network: WordGuesser,
    optimizer: torch.optim.Optimizer,
    sights: Sequence[Sight],
    candidates: Candidates,
    settings: GuesserSettings,
    generator: np.random.Generator,
) -> None:
    for rows in batch_rows(sights[0].share.lengths, settings.batch, generator):
        loss = torch.zeros(())
        for sight in sights:
            cells, targets = target_cells(sight, rows)
            picked = generator.permutation(len(cells))[: settings.targets]
            if len(picked):
                loss = loss + _loss(
                    network, sight, rows, cells[picked], targets[picked], candidates, settings, generator
                )
        if not bool(torch.isfinite(loss)):
            raise TrainingError("the word guesser's loss is not finite; lower the learning rate or check the shares")
        if loss.requires_grad:
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
            optimizer.step()


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
