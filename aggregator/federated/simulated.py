"""Sites in this process, each with the shares that it sent: what `aggregator federate --simulate` and tests run.

One site learns after the other, so there is one tagger in memory and one optimiser, however many sites there are; of each, only what
it sends is kept for as long as the round takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aggregator.federated.plan import Answer, FederatedPlan, RoundOrder, Tell
from aggregator.federated.rounds import Course, Rounds
from aggregator.training.defences.defence import Defence, Defended, PoolMaterial
from shared.errors import TrainingError
from shared.federated.local import learn_round
from shared.federated.weights import set_weights, weights_of
from shared.taggers.registry import build_tagger, default_config
from shared.training.loop import seed_training

NAME = "federated"


@dataclass(frozen=True)
class SimulatedSites:
    """The sites of a pool, each alone with its sentences.

    Args:
        material: of the pool; see `PoolMaterial`.
    """

    material: PoolMaterial

    def ask(self, order: RoundOrder) -> Iterator[Answer]:
        """See `Sites`."""
        for site, paths in sorted(self.material.payloads.items()):
            with self.material.pool(paths=paths) as pool:
                try:
                    weights = learn_round(order.shape, order.start, pool, order.recipe)
                except TrainingError:
                    # A site that fails is one that does not answer; what it was stays with it.
                    yield Answer(site, 0, None, "its training failed")
                else:
                    yield Answer(site, pool.sentences, weights)


class FederatedTraining(Defence):
    """Trains a head by rounds among the sites of a pool; stands where a defence stands, so that all that is measured of a head is
    measured of this one in the same way.

    Args:
        plan: how sites learn together.
        tell: is told what happens in each round of the head.
    """

    name = NAME
    title = "sites learn in turn, and only what they learned is put together"

    def __init__(self, plan: FederatedPlan, tell: Tell = lambda line: None) -> None:
        self.plan = plan
        self.tell = tell
        self.courses: list[Course] = []

    def train(self, material: PoolMaterial) -> Defended:
        """See Defence. The first training is that of the head; what is trained to measure it says nothing."""
        first = not self.courses
        with material.pool() as pool:
            shape = material.shape or default_config(pool.dim, material.tags)
            sentences, tokens = pool.sentences, pool.tokens
        plan = self.plan if first else _for_fewer(self.plan, len(material.payloads))
        if material.kept is not None:
            material.kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        rounds = Rounds(
            shape,
            material.config,
            plan,
            None if material.kept is None else material.kept / "rounds.safetensors",
            material.progress,
            self.tell if first else lambda line: None,
        )
        with seed_training(material.config.seed):
            tagger = build_tagger(shape)
        course = rounds.run(SimulatedSites(material), weights_of(tagger))
        self.courses.append(course)
        set_weights(tagger, course.weights)
        return Defended(tagger.eval(), sentences, tokens, {})


def _for_fewer(plan: FederatedPlan, sites: int) -> FederatedPlan:
    """The plan where a site is left out to see what it does: what asks for more sites than there are asks for fewer liars."""
    least = min(plan.least_results, sites)
    for liars in range(plan.liars, -1, -1):
        if plan.chosen.least_results(liars) <= sites:
            return replace(plan, liars=liars, least_results=least)
    return replace(plan, strategy="fedavg", liars=0, least_results=least)
