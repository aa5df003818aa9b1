"""Training against the two adversaries T1 and T2 (Friedrich et al. 2019, section 5.3): what `three_part` and `dann` share.

Some of the sentences are held back: nobody learns from them, and the loss on them says when a part of the training is over and
which of its epochs was best. The noise and the false twins on which they are judged are the same every time, dropout is off.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from shared.errors import TrainingError
from shared.models.adversaries import InputAdversary, RepresentationAdversary
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress
from shared.sentences.ragged import Batch, RaggedSentences, batch_rows
from shared.training.adversarial.pairs import NeighbourTable, sentences_with_phi, twin_batch
from shared.training.loop import Descent
from shared.training.parts import Part
from shared.training.representing import Recipe, RepresenterTraining, Step, TrainingRecord

# Of all sentences, the share at the end that is held back where nobody gives others; the last belong to the last documents.
_HELD_SHARE = 0.15
_JUDGED_AT_ONCE = 64


class AdversarialRecipe(Recipe, Protocol):
    """The settings that both procedures have besides."""

    @property
    def learning_rate(self) -> float:
        """Of both sides' optimisers."""

    @property
    def adversary_hidden(self) -> int:
        """Units a direction of T1 and T2."""

    @property
    def weight(self) -> float:
        """Of the adversaries' part in the representer's loss."""

    @property
    def patience(self) -> int:
        """Epochs without a better one that end a part."""


class Judged(NamedTuple):
    """What the adversaries are on some pairs.

    Args:
        loss: nats a decision; log 2 is chance.
        distance: how far a decision's loss is from that, in nats.
        right: share of the decisions that are right, true and false pairs alike.
    """

    loss: float
    distance: float
    right: float


class AdversarialTraining(RepresenterTraining):
    """A training of a representer with T1 and T2; see RepresenterTraining.

    Args:
        source, table, tags, shape, recipe, progress: as there; the table knows the words of both sources.
        held: sentences to judge by, word ids into the same vectors; None for the last of the source, which are then not
            learned from.
        checkpoint: file that keeps the training between epochs; None keeps nothing.

    Raises:
        TrainingError: too few sentences with PHI to learn from some and judge by others.
    """

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        recipe: AdversarialRecipe,
        progress: Progress,
        *,
        held: RaggedSentences | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        if held is None:
            source, held = hold_back(source, table)
        super().__init__(source, table, tags, shape, recipe, progress, checkpoint)
        self.held, self.held_with_phi = held, sentences_with_phi(held, table)
        if not len(self.held_with_phi):
            raise TrainingError("expected sentences with PHI to judge the adversaries by, got none; give more notes")
        self.adversaries = nn.ModuleList(self.make_adversaries(shape, recipe))
        self.networks["adversaries"] = self.adversaries
        self.rates = recipe
        self.task = self.descent(self.representer, self.tagger)
        self.attack = self.descent(self.adversaries)
        self.pair_steps = -(-len(self.with_phi) // self.pairs)
        self.told["held"] = self.digest(held)

    def make_adversaries(self, shape: RepresenterConfig, recipe: AdversarialRecipe) -> list[nn.Module]:
        """T1 and T2, before anybody has trained them."""
        return [
            InputAdversary(shape.inputs, shape.dim, recipe.adversary_hidden),
            RepresentationAdversary(shape.dim, recipe.adversary_hidden),
        ]

    def descent(self, *networks: nn.Module) -> Descent:
        """Nadam for some networks, their gradients clipped together."""
        parameters = [parameter for network in networks for parameter in network.parameters()]
        return Descent.nadam(parameters, self.rates.learning_rate, self.rates.clip)

    def represent_pairs(
        self, batch: Batch, twin: Tensor, noise: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Representations of sentences and of their false twins, `[2 * batch, steps, dim]`; the sentences' once more.

        Every call draws fresh noise, also for the second look at the same sentence; None for torch's own generator.
        """
        noise = noise or torch.default_generator
        shown = self.representer(torch.cat([batch.inputs, twin]), torch.cat([batch.lengths, batch.lengths]), noise)
        return shown, self.representer(batch.inputs, batch.lengths, noise)

    def decide(self, batch: Batch, shown: Tensor, again: Tensor) -> tuple[Tensor, Tensor]:
        """Logit of both adversaries' mean for the true pairs and for the false ones, `[batch]` each."""
        lengths = torch.cat([batch.lengths, batch.lengths])
        first = self.adversaries[0](torch.cat([batch.inputs, batch.inputs]), shown, lengths)
        second = self.adversaries[1](torch.cat([again, again]), shown, lengths)
        # The paper's loss is on the mean of the two probabilities; the log-odds of that mean serve as its logit.
        mean = (torch.sigmoid(first) + torch.sigmoid(second)) / 2
        logit = torch.logit(mean, eps=1e-6)
        return logit[: len(batch.rows)], logit[len(batch.rows) :]

    def learn_attack(self, descent: Descent, stage: str = "adversaries") -> float:
        """One epoch of the adversaries alone: every sentence with PHI beside a false twin. Gives their loss on held-back pairs."""
        [steps] = self.loop.passes(stage, 1, self.pair_pass, lambda rows: self.attack_step(rows, descent))
        judged = self.judge_attack()
        self.note(stage, steps, judged.loss)
        return judged.loss

    def attack_step(self, rows: NDArray[np.int64], descent: Descent) -> Step:
        """One step of the adversaries; what they look at stays as it is."""
        loss, right = self.attack_loss(rows)
        self.loop.descend(loss, descent)
        return Step(accuracy=right)

    def attack_loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, float]:
        """Cross-entropy of the adversaries on some pairs, in nats a decision, and the share of decisions that are right."""
        batch, twin = self.twins(rows)
        with torch.no_grad():
            shown, again = self.represent_pairs(batch, twin)
        true, false = self.decide(batch, shown, again)
        return self.adversary_loss(true, false).mean(), right_share(true, false)

    def distance_loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, float]:
        """How far the adversaries are from chance on some pairs, in nats a decision, and the share that is right."""
        batch, twin = self.twins(rows)
        logits = self.decide(batch, *self.represent_pairs(batch, twin))
        return from_chance(*logits).mean(), right_share(*logits)

    def continue_attack(self, epochs: int) -> TrainingRecord:
        """Let the adversaries go on against the frozen representer, as the paper's protocol has it (sections 2.2 and 7.3).

        They go on from where they are, by a new optimiser, for all of these epochs; the last one stays.
        """
        descent = self.descent(self.adversaries)
        part = Part(epochs, lambda: self.learn_attack(descent, "continued"), patience=epochs, restores=False)
        self.run([part], "continued", {"continued": descent})
        return self.record

    @torch.no_grad()
    def judge_task(self) -> float:
        """Nats a sentence of the tagger on the sentences that are held back."""
        self.tagger.eval()
        noise = torch.Generator().manual_seed(self.recipe.seed)
        losses = [self.task_loss(batch, noise) * len(batch.rows) for batch in self.held.batches(_JUDGED_AT_ONCE)]
        self.tagger.train()
        return float(torch.stack(losses).sum()) / self.held.sentences

    def judge_attack(self) -> Judged:
        """The adversaries on the sentences that are held back."""
        true, false = self.decisions(self.held, self.held_with_phi, self.recipe.seed)
        both = torch.stack([functional.softplus(-true), functional.softplus(false)])
        return Judged(float(both.mean()), float(from_chance(true, false).mean()), right_share(true, false))

    @torch.no_grad()
    def decisions(self, source: RaggedSentences, rows: NDArray[np.int64], seed: int) -> tuple[Tensor, Tensor]:
        """What the adversaries say of some sentences beside themselves, and beside a false twin each, `[rows]` logits each.

        Args:
            source: of word ids into the vectors of the training.
            rows: sentences with PHI.
            seed: of twins and noise.
        """
        generator, noise = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
        true, false = torch.empty(len(rows)), torch.empty(len(rows))
        for places in batch_rows(source.lengths[rows], _JUDGED_AT_ONCE):
            batch, twin = twin_batch(source, rows[places], self.table, generator)
            at = torch.from_numpy(places)
            true[at], false[at] = self.decide(batch, *self.represent_pairs(batch, twin, noise))
        return true, false

    @staticmethod
    def adversary_loss(true: Tensor, false: Tensor) -> Tensor:
        """Cross-entropy of each pair of decisions, in nats, `[pairs]`; log 2 is chance."""
        return (functional.softplus(-true) + functional.softplus(false)) / 2

    def judge_both(self) -> float:
        """The representer's loss (equation 2 of the paper) on what is held back."""
        return self.judge_task() + self.rates.weight * self.judge_attack().distance

    def finish(self) -> tuple[Representer, TrainingRecord]:
        """The representer, frozen, and the record, which ends with what is restored, judged by what is held back."""
        task, attack = self.judge_task(), self.judge_attack()
        self.note("restored", [Step(task, attack.right)], task + self.rates.weight * attack.distance)
        return super().finish()


def hold_back(source: RaggedSentences, table: NeighbourTable) -> tuple[RaggedSentences, RaggedSentences]:
    """Some sentences to learn from, and the last ones to judge by, among which is one with PHI.

    Raises:
        TrainingError: fewer than two sentences have PHI.
    """
    with_phi = sentences_with_phi(source, table)
    if len(with_phi) < 2:
        raise TrainingError(
            f"expected at least two sentences with PHI, to learn from one and judge by the other, got {len(with_phi)}; "
            "check the labels of the corpus"
        )
    cut = min(source.sentences - math.ceil(_HELD_SHARE * source.sentences), int(with_phi[-1]))
    rows = np.arange(source.sentences)
    # However few sentences with PHI there are, one is left to learn from.
    cut = max(cut, int(with_phi[0]) + 1)
    return source.select(rows[:cut]), source.select(rows[cut:])


def from_chance(true: Tensor, false: Tensor) -> Tensor:
    """|l_adv - l_random| of equation 2, decision by decision as in the authors' program, in nats, `[2, pairs]`."""
    return (torch.stack([functional.softplus(-true), functional.softplus(false)]) - math.log(2)).abs()


def right_share(true: Tensor, false: Tensor) -> float:
    """Share of the decisions that are right."""
    return float(((true > 0).float().mean() + (false < 0).float().mean()) / 2)
