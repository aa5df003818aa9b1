"""What may be PHI in a note, at the most careful: its labels, all that the pipeline takes for PHI with any probability, and every pattern.

A phrase that touches any of it is not counted. Too much costs phrases that other notes say again; too little costs a patient. What is sure, labels first,
is told by itself, as it was found: its words are looked for in all other phrases, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from shared.document import Annotation, Document
from shared.labels import LabelScheme, categories_of_names
from shared.patterns.engine import Patterns
from shared.pipeline.forgotten.suspicion import suspect
from shared.pipeline.mentions import ArePublic, with_repeated
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.spans import join_spans

LEAST = 0.05
"""A token that is PHI with this probability is in no phrase."""
_SURE = 0.9
_NOTES_AT_ONCE = 64


@dataclass(frozen=True, repr=False)
class Careful:
    """A note, and what may be PHI in it.

    Args:
        note: with everything that may be among its annotations; none overlaps another.
        sure: its labels, and what pipeline and patterns are sure of; they may overlap.
    """

    note: Document
    sure: tuple[Annotation, ...]

    def __repr__(self) -> str:
        return f"Careful({self.note.identifier!r}, {len(self.sure)} spans)"


class CarefulFinder:
    """Finds.

    Args:
        scheme: of the pipeline.
        pipeline: of the release; None for patterns and labels alone, as measurements need it.
        are_public: tells words from names, for further mentions of people.
    """

    def __init__(self, scheme: LabelScheme, pipeline: Pipeline | None, are_public: ArePublic) -> None:
        self._pipeline, self._are_public = pipeline, are_public
        # Kinds of all languages: a Spanish date in an English note is a date.
        self._patterns = Patterns(scheme)
        self._people = categories_of_names(scheme, "people")

    def find(self, documents: Iterable[Document]) -> Iterator[Careful]:
        """Each note with everything that may be PHI, in their order."""
        source = iter(documents)
        while batch := list(islice(source, _NOTES_AT_ONCE)):
            for note, found, suspected in zip(batch, *self._by_pipeline(batch), strict=True):
                sure, others = self._by_patterns(note.text)
                known = join_spans(replace(note, annotations=_plain(note.annotations)), [*found, *sure])
                repeated = with_repeated(known, self._people, self._are_public)
                said = (*_plain(note.annotations), *_plain(found), *sure)
                yield Careful(join_spans(repeated, [*suspected, *others]), said)

    def _by_pipeline(self, batch: Sequence[Document]) -> tuple[list[Sequence[Annotation]], list[Sequence[Annotation]]]:
        """What the pipeline says to each note, and what it holds possible; the labels of a note are no hint for it."""
        if self._pipeline is None:
            return [()] * len(batch), [()] * len(batch)
        bare = [replace(one, annotations=()) for one in batch]
        return (
            [one.annotations for one in self._pipeline.annotate(bare)],
            [
                [Annotation(one.start, one.end, one.category) for one in spans]
                for _, spans in suspect(self._pipeline, bare, (LEAST,))
            ],
        )

    def _by_patterns(self, text: str) -> tuple[list[Annotation], list[Annotation]]:
        """What patterns find: the sure, whose further mentions are looked for, and the others."""
        sides: tuple[list[Annotation], list[Annotation]] = ([], [])
        for one in self._patterns.find(text):
            sides[one.certainty < _SURE].append(Annotation(one.start, one.end, one.category))
        return sides


def _plain(spans: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """Places and categories alone."""
    return tuple(Annotation(one.start, one.end, one.category) for one in spans)
