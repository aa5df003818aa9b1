"""Reports from notes whose misses are known, without a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.document import Annotation, Document
from shared.evaluation.sampling.difference import compare_recall
from shared.evaluation.sampling.labelling import notes_needed
from shared.pipeline.operating_points import OperatingPoint
from shared.text.tokens import tokenise
from site_client.evaluating.acceptance import Acceptance, Compared
from site_client.evaluating.counting import Labelled, LabelledNote, Measure, Tally, measure
from site_client.evaluating.finders import PATTERNS, PREVIOUS, TAGGER
from site_client.evaluating.misses import worst_misses
from site_client.evaluating.promise import judge
from site_client.own_head.in_use import InUse
from tests.tiny_notes import tiny_notes

POINT = OperatingPoint(0.9, 0.1, 0.93, 0.7, 0.88)


def missing(notes: Sequence[Document], every: int) -> list[Document]:
    """The notes as somebody hides them who misses one of so many entities; 0 for none."""
    count, made = 0, []
    for note in notes:
        kept: list[Annotation] = []
        for span in note.annotations:
            count += 1
            if not every or count % every:
                kept.append(span)
        made.append(replace(note, annotations=tuple(kept)))
    return made


def measured(notes: Sequence[Document], found: Sequence[Document]) -> Measure:
    """What was found, measured."""
    labelled = Labelled.of(notes, {})
    numbers = {name: number for number, name in enumerate(labelled.categories)}
    tally, totals = Tally(len(numbers)), []
    for note, hiding in zip(notes, found, strict=True):
        asked = LabelledNote(note, tokenise(note.text), numbers)
        totals.append(asked.totals(len(numbers)))
        tally.add(asked, hiding)
    return measure(tally, totals, labelled)


def acceptance(
    count: int = 60,
    every: int = 10,
    *,
    point: OperatingPoint | None = POINT,
    left_before: int | None = 0,
    unseen: bool = True,
    notes: Sequence[Document] | None = None,
) -> Acceptance:
    """The report on tiny notes of which one of so many entities is missed.

    Args:
        count: how many notes.
        every: which entity is missed; 0 for none.
        point: what is promised.
        left_before: notes that left. unseen: whether they are left out.
        notes: others.
    """
    gold = list(tiny_notes(count, 5, "made")) if notes is None else list(notes)
    found = missing(gold, every)
    used, other = measured(gold, found), measured(gold, missing(gold, 3))
    misses, missed = worst_misses(gold, found, frozenset({"PATIENT", "DOCTOR"}))
    promises = () if point is None else (judge(point, 4, used, in_use=True, unseen=unseen),)
    compared = tuple(
        Compared(name, other, compare_recall(used.hits, other.hits, used.totals))
        for name in (PREVIOUS, TAGGER, PATTERNS)
    )
    return Acceptance(
        3,
        point,
        len(gold),
        len(gold),
        False,
        left_before,
        unseen,
        used,
        promises,
        compared,
        (),
        notes_needed(used.recall),
        tuple(misses),
        missed,
        InUse(3),
    )
