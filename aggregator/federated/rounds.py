"""The rounds of a federated training: ask, screen, combine, step, keep.

Nothing but counts, norms and reasons is kept of a site; what it sent goes with the round. A round with too few results that can
be used is tried again, and then ends the training where it can be taken up later: a mean of too few is one hospital's model.

Beside the weights, the training is followed once more without each site: what the weights would have become, had its updates not
been there. The others would have answered other weights then, so this is a first order of its influence, and costs no message.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from aggregator.errors import FederatedError
from aggregator.federated.checkpoint import read_checkpoint, write_checkpoint
from aggregator.federated.plan import Answer, FederatedPlan, RoundOrder, Sites, Tell
from shared.federated.aggregation import cap_weights
from shared.federated.local import LocalRecipe
from shared.federated.screening import Screened, Sent, screen
from shared.federated.server_step import ServerStep
from shared.federated.weights import Vector, count_weights
from shared.progress import Progress, silent
from shared.taggers.tagger import TaggerConfig
from shared.training.tagging import TaggingConfig

_BYTES = 4
_LOWEST_RATE = 0.01


@dataclass(frozen=True)
class Round:
    """What happened in a round.

    Args:
        number: from 1.
        sentences: of each site that took part.
        norms: of their updates, as they came.
        refused: other sites, and why.
        seconds: that it took.
        bytes_each: sent to a site that answers and back, in all tries; not in one that was cut with the program.
        clipped: norms that were left of updates that went too far.
        by_patient: sites that say that their noise covers a patient; of the others it covers a note, where there is any.
    """

    number: int
    sentences: Mapping[str, int]
    norms: Mapping[str, float]
    refused: Mapping[str, str]
    seconds: float
    bytes_each: int
    clipped: Mapping[str, float] = field(default_factory=dict)
    by_patient: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        clipped = "".join(
            f"; {site} clipped from {self.norms[site]:.3g} to {norm:.3g}" for site, norm in sorted(self.clipped.items())
        )
        refused = "".join(f"; {site} not: {reason}" for site, reason in sorted(self.refused.items()))
        return (
            f"round {self.number}: {len(self.norms)} sites, {sum(self.sentences.values())} sentences{clipped}{refused}"
        )


@dataclass
class Course:
    """A training as it goes on.

    Args:
        weights: after the last round.
        step: the provider's.
        history: of all rounds.
        without: weights and step without each site that ever took part.
        run: name of the training, drawn at random; the same where it is taken up, so that a round that is asked for again is the same question.
        lost: tries of the round to come that had too few results.
    """

    weights: Vector
    step: ServerStep
    history: list[Round] = field(default_factory=list)
    without: dict[str, tuple[Vector, ServerStep]] = field(default_factory=dict)
    run: str = ""
    lost: int = 0


@dataclass(frozen=True)
class Rounds:
    """A federated training.

    Args:
        shape: of the tagger.
        recipe: epochs are passes of a site over its sentences in all; the rate falls over rounds as it does over steps in one place.
        plan: how sites learn together.
        checkpoint: file that keeps it after each round; None keeps nothing.
        progress: called after every round.
        tell: is told what happened in each.
        follow: whether the training is followed without each site.
    """

    shape: TaggerConfig
    recipe: TaggingConfig
    plan: FederatedPlan
    checkpoint: Path | None = None
    progress: Progress = silent
    tell: Tell = lambda line: None
    follow: bool = False

    @property
    def count(self) -> int:
        """How many rounds."""
        return max(1, -(-self.recipe.epochs // self.plan.local_epochs))

    def run(self, sites: Sites, start: Vector) -> Course:
        """Train to the end, from the last round that was kept.

        Args:
            sites: whoever takes part.
            start: weights of the first round.

        Raises:
            FederatedError: a round had too few results, as often as it was tried.
            ConfigurationError: what was kept is of another training.
        """
        return self.go_on(self.begin(start), sites)

    def begin(self, start: Vector) -> Course:
        """The course after the last round that was kept; its name is kept before anybody is asked under it.

        Args:
            start: weights of the first round.

        Raises:
            ConfigurationError: what was kept is of another training.
        """
        course = self._taken_up(start)
        if not course.run:
            course.run = secrets.token_hex(16)
            self._keep(course)
        return course

    def go_on(self, course: Course, sites: Sites) -> Course:
        """Train to the end; see `run`."""
        for number in range(len(course.history) + 1, self.count + 1):
            self._round(course, sites, number)
            self._keep(course)
            self.progress("rounds", number, self.count)
            self.tell(str(course.history[-1]))
        return course

    def order(self, number: int, start: Vector) -> RoundOrder:
        """What sites are asked to do in a round."""
        recipe = LocalRecipe(
            epochs=self.plan.local_epochs,
            batch=min(self.recipe.batch, self.plan.batch),
            learning_rate=self.recipe.learning_rate * self.plan.rate * self._rate(number),
            clip=self.recipe.clip,
            proximal=self.plan.chosen.proximal,
            seed=(self.recipe.seed * 1_000_003 + number) % 2**31,
        )
        return RoundOrder(number, self.count, self.shape, start, recipe)

    def _rate(self, number: int) -> float:
        """Of the first rate: one, and falling linearly over the last part of the rounds."""
        falling = max(self.count * self.recipe.decay, 1.0)
        return min(1.0, max((self.count - number + 1) / falling, _LOWEST_RATE))

    def _round(self, course: Course, sites: Sites, number: int) -> None:
        began = time.monotonic()
        order = self.order(number, course.weights)
        told: dict[str, str] = {}
        for attempt in range(1, self.plan.attempts + 1):
            answers = _first_of_each(sites.ask(order))
            taking, found, told, liars = self._screened(order, answers)
            least = self.plan.least_of(liars)
            if len(taking) >= least:
                break
            course.lost += 1
            self.tell(f"round {number}, attempt {attempt}: expected {least} results, got {len(taking)}")
        else:
            self._keep(course)
            refused = "".join(f"; {site}: {reason}" for site, reason in sorted(told.items()))
            raise FederatedError(
                f"round {number}: expected {least} results that can be used, got fewer{refused}; see to the sites, and go on with --resume"
            )
        self._learn(course, order, taking, found, liars)
        sizes = {site: answer.sentences for site, answer in taking.items()}
        seconds, each = time.monotonic() - began, 2 * _BYTES * len(order.start) * (course.lost + 1)
        course.lost = 0
        by_patient = [site for site, answer in taking.items() if answer.noisy and answer.unit == "patient"]
        course.history.append(Round(number, sizes, found.norms, told, seconds, each, found.clipped, by_patient))

    def _screened(
        self, order: RoundOrder, answers: Mapping[str, Answer]
    ) -> tuple[dict[str, Answer], Screened, dict[str, str], int]:
        """Answers that take part and how far, why others don't, and how many liars may be left among those that do."""
        came = {
            site: Sent(answer.weights, answer.sentences, answer.noisy)
            for site, answer in answers.items()
            if answer.weights is not None and answer.sentences > 0
        }
        found = screen(order.start, came, order.recipe, self.plan.limits)
        told = {site: str(reason) for site, reason in found.refused.items()}
        told |= {site: answer.problem or "no answer" for site, answer in answers.items() if site not in came}
        # Who was refused for what is in its result, which is no update of anybody, is one of the liars that the strategy bears: else it would
        # end what bears it. Who goes far may be large, and takes no liar away.
        known = len(found.refused) + sum(answer.spoilt for answer in answers.values())
        taking = {site: answers[site] for site in sorted(found.norms)}
        return taking, found, told, max(self.plan.liars - known, 0)

    def _learn(
        self, course: Course, order: RoundOrder, taking: Mapping[str, Answer], found: Screened, liars: int
    ) -> None:
        names = list(taking)
        updates = np.empty((len(names), len(order.start)), dtype=np.float32)
        for row, site in enumerate(names):
            # In its place at once: a list of differences would be a third copy of every site's weights.
            np.subtract(taking[site].weights, order.start, out=updates[row])  # type: ignore[arg-type]
            updates[row] *= np.float32(found.factor(site))
        counts = np.array([taking[site].sentences for site in names], dtype=np.float64)
        if self.follow:
            self._follow(course, names, updates, counts, liars)
        update = self.plan.chosen.combine(updates, cap_weights(counts), liars)
        course.weights = course.step.take(course.weights, update)

    def _follow(
        self, course: Course, names: list[str], updates: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], liars: int
    ) -> None:
        """The step without each site; a site that comes later was never in what came before."""
        for site in names:
            if site not in course.without:
                course.without[site] = (course.weights.copy(), replace(course.step))
        for site, (weights, step) in list(course.without.items()):
            others = np.array([name != site for name in names])
            if not others.any():
                continue
            update = self.plan.chosen.combine(updates[others], cap_weights(counts[others]), liars)
            course.without[site] = (step.take(weights, update), step)

    # On the disk

    @property
    def _training(self) -> dict[str, Any]:
        return {
            "shape": asdict(self.shape),
            "recipe": asdict(self.recipe),
            "plan": self.plan.learning,
            "follow": self.follow,
        }

    def _keep(self, course: Course) -> None:
        if self.checkpoint is None:
            return
        vectors = {"weights": course.weights, **course.step.state()}
        for index, site in enumerate(sorted(course.without)):
            weights, step = course.without[site]
            vectors |= {f"{index}/weights": weights} | {f"{index}/{name}": kept for name, kept in step.state().items()}
        facts = {
            "training": self._training,
            "run": course.run,
            "lost": course.lost,
            "history": [asdict(one) for one in course.history],
            "without": sorted(course.without),
        }
        write_checkpoint(self.checkpoint, facts, vectors)

    def _taken_up(self, start: Vector) -> Course:
        numbers = count_weights(self.shape)
        fresh = Course(start, self.plan.chosen.server_step(numbers))
        found = None if self.checkpoint is None else read_checkpoint(self.checkpoint, self._training)
        if found is None:
            return fresh
        facts, vectors = found

        def step(prefix: str) -> ServerStep:
            kept = fresh.step.state()
            first, second = (vectors.get(prefix + name, kept[name]) for name in ("first", "second"))
            return replace(fresh.step, first=first, second=second)

        history = [Round(**one) for one in facts["history"]]
        course = Course(vectors["weights"], step(""), history, run=facts["run"], lost=int(facts.get("lost", 0)))
        for index, site in enumerate(facts["without"]):
            course.without[site] = (vectors[f"{index}/weights"], step(f"{index}/"))
        self.progress("going on", len(course.history), self.count)
        return course


def _first_of_each(answers: Any) -> dict[str, Answer]:
    """One answer a site: who answers twice has one voice all the same."""
    found: dict[str, Answer] = {}
    for answer in answers:
        found.setdefault(answer.site, answer)
    return found
