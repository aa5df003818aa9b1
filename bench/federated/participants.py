"""Hospitals in this process with notes of their own: what a round asks of them, they do as at home, with noise or without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aggregator.federated.plan import Answer, FederatedPlan, RoundOrder
from aggregator.federated.rounds import Course, Rounds
from shared.federated.local import learn_round
from shared.federated.private import NoteNoise, learn_privately
from shared.federated.weights import weights_of
from shared.models.noise_source import PrivateNoise
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import TaggerConfig
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig
from site_client.federated.notes import LabelledNotes


@dataclass(frozen=True, repr=False)
class Participants:
    """Hospitals by name.

    Args:
        notes: of each.
        noise: of a round; None for none.
    """

    notes: Mapping[str, LabelledNotes]
    noise: NoteNoise | None = None

    def ask(self, order: RoundOrder) -> Iterator[Answer]:
        """See `Sites`."""
        for name, kept in sorted(self.notes.items()):
            own = kept.drawn()
            if self.noise is None:
                weights = learn_round(order.shape, order.start, own.together(), order.recipe)
            else:
                weights = learn_privately(order.shape, order.start, own.notes, order.recipe, self.noise, PrivateNoise())
            yield Answer(name, own.sentences, weights, noisy=self.noise is not None)


def train_together(sites: Participants, shape: TaggerConfig, recipe: TaggingConfig, plan: FederatedPlan) -> Course:
    """A whole training."""
    with seed_training(recipe.seed):
        start = weights_of(build_tagger(shape))
    return Rounds(shape, recipe, plan).run(sites, start)
