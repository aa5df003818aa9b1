"""Operating points of a head that hospitals trained together: each measures, on its own notes, the head that was followed without it.

No hospital's notes come here, so no other place has them to measure on. What it tells is a few numbers, under the noise of its policy; see
docs/adr/0045-federated-points.md. The provider's own notes are one hospital among them. A hospital that boasts moves a median by one place.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from aggregator.federated.checkpoint import read_checkpoint, write_checkpoint
from aggregator.federated.plan import Answer, RoundOrder, Sites, Tell
from aggregator.federated.rounds import Course
from aggregator.training.judging.operating_points import curve_of_shares, in_no_order
from aggregator.training.pool import PUBLIC
from shared.constructions.construction import Construction
from shared.constructions.decoding import Decoding
from shared.errors import ConfigurationError
from shared.federated.local import LocalRecipe
from shared.federated.weights import Vector
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.operating_points import HospitalCurve, OperatingPoints, choose_points
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.promises.by_note import NUMBERS, read_curve, says_nothing
from shared.taggers.tagger import Tagger, TaggerConfig


class Measuring(Sites, Protocol):
    """Sites that can be asked how weights do on their notes."""

    def measure(self, order: RoundOrder, site: str, numbers: int) -> Answer:
        """What one site tells; without weights where it tells nothing."""
        ...


def promised_points(
    course: Course,
    shape: TaggerConfig,
    sites: Measuring,
    own: Callable[[Vector], HospitalCurve | None],
    tell: Tell,
    kept: Path | None = None,
) -> OperatingPoints | None:
    """Ask every site that took part.

    Args:
        course: a whole training, followed without each site.
        shape: of the tagger.
        sites: hospitals.
        own: measures weights on the provider's own notes.
        tell: is told of every answer.
        kept: file of what sites have told: who has, is not asked again where a training is taken up. None keeps nothing.

    Raises:
        ConfigurationError: what was kept is of another training.

    Returns:
        None where too few tell something, or nothing can be promised.
    """
    curves, last, training = [], len(course.history), {"run": course.run}
    found = None if kept is None else read_checkpoint(kept, training)
    told = {} if found is None else found[1]
    for site, (weights, _) in sorted(course.without.items()):
        if site == PUBLIC:
            curve = own(weights)
        else:
            order = RoundOrder(last, last, shape, weights, LocalRecipe())
            answer = Answer(site, 0, told[site]) if site in told else sites.measure(order, site, NUMBERS)
            if answer.weights is not None and kept is not None:
                told[site] = answer.weights
                write_checkpoint(kept, {"training": training}, told)
            curve = _told(answer, tell)
        if curve is not None:
            curves.append(curve)
    return choose_points(curves)


def _told(answer: Answer, tell: Tell) -> HospitalCurve | None:
    curve, problem = None, answer.problem
    if answer.weights is not None:
        try:
            curve = read_curve(answer.weights)
        except ConfigurationError:
            problem = "out of range"
        else:
            if says_nothing(answer.weights):
                # Counted as a hospital where nothing is hidden, it would take the promise away from all.
                curve, problem = None, "too few notes under its noise"
    tell(f"operating points: {answer.site}: {'measured' if curve is not None else problem}")
    return curve


def own_curve(
    construction: Construction, head: Tagger, settings: LastWordSettings | None, paths: tuple[Path, ...]
) -> HospitalCurve | None:
    """What a head hides of the provider's own encoded notes; None where these can't be read as words."""
    decoder = construction.decoding()
    if not isinstance(decoder, Decoding):
        return None
    return curve_of_shares(Pipeline(construction, head, in_no_order(settings)), decoder, paths)
