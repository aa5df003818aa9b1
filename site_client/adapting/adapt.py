"""`site-client adapt`: the released head goes on learning from a hospital's own corrected notes, and what that gains is measured before anybody uses it.

Nothing leaves, and nothing else is learned from: a hospital has no pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.document import AnnotatedText
from shared.errors import TrainingError
from shared.evaluation.spans import hiding_spans
from shared.labels import without_unmapped
from shared.pipeline.operating_points import OperatingPoints
from shared.pipeline.pipeline import Pipeline
from shared.progress import Progress, silent
from shared.taggers.tagger import Tagger
from shared.training.fine_tuning.adapting import AdaptingConfig
from site_client.adapting.crossing import Own
from site_client.adapting.edited import count_edited
from site_client.adapting.gain import Gain
from site_client.adapting.points import own_points
from site_client.evaluating.counting import Labelled

LEAST_NOTES = 10
"""Of fewer notes with PHI nothing is learned that could be shown to help."""


@dataclass(frozen=True, repr=False)
class Adapted:
    """What came of it.

    Args:
        head: adapted to all notes.
        steps: after which it ended.
        kept: categories that too few notes show: what the release finds of them stays.
        points: what it is good for in these notes; None where it hides less than the release at any threshold.
        gain: by cross-validation.
    """

    head: Tagger
    steps: int
    kept: frozenset[str]
    points: OperatingPoints | None
    gain: Gain


def adapt_head(
    release: Pipeline,
    notes: Sequence[AnnotatedText],
    patients: Mapping[str, str],
    config: AdaptingConfig,
    tell: Progress = silent,
) -> Adapted:
    """Adapt the head of a release, and measure what that gains.

    Args:
        release: as it came.
        notes: labelled in the words of its scheme; of what is PHI of no category nothing is learned, and nobody is judged by it.
        patients: of whom a note is, by its id; the others stand for themselves.
        config: the recipe.
        tell: is told how far it is.

    Raises:
        TrainingError: fewer than LEAST_NOTES notes that are no copies hold PHI, or the loss is not finite any more.
    """
    known = [without_unmapped(note) for note in notes]
    labelled = Labelled.of(known, patients)
    telling = {group for note, group in zip(known, labelled.groups.tolist(), strict=True) if hiding_spans(note)}
    if len(telling) < LEAST_NOTES:
        whose = "patients with notes that hold PHI" if patients else "different notes that hold PHI"
        raise TrainingError(
            f"expected at least {LEAST_NOTES} {whose} to adapt the head to, got {len(telling)}; label or correct more, "
            "for instance by `site-client review`"
        )
    tell("reading the labelled notes", 0, len(notes))
    own = Own(release, labelled, notes)
    crossed = own.cross_validate(config, tell)
    points = own_points(crossed.curve, crossed.before, labelled.groups)
    edited = count_edited(known, labelled.groups)
    gain = Gain.of(crossed, labelled.groups, by_patient=bool(patients), has_points=points is not None, edited=edited)

    def told(stage: str, done: int, total: int) -> None:
        tell("adapting to all notes", done, total)

    head, kept = own.adapt(config, crossed.steps, told)
    return Adapted(head, crossed.steps, kept, points, gain)
