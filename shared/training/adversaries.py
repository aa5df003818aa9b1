"""Training against the two adversaries T1 and T2 (Friedrich et al. 2019, section 5.3): what `three_part` and `dann` share."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.models.adversaries import InputAdversary, RepresentationAdversary
from shared.models.representer import RepresenterConfig
from shared.progress import Progress
from shared.sentences.ragged import Batch, RaggedSentences
from shared.training.loop import Descent
from shared.training.pairs import NeighbourTable
from shared.training.representing import Recipe, RepresenterTraining


class AdversarialRecipe(Recipe, Protocol):
    """The settings that both procedures have besides: learning rate of all networks, units of the adversaries."""

    @property
    def learning_rate(self) -> float:
        """Of both sides' optimisers."""

    @property
    def adversary_hidden(self) -> int:
        """Units a direction of T1 and T2."""


class AdversarialTraining(RepresenterTraining):
    """A training of a representer with T1, T2 and an optimiser for each side; see RepresenterTraining."""

    def __init__(
        self,
        source: RaggedSentences,
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        recipe: AdversarialRecipe,
        progress: Progress,
    ) -> None:
        super().__init__(source, table, tags, shape, recipe, progress)
        self.adversaries = nn.ModuleList(
            [
                InputAdversary(shape.inputs, shape.dim, recipe.adversary_hidden),
                RepresentationAdversary(shape.dim, recipe.adversary_hidden),
            ]
        )
        self.task = Descent.nadam(self.task_parameters, recipe.learning_rate, recipe.clip)
        self.attack = Descent.nadam(self.adversaries.parameters(), recipe.learning_rate, recipe.clip)

    def represent_pairs(self, batch: Batch, twin: Tensor) -> tuple[Tensor, Tensor]:
        """Representations of sentences and of their false twins, `[2 * batch, steps, dim]`; the sentences' once more.

        Every call draws fresh noise, also for the second look at the same sentence.
        """
        noise = torch.default_generator
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

    @staticmethod
    def adversary_loss(true: Tensor, false: Tensor) -> Tensor:
        """Cross-entropy of each pair of decisions, in nats, `[pairs]`; log 2 is chance."""
        return (functional.softplus(-true) + functional.softplus(false)) / 2


def right_share(true: Tensor, false: Tensor) -> float:
    """Share of the decisions that are right."""
    return float(((true > 0).float().mean() + (false < 0).float().mean()) / 2)
