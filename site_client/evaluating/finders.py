"""Everything that is held against the labelled notes, from one reading of the notes by each pipeline.

The tagger of a pipeline reads a note once; its operating points, the tagger without what follows it, and patterns without the tagger all
follow from that reading. Of a reading nothing is kept, so that memory does not grow with the number of finders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from shared.document import Document
from shared.labels import categories_of_names
from shared.pipeline.adapted import AdaptedPipeline
from shared.pipeline.last_word import LastWord, LastWordSettings
from shared.pipeline.operating_points import OperatingPoint, OperatingPoints
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.reading import Reading
from shared.text.tokens import Tokens
from site_client.evaluating.counting import Labelled, LabelledNote, Measure, Tally, measure

PREVIOUS, TAGGER, PATTERNS = "the release before", "its tagger alone", "patterns alone"
RELEASED = "the release with its own head"

Find = Callable[[Document, Tokens, Reading], Document]
Told = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Finders:
    """What is held against the notes.

    Args:
        pipeline: that reads them.
        others: what else follows from its reading, by name.
    """

    pipeline: Pipeline
    others: Mapping[str, Find]

    @classmethod
    def of(cls, pipeline: Pipeline) -> Finders:
        """The pipeline, the thresholds of its operating points, its tagger alone and patterns alone; the released head, where another is in use."""
        alone: dict[str, Find] = {TAGGER: replace(pipeline, stated=None).spans, PATTERNS: _by_patterns(pipeline)}
        if isinstance(pipeline, AdaptedPipeline):
            alone[RELEASED] = pipeline.as_released
        return cls(pipeline, {**cls.at_points(pipeline).others, **alone})

    @classmethod
    def at_points(cls, pipeline: Pipeline) -> Finders:
        """The pipeline, and the thresholds of its operating points."""
        points = () if pipeline.points is None else pipeline.points.points
        return cls(pipeline, {name_of(one): replace(pipeline, point=one).spans for one in points})


@dataclass(frozen=True, repr=False)
class Read:
    """What came of one reading.

    Args:
        found: the notes as the pipeline hides them.
        measure: of the pipeline as it is used.
        others: of what else follows from its reading, by name.
        points: what its release promises. point: which is in use.
        people: categories of names of people.
    """

    found: tuple[Document, ...]
    measure: Measure
    others: Mapping[str, Measure]
    points: OperatingPoints | None
    point: OperatingPoint | None
    people: frozenset[str]


def name_of(point: OperatingPoint) -> str:
    """Of what is hidden at a point; two points may have one threshold."""
    return f"threshold {point.threshold}"


def read_notes(finders: Finders, labelled: Labelled, tell: Told = lambda stage, done, total: None) -> Read:
    """Lets a pipeline read all notes once.

    Args:
        finders: what is held against the notes.
        labelled: the notes; their labels are not shown to any finder.
        tell: is told how many notes are read.
    """
    categories = {name: number for number, name in enumerate(labelled.categories)}
    pipeline, count = finders.pipeline, len(categories)
    used, others = Tally(count), {name: Tally(count) for name in finders.others}
    totals, found = [], []
    bare = (Document(note.identifier, note.text) for note in labelled.notes)
    for note, (document, tokens, reading) in zip(labelled.notes, pipeline.readings(bare), strict=True):
        asked = LabelledNote(note, tokens, categories)
        totals.append(asked.totals(count))
        found.append(pipeline.spans(document, tokens, reading))
        used.add(asked, found[-1])
        for name, find in finders.others.items():
            others[name].add(asked, find(document, tokens, reading))
        tell("reading the labelled notes", len(found), len(labelled.notes))
    measured = {name: measure(tally, totals, labelled) for name, tally in others.items()}
    people = categories_of_names(pipeline.encoder.scheme, "people")
    return Read(tuple(found), measure(used, totals, labelled), measured, pipeline.points, pipeline.point, people)


def _by_patterns(pipeline: Pipeline) -> Find:
    """Patterns over a note in which nobody has found anything."""
    language = None if pipeline.stated is None else pipeline.stated.language
    settings = LastWordSettings(language, ("patterns",))
    word = LastWord(pipeline.encoder.scheme, settings, pipeline.encoder.are_public)

    def find(document: Document, tokens: Tokens, reading: Reading) -> Document:
        return word.complete(document, tokens)

    return find
