"""The three-part training where labelled PHI is public anyway: its adversaries ask for clinical words, and for the note.

The course is that of `three_part`; the questions are others. T1 and T2 (Friedrich et al. 2019, section 5.3) are asked about words that
are no PHI: a false twin differs in one clinical word, replaced by a word, or a group of words, that is near it. A third adversary gets the
representations of two sentences and decides whether they are of one note. The representer is held against both in equation 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shared.errors import TrainingError
from shared.models.note_adversary import NoteAdversary
from shared.models.representer import Representer, RepresenterConfig
from shared.progress import Progress, silent
from shared.sentences.ragged import RaggedSentences
from shared.training.adversarial.adversaries import AdversarialRecipe, Judged, from_chance, hold_back, right_share
from shared.training.adversarial.pairs import NeighbourTable
from shared.training.checkpoint import digest_arrays
from shared.training.loop import seed_training
from shared.training.representing import TrainingRecord
from shared.training.three_part import ThreePartConfig, ThreePartTraining

# Nobody asks for the note of a sentence that is too short to tell.
_LEAST_TOKENS = 4
_JUDGED_PAIRS = 128
_AT_ONCE = 512


@dataclass(frozen=True, repr=False)
class ClinicalWords:
    """What is asked for: words that are no PHI and not among the commonest, and groups of words.

    Args:
        public: words that are shown by themselves, bool `[words]`; behind all words come the groups.
        common: of these the commonest, bool `[words]`.
        neighbours: N, candidates among which the true one should not be found, itself included.
    """

    public: NDArray[np.bool_]
    common: NDArray[np.bool_]
    neighbours: int

    def table(self, source: RaggedSentences) -> NeighbourTable:
        """What may stand in the place of each word or group of some sentences.

        Args:
            source: sentences of ids into unit vectors: of all words, then of all groups.

        Raises:
            TrainingError: there is nothing to ask for, or nothing else that could have stood there.
        """
        assert source.ids is not None
        words, rows = len(self.public), len(source.values)
        groups = np.arange(words, rows)
        # Of a small vocabulary all words are common.
        rare = np.flatnonzero(self.public & ~self.common)
        kinds = [rare if len(rare) > 1 else np.flatnonzero(self.public), groups]
        seen = np.zeros(rows, dtype=np.bool_)
        seen[source.ids[source.tags == 0]] = True
        asked = [kind[seen[kind]] for kind in kinds if len(kind) > 1]
        found = [
            _nearest(source.values, own, kind, self.neighbours - 1)
            for own, kind in zip(asked, (kind for kind in kinds if len(kind) > 1), strict=True)
        ]
        if not sum(map(len, asked)):
            raise TrainingError(
                "expected words that are no PHI to train the adversaries on, and others that could stand in their place, got none; "
                "give more public notes or texts, or choose a smaller --cluster-size"
            )
        position = np.full(rows, -1, dtype=np.int32)
        every = np.concatenate(asked)
        position[every] = np.arange(len(every))
        return NeighbourTable(np.concatenate(found), position, labelled=False)


def _nearest(
    values: NDArray[np.floating], asked: NDArray[np.int64], kind: NDArray[np.int64], count: int
) -> NDArray[np.int32]:
    """The nearest others of the same kind, over and over again where there are fewer, int32 `[asked, count]`."""
    taken = min(count, len(kind) - 1)
    lines = np.empty((len(asked), taken), dtype=np.int32)
    for begin in range(0, len(asked), _AT_ONCE):
        own = asked[begin : begin + _AT_ONCE]
        likeness = values[own] @ values[kind].T
        likeness[own[:, None] == kind[None, :]] = -np.inf
        lines[begin : begin + len(own)] = kind[np.argpartition(-likeness, taken - 1, axis=1)[:, :taken]]
    return lines[:, np.arange(count) % taken]


class NotePairs:
    """Draws sentences of one note and of two.

    Args:
        notes: which note each sentence is of, int64 `[sentences]`.
        lengths: of the sentences.
    """

    def __init__(self, notes: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        rows = np.flatnonzero(lengths >= _LEAST_TOKENS)
        _, own, sizes = np.unique(notes[rows], return_inverse=True, return_counts=True)
        several = sizes[own] > 1
        rows = rows[several]
        # Note after note; of each sentence where its note begins and how many it has.
        self._rows = rows[np.argsort(notes[rows], kind="stable")]
        self.notes = notes
        _, starts, line, counts = np.unique(
            notes[self._rows], return_index=True, return_inverse=True, return_counts=True
        )
        self._starts, self._counts = starts[line], counts[line]
        self.possible = len(counts) > 1

    def draw(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Sentences, for each another one of its note, and one of another note, int64 `[3, count]`."""
        places = generator.integers(len(self._rows), size=count)
        first, size = self._starts[places], self._counts[places]
        mates = first + (places - first + 1 + (generator.random(count) * (size - 1)).astype(np.int64)) % size
        away = (first + size + (generator.random(count) * (len(self._rows) - size)).astype(np.int64)) % len(self._rows)
        drawn: NDArray[np.int64] = self._rows[np.stack([places, mates, away])]
        return drawn


class ClinicalTraining(ThreePartTraining):
    """The same three parts with another table, and with an adversary more; see ThreePartTraining.

    Args:
        source: sentences to learn from.
        held: sentences to judge by.
        notes: which note each sentence is of, first those of the source.
        table, tags, shape, config, progress, checkpoint: as there.
    """

    def __init__(
        self,
        source: RaggedSentences,
        held: RaggedSentences,
        notes: NDArray[np.int64],
        table: NeighbourTable,
        tags: int,
        shape: RepresenterConfig,
        config: ThreePartConfig,
        progress: Progress,
        *,
        checkpoint: Path | None = None,
    ) -> None:
        super().__init__(source, table, tags, shape, config, progress, held=held, checkpoint=checkpoint)
        self.told["notes"] = digest_arrays(notes)
        cut = source.sentences
        self.note_pairs, self.held_pairs = (
            NotePairs(own, part.lengths) for own, part in ((notes[:cut], source), (notes[cut:], held))
        )

    def make_adversaries(self, shape: RepresenterConfig, recipe: AdversarialRecipe) -> list[nn.Module]:
        """T1, T2, and who asks for the note."""
        return [*super().make_adversaries(shape, recipe), NoteAdversary(shape.dim, recipe.adversary_hidden)]

    def attack_loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, float]:
        """The sum of both questions, in nats a decision, and the mean share of decisions that are right."""
        loss, right = super().attack_loss(rows)
        if not self.note_pairs.possible:
            return loss, right
        with torch.no_grad():
            shown = self._represent_notes(self.source, self.note_pairs, self.pairs, self.generator)
        true, false = self._decide_notes(*shown)
        return loss + self.adversary_loss(true, false).mean(), (right + right_share(true, false)) / 2

    def distance_loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, float]:
        """The sum of the distances from chance, and the mean share of decisions that are right."""
        loss, right = super().distance_loss(rows)
        if not self.note_pairs.possible:
            return loss, right
        true, false = self._decide_notes(
            *self._represent_notes(self.source, self.note_pairs, self.pairs, self.generator)
        )
        return loss + from_chance(true, false).mean(), (right + right_share(true, false)) / 2

    @torch.no_grad()
    def judge_attack(self) -> Judged:
        """All adversaries on the sentences that are held back."""
        words = super().judge_attack()
        if not self.held_pairs.possible:
            return words
        generator = np.random.default_rng(self.recipe.seed)
        noise = torch.Generator().manual_seed(self.recipe.seed)
        shown = self._represent_notes(self.held, self.held_pairs, _JUDGED_PAIRS, generator, noise)
        true, false = self._decide_notes(*shown)
        return Judged(
            words.loss + float(self.adversary_loss(true, false).mean()),
            words.distance + float(from_chance(true, false).mean()),
            (words.right + right_share(true, false)) / 2,
        )

    def _represent_notes(
        self,
        source: RaggedSentences,
        pairs: NotePairs,
        count: int,
        generator: np.random.Generator,
        noise: torch.Generator | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Representations of sentences that were drawn, `[3 * count, steps, dim]`, their lengths, and where each of them went."""
        rows = pairs.draw(count, generator).ravel()
        order = np.argsort(-source.lengths[rows], kind="stable")
        batch = source.batch(rows[order], source.starts)
        shown = self.representer(batch.inputs, batch.lengths, noise or torch.default_generator)
        return shown, batch.lengths, torch.from_numpy(np.argsort(order, kind="stable"))

    def _decide_notes(self, shown: Tensor, lengths: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Logits for pairs of one note, and for pairs of two."""
        adversary = self.adversaries[2]
        assert isinstance(adversary, NoteAdversary)
        own, mates, others = adversary.summarise(shown, lengths)[places].chunk(3)
        return adversary(own, mates), adversary(own, others)


def train_representer(
    source: RaggedSentences,
    table: NeighbourTable,
    notes: NDArray[np.int64],
    tags: int,
    shape: RepresenterConfig,
    config: ThreePartConfig,
    progress: Progress = silent,
    checkpoint: Path | None = None,
) -> tuple[Representer, TrainingRecord]:
    """Train a representer on public notes.

    Args:
        source: labelled public sentences as ids into unit vectors; the last of them end the parts.
        table: what each id may be replaced by; see `ClinicalWords`.
        notes: which note each sentence is of, int64 `[sentences]`; where all are of one, nobody asks for it.
        tags: number of tags of the label scheme.
        shape: the representer.
        config: the recipe.
        progress: called after every step.
        checkpoint: file that keeps the training between epochs, and one that was cut goes on by; None keeps nothing.

    Returns:
        the frozen representer and the record of its training, where the share of decisions that are right is the mean of both questions.

    Raises:
        ConfigurationError: the file is of another training.
        TrainingError: fewer than two sentences have such a word, or the loss is not finite any more.
    """
    with seed_training(config.seed):
        learned, held = hold_back(source, table)
        training = ClinicalTraining(learned, held, notes, table, tags, shape, config, progress, checkpoint=checkpoint)
        training.learn(config)
        return training.finish()
