"""What a hospital asks before it relies on a release: does it hide what it promises, in our notes?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field

from foundation.errors import DeidError
from shared.document import AnnotatedText, Document
from shared.errors import ConfigurationError
from shared.evaluation.hospital import characters_that_count, hidden_characters
from shared.evaluation.sampling.difference import Difference, compare_recall
from shared.evaluation.sampling.labelling import notes_needed
from shared.evaluation.spans import hiding_spans
from shared.labels import HIDDEN, without_unmapped
from shared.pipeline.operating_points import OperatingPoint
from shared.pipeline.pipeline import Pipeline, load_pipeline
from site_client.evaluating.counting import Labelled, Measure
from site_client.evaluating.finders import (
    PATTERNS,
    PREVIOUS,
    RELEASED,
    TAGGER,
    Finders,
    Read,
    Told,
    name_of,
    read_notes,
)
from site_client.evaluating.left_before import find_left_before, has_any_left
from site_client.evaluating.misses import Leak, worst_misses
from site_client.evaluating.previous import find_previous
from site_client.evaluating.promise import LEAST_NOTES, Judged, judge
from site_client.own_head.in_use import InUse, learned_from, load_in_use
from site_client.workspace import Workspace

FEW_NOTES = 50
"""With fewer notes that hold PHI the report says first that they are few."""
WITHIN = 0.01


@dataclass(frozen=True, eq=False)
class Compared:
    """Another finder on the same notes.

    Args:
        name: of it.
        measure: what it hides.
        difference: what the release in use hides more; at a point that the name states, there.
    """

    name: str
    measure: Measure
    difference: Difference


@dataclass(frozen=True, eq=False, repr=False)
class Acceptance:
    """The report.

    Args:
        release: number of the pipeline.
        point: at which it is used; None for the best tags.
        notes: labelled ones. independent: patients, or notes that are no copies.
        by_patient: whether somebody said whose note is whose.
        left_before: notes that left with a share, or taught a training over a connection; None where nobody knows.
        unseen: whether those are left out, so that the release can't have learned from any.
        in_use: what the pipeline hides.
        promises: one for each operating point, by rising target.
        compared: the release before, the tagger alone, patterns alone.
        remarks: what could not be compared, and why.
        needed: notes with PHI to label, so that the recall is known within a point.
        misses: the worst, with words of the notes. missed: how many there are in all.
        head: which is used. learned: notes that it was adapted on; left out like those that left; None where nobody knows.
        of_the_same: further notes of the same patients, left out with them.
        untold_patients: whether notes left, or taught the head, and none of them is here, so that nobody can tell which of the patients they are of.
        unmapped: labelled spans of no category of the release, of which nothing is asked. unmapped_in_clear: those of which anything stays in clear.
    """

    release: int
    point: OperatingPoint | None
    notes: int
    independent: int
    by_patient: bool
    left_before: int | None
    unseen: bool
    in_use: Measure
    promises: tuple[Judged, ...]
    compared: tuple[Compared, ...]
    remarks: tuple[str, ...]
    needed: int | None
    misses: tuple[Leak, ...]
    missed: int
    head: InUse
    learned: int | None = 0
    of_the_same: int = 0
    untold_patients: bool = False
    unmapped: int = 0
    unmapped_in_clear: int = 0

    @property
    def promise(self) -> Judged | None:
        """Of the point in use."""
        return next((one for one in self.promises if one.in_use), None)

    @property
    def few(self) -> bool:
        """Whether the notes are too few to rely on what they show."""
        return self.in_use.recall.notes < FEW_NOTES

    @property
    def too_few(self) -> bool:
        """Whether they show nothing."""
        return self.in_use.recall.notes < LEAST_NOTES

    def as_json(self) -> dict[str, object]:
        """For programs: numbers, names of categories and no words."""
        return {
            "release": self.release,
            "min_recall": None if self.point is None else self.point.target,
            "notes": self.notes,
            "independent": self.independent,
            "independent_by": "patient" if self.by_patient else "text",
            "notes_that_left_before": self.left_before,
            "judged_by_notes_that_never_left": self.unseen,
            "head": self.head.as_json(),
            "notes_that_the_head_was_adapted_on": self.learned,
            "notes_of_the_same_patients": self.of_the_same,
            "patients_of_notes_that_left_untold": self.untold_patients,
            "labelled_of_no_category": {"spans": self.unmapped, "in_clear": self.unmapped_in_clear},
            "few_notes": self.few,
            "in_use": self.in_use.as_json(),
            "promises": [one.as_json() for one in self.promises],
            "compared": {
                one.name: {**one.measure.as_json(), "difference": one.difference.as_json()} for one in self.compared
            },
            "remarks": list(self.remarks),
            "notes_for_one_point": self.needed,
            "missed": self.missed,
        }


@dataclass(frozen=True)
class Asked:
    """How the report is made.

    Args:
        min_recall: the operating point; None for the usual one.
        patients: whose note is whose, by the ids of notes; empty where nobody said.
        vocabulary: is told the words of the release, commonest first, before a note is read.
        tell: is told how far it is.
    """

    min_recall: float | None = None
    patients: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Callable[[Sequence[str]], object] = lambda words: None
    tell: Told = lambda stage, done, total: None


def accept(
    workspace: Workspace, notes: Sequence[AnnotatedText], asked: Asked
) -> tuple[Acceptance, tuple[Document, ...]]:
    """The report, and the notes that it judges by, as the pipeline in use hides them.

    Notes that have left with a share, or that the head in use was adapted on, are left out, and with them all others of the same patients, where
    enough others hold PHI. A patient is known by such a note among `notes` alone: what is kept of notes that left does not say whose they were.

    Args:
        workspace: of the site; its pipeline is the one that is judged.
        notes: labelled, not empty, each with an id of its own; what is HIDDEN is PHI of no category, by which nobody is judged.
        asked: how.

    Raises:
        WorkspaceError: no pipeline was pulled.
        ConfigurationError: it promises less than is asked for.
        AdaptationError: an adapted head is in use and has changed.
        ProtocolError, EmbeddingError, ModelError: it has changed, or does not load.
    """
    release = workspace.pipeline_release()
    pipeline, used_head = load_in_use(workspace, release)
    left = find_left_before(workspace, notes)
    learned = learned_from(workspace, used_head.own, notes)
    known = (left or frozenset()) | (learned or frozenset())
    fresh, telling = _strangers(notes, known, asked.patients)
    unseen = left is not None and learned is not None and (not known or telling >= LEAST_NOTES)
    of_the_same = len(notes) - len(fresh) - len(known) if unseen else 0
    given = fresh if unseen else notes
    notes = [without_unmapped(note) for note in given]
    labelled = Labelled.of(notes, asked.patients)
    read = _read_pipeline(pipeline, labelled, asked)
    # Word vectors are large: it is let go before another is loaded.
    del pipeline
    remarks: list[str] = []
    before = _previous(workspace, labelled, asked, remarks.append)
    worst, missed = worst_misses(notes, read.found, read.people)
    used = read.measure
    report = Acceptance(
        release.manifest.sequence,
        read.point,
        len(notes),
        labelled.independent,
        bool(asked.patients),
        None if left is None else len(left),
        unseen,
        used,
        _promises(read, unseen=unseen),
        tuple(_compared(read, before)),
        tuple(remarks),
        notes_needed(used.recall, WITHIN),
        tuple(worst),
        missed,
        used_head,
        None if learned is None else len(learned),
        of_the_same,
        bool(asked.patients) and not known and (used_head.own is not None or has_any_left(workspace)),
        *_count_unmapped(given, read.found),
    )
    return report, read.found


def _count_unmapped(notes: Sequence[AnnotatedText], found: Sequence[Document]) -> tuple[int, int]:
    """PHI of no category, and of how much of it anything stays in clear."""
    spans = clear = 0
    for note, hiding in zip(notes, found, strict=True):
        hidden = hidden_characters(hiding)
        for span in (one for one in hiding_spans(note) if one.category == HIDDEN):
            spans += 1
            clear += not hidden[characters_that_count(note, span)].all()
    return spans, clear


def _strangers(
    notes: Sequence[AnnotatedText], known: Set[str], patients: Mapping[str, str]
) -> tuple[list[AnnotatedText], int]:
    """The notes of nobody of whom a note is known, and how many that count as one each hold PHI: who has learned one knows the names in the next."""
    groups = Labelled.of(notes, patients).groups.tolist()
    met = {group for note, group in zip(notes, groups, strict=True) if note.identifier in known}
    others = [(note, group) for note, group in zip(notes, groups, strict=True) if group not in met]
    return [note for note, _ in others], len({group for note, group in others if hiding_spans(without_unmapped(note))})


def _read_pipeline(pipeline: Pipeline, labelled: Labelled, asked: Asked) -> Read:
    """What the pipeline in use hides."""
    pipeline = pipeline if asked.min_recall is None else pipeline.at(asked.min_recall)
    asked.vocabulary(pipeline.encoder.vectors.words)
    return read_notes(Finders.of(pipeline), labelled, asked.tell)


def _promises(read: Read, *, unseen: bool) -> tuple[Judged, ...]:
    stated = read.points
    if stated is None:
        return ()
    return tuple(
        judge(one, stated.hospitals, read.others[name_of(one)], in_use=one == read.point, unseen=unseen)
        for one in stated.points
    )


def _compared(read: Read, before: Read | None) -> Iterator[Compared]:
    """Everything else on the same notes: the release before as both are used, and at every point that both have; tagger and patterns alone."""
    used = read.measure
    if before is not None:
        yield Compared(PREVIOUS, before.measure, compare_recall(used.hits, before.measure.hits, used.totals))
    for target, (now, then) in _same_points(read, before).items():
        name = f"{PREVIOUS}, both at --min-recall {target:g}"
        yield Compared(name, then, compare_recall(now.hits, then.hits, used.totals))
    for name in (RELEASED, TAGGER, PATTERNS):
        if name not in read.others:
            continue
        other = read.others[name]
        yield Compared(name, other, compare_recall(used.hits, other.hits, used.totals))


def _same_points(read: Read, before: Read | None) -> dict[float, tuple[Measure, Measure]]:
    """By target what the release hides there, and the one before."""
    if before is None or read.points is None or before.points is None:
        return {}
    then = {one.target: before.others[name_of(one)] for one in before.points.points}
    now = {one.target: read.others[name_of(one)] for one in read.points.points}
    return {target: (measured, then[target]) for target, measured in sorted(now.items()) if target in then}


def _previous(workspace: Workspace, labelled: Labelled, asked: Asked, remark: Callable[[str], object]) -> Read | None:
    """What the release before hides; None, and why, where it can't be asked."""
    try:
        release = find_previous(workspace)
        if release is None:
            remark("no pipeline from before is here to compare with: `pull` keeps one until the next release comes")
            return None
        pipeline = load_pipeline(release.folder)
        with suppress(ConfigurationError):
            pipeline = pipeline if asked.min_recall is None else pipeline.at(asked.min_recall)
        return read_notes(Finders.at_points(pipeline), labelled, asked.tell)
    except DeidError as error:
        remark(f"the pipeline from before could not be compared: {error}")
        return None
