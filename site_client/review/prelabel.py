"""What stands in a note before a person sees it: what the pipeline finds, how sure it is, and what else may be PHI."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from shared.document import Annotation, Document
from shared.labels import LabelScheme, categories_of_names
from shared.patterns.engine import Patterns
from shared.patterns.given_names import GivenNames
from shared.patterns.kinds import Suspicion
from shared.patterns.names import NameLists
from shared.pipeline.forgotten.checker import settle
from shared.pipeline.forgotten.suspicion import suspect
from shared.pipeline.mentions import with_repeated
from shared.pipeline.pipeline import Pipeline
from site_client.review.spans import Source, Span


class Finder(Protocol):
    """What pre-labels."""

    def find(self, document: Document) -> list[Span]:
        """Spans beside the labels of a note; they overlap neither these nor one another."""
        ...


class PipelineFinder:
    """The pipeline of a release; what it found comes as `Source.FOUND`, what it, patterns and lists of names take for possible as `Source.DOUBT`.

    Args:
        scheme: of the project.
        pipeline: None where none was pulled: then there are doubts alone.
        given: names of the hospital's country.
    """

    def __init__(self, scheme: LabelScheme, pipeline: Pipeline | None, given: GivenNames | None = None) -> None:
        self._scheme, self._pipeline = scheme, pipeline
        # As in a search for forgotten labels: what a release says of its language ends no search.
        self._patterns = Patterns(scheme)
        self._names = NameLists(scheme, given=given)

    def find(self, document: Document) -> list[Span]:
        """See `Finder`."""
        plain = Document(document.identifier, document.text)
        found: list[Span] = []
        suspicions: list[Suspicion] = []
        if self._pipeline is not None:
            ((_, suspicions),) = suspect(self._pipeline, [plain])
            (annotated,) = self._pipeline.annotate([plain])
            # As `deid` hides them: wherever the note says them again.
            people = categories_of_names(self._pipeline.encoder.scheme, "people")
            for span in with_repeated(annotated, people, self._pipeline.encoder.are_public).annotations:
                pieces = _beside_labels(document, span)
                found += (
                    Span(*piece, span.category, Source.FOUND, span.confidence, accepted=False) for piece in pieces
                )
        taken = replace(document, annotations=(*document.annotations, *(span.annotation() for span in found)))
        every = [*suspicions, *self._patterns.find(document.text), *self._names.find(document.text)]
        doubts = [one for one in settle(taken, every) if one.category in self._scheme.category_index]
        return sorted(
            [
                *found,
                *(
                    Span(one.start, one.end, one.category, Source.DOUBT, one.certainty, accepted=False)
                    for one in doubts
                ),
            ]
        )


def _beside_labels(document: Document, span: Annotation) -> list[tuple[int, int]]:
    """What the labels of a note leave of a span that was found: somebody who labelled half a name gets the other half."""
    if not any(label.start < span.end and span.start < label.end for label in document.annotations):
        return [(span.start, span.end)]
    whole = Suspicion(span.start, span.end, span.category, 1.0, Source.FOUND)
    return [(left.start, left.end) for left in settle(document, [whole])]
