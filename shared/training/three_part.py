"""The three-part training of a representer against two adversaries (Friedrich et al. 2019, section 5.4 and Figure 3, after
Feutry et al. 2018).

1. Representer and tagger learn the task.
2. The representer is frozen, and the adversaries learn to tell sentences from their false twins.
3. In turn, an epoch each: (a) the representer is frozen, tagger and adversaries learn, each its own loss; (b) tagger and
   adversaries are frozen, and the representer learns  L_tag + weight * |L_adversary - log 2|.

Each part ends by its loss on sentences that are held back, in part 3 by that of (b), and its best epoch is restored.

What the paper leaves open, and what is done here; "program" is what its authors published:

- How long a part waits for a better epoch: 10 epochs, as in the program.
- Optimisers: one for each of 1, 2, 3a and 3b, as in the program, with a learning rate that stays.
- An epoch of part 3: a pass over all sentences in batches of 32, beside each a batch of 16 pairs. The program samples as many
  sentences with PHI as without; the text says nothing of it.
- Where the distance from chance is taken: at every decision, as in the program.
- Frozen networks keep their dropout, as in the program. The held-back sentences are judged without it; the program judges
  part 3 by sentences that it trains on, which we take for a slip.
- Which comes first in part 3: (a), as in the text; in the program (b).

By intention differs what protects: the output is bounded before its noise, no noise falls below the floor of `GaussianNoise`,
and a false twin never equals its original (see `pairs`).

`alternation="batches"` is a variant of ours: part 3 alternates by batch, representer and tagger learn together, and the rate falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress, silent
from shared.sentences.ragged import Batch, RaggedSentences
from shared.training.adversarial.adversaries import AdversarialTraining
from shared.training.adversarial.pairs import NeighbourTable
from shared.training.loop import frozen, seed_training
from shared.training.parts import Part
from shared.training.representing import Step, TrainingRecord

Alternation = Literal["epochs", "batches"]


@dataclass(frozen=True)
class ThreePartConfig:
    """How a representer is trained.

    Args:
        task_epochs: passes of part 1, at most.
        adversary_epochs: passes of part 2 over the sentences with PHI, at most.
        joint_epochs: passes of part 3, at most; of (a) and of (b) each.
        patience: epochs without a better one that end a part; 10 in the authors' program.
        alternation: what part 3 takes turns by: "epochs" as published, or "batches".
        batch: sentences a step for the task; half as many pairs a step for the adversaries.
        learning_rate: of Nadam, for all networks.
        clip: bound on the norm of every gradient.
        weight: of the adversaries' part in the representer's loss.
        adversary_hidden: units a direction; 300 in the paper.
        seed: of everything random.
    """

    task_epochs: int = 6
    adversary_epochs: int = 3
    joint_epochs: int = 6
    patience: int = 10
    alternation: Alternation = "epochs"
    batch: int = 32
    learning_rate: float = 2e-3
    clip: float = 1.0
    weight: float = 1.0
    adversary_hidden: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        epochs = (self.task_epochs, self.adversary_epochs, self.joint_epochs, self.patience)
        if min(*epochs, self.batch, self.adversary_hidden) < 1:
            raise ConfigurationError(
                "three-part training: expected epochs, patience, batch and hidden units of at least 1"
            )
        if self.alternation not in ("epochs", "batches"):
            raise ConfigurationError(
                f"three-part training: expected epochs or batches in turn, got {self.alternation!r}"
            )
        if min(self.learning_rate, self.clip, self.weight) <= 0:
            raise ConfigurationError("three-part training: expected learning rate, clip and weight above 0")


class ThreePartTraining(AdversarialTraining):
    """The three parts; see AdversarialTraining."""

    def learn(self, config: ThreePartConfig) -> None:
        """All parts, or what is left of them where the training goes on from a checkpoint."""
        by_epochs = config.alternation == "epochs"
        self.loop.total = self.loop.done + self.steps * (config.task_epochs + config.joint_epochs * (1 + by_epochs))
        self.loop.total += self.pair_steps * config.adversary_epochs
        self.branches = self.descent(self.tagger, self.adversaries)
        self.representation = self.descent(self.representer)
        # A new one: what the optimiser of part 1 remembers is of another loss.
        self.joint = self.descent(self.representer, self.tagger)
        self.joint.fall_to(0.02, config.joint_epochs * self.steps)
        joint_epoch = self.learn_in_turn if by_epochs else self.learn_batch_by_batch
        parts = [
            Part(config.task_epochs, self.learn_task, config.patience),
            Part(config.adversary_epochs, lambda: self.learn_attack(self.attack), config.patience),
            Part(config.joint_epochs, joint_epoch, config.patience),
        ]
        descents = {"task": self.task, "attack": self.attack, "branches": self.branches}
        self.run(parts, "training", descents | {"representation": self.representation, "joint": self.joint})

    def learn_task(self) -> float:
        """An epoch of part 1."""

        def step(batch: Batch) -> Step:
            loss = self.task_loss(batch)
            self.loop.descend(loss, self.task)
            return Step(task_loss=loss.item())

        [steps] = self.loop.passes("task", 1, self.batches, step)
        held = self.judge_task()
        self.note("task", steps, held)
        return held

    def learn_in_turn(self) -> float:
        """An epoch of part 3a and one of part 3b."""
        with frozen(self.representer):
            self.learn_branches()
        with frozen(self.tagger, self.adversaries):
            return self.learn_representation()

    def learn_branches(self) -> None:
        """Part 3a: tagger and adversaries, of what the representer shows."""
        pairs = self.pair_batches()

        def step(batch: Batch) -> Step:
            task = self.task_loss(batch)
            attack, right = self.attack_loss(next(pairs))
            self.loop.descend(task + attack, self.branches)
            return Step(task.item(), right)

        [steps] = self.loop.passes("branches", 1, self.batches, step)
        self.note("branches", steps)

    def learn_representation(self) -> float:
        """Part 3b: the representer, of what tagger and adversaries make of it."""
        pairs = self.pair_batches()

        def step(batch: Batch) -> Step:
            task = self.task_loss(batch)
            distance, right = self.distance_loss(next(pairs))
            self.loop.descend(task + self.rates.weight * distance, self.representation)
            return Step(task.item(), right)

        [steps] = self.loop.passes("representation", 1, self.batches, step)
        held = self.judge_both()
        self.note("representation", steps, held)
        return held

    def learn_batch_by_batch(self) -> float:
        """An epoch of the variant: representer and tagger take a step against the adversaries, then these take one."""
        pairs = self.pair_batches()

        def step(batch: Batch) -> Step:
            task = self.task_loss(batch)
            distance, _ = self.distance_loss(next(pairs))
            self.loop.descend(task + self.rates.weight * distance, self.joint)
            self.joint.lower_rate()
            return Step(task.item(), self.attack_step(next(pairs), self.attack).accuracy)

        [steps] = self.loop.passes("joint", 1, self.batches, step)
        held = self.judge_both()
        self.note("joint", steps, held)
        return held


def train_representer(
    source: RaggedSentences,
    table: NeighbourTable,
    tags: int,
    shape: RepresenterConfig,
    config: ThreePartConfig,
    progress: Progress = silent,
    checkpoint: Path | None = None,
    held: RaggedSentences | None = None,
) -> tuple[Representer, TrainingRecord]:
    """Train a representer on public notes.

    Args:
        source: labelled public sentences as word ids into unit word vectors; the last of them end the parts.
        table: what each word id may be replaced by.
        tags: number of tags of the label scheme.
        shape: the representer.
        config: the recipe.
        progress: called after every step.
        checkpoint: file that keeps the training between epochs, and one that was cut goes on by; None keeps nothing.
        held: sentences to judge by, ids into the same vectors; None for the last of the source.

    Returns:
        the frozen representer and the record of its training.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: fewer than two sentences hold PHI, or the loss is not finite any more.
    """
    with seed_training(config.seed):
        training = ThreePartTraining(source, table, tags, shape, config, progress, held=held, checkpoint=checkpoint)
        training.learn(config)
        return training.finish()
