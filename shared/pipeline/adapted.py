"""A pipeline whose head was adapted to one hospital: it finds as that head does, and hides all the same what the release finds of kinds that few notes taught.

A head that goes on learning from some notes forgets what these do not show: a category without an example is one that it has been told, in every
sentence, not to find. So what the release finds of such a category stays, as the release finds it, at the point that promises as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

from shared.document import Document
from shared.errors import ConfigurationError, ModelError
from shared.pipeline.operating_points import OperatingPoint, OperatingPoints
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.reading import Reading, read_sentences
from shared.pipeline.spans import complete_spans
from shared.sentences.tokenised import tokenised_chunks
from shared.taggers.tagger import Tagger
from shared.text.tokens import Tokens

LEAST_EXAMPLES = 10
"""Entities of a category that own notes must hold for the adapted head to decide on it alone."""


@dataclass(frozen=True)
class AdaptedPipeline(Pipeline):
    """An adapted head in the place of the released one, and the released one beside it.

    `points` and `point` are the hospital's own. What stands here besides is that of the release.

    Args:
        release: the pipeline as it came.
        kept: categories of which the release has the say as well.

    Raises:
        ModelError: the two heads do not take the same.
    """

    release: Pipeline | None = None
    kept: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.release is not None and self.release.head.config != self.head.config:
            raise ModelError("expected an adapted head of the release's own shape, got another; adapt again")

    def at(self, min_recall: float) -> Pipeline:
        """The same at the point that hides so many of the entities whole, in the hospital's own notes.

        Raises:
            ConfigurationError: nothing hid so many there.
        """
        if self.points is None or self.points.points[-1].target < min_recall:
            most = 0.0 if self.points is None else self.points.points[-1].target
            raise ConfigurationError(
                f"expected a recall of at most {most:g}, the highest that the adapted head reached in your own notes, got {min_recall:g}; ask for "
                "less, adapt with more notes, or go back to the release by `site-client adapt --undo`"
            )
        return replace(self, point=self.points.reaching(min_recall))

    def read(self, documents: Iterable[tuple[Document, Tokens]]) -> Iterator[Reading]:
        """See Pipeline; with what the released head says beside it."""
        released = self._beside
        for chunk in tokenised_chunks(documents, None):
            shown = self.head.inputs(chunk, self.encoder.noise_free)
            yield replace(read_sentences(self.head.eval(), shown), released=read_sentences(released.head.eval(), shown))

    def spans(self, document: Document, tokens: Tokens, reading: Reading) -> Document:
        """See Pipeline; what the release finds of the categories that it keeps stands around what the head finds."""
        own = super().spans(document, tokens, reading)
        if not self.kept:
            return own
        found = self.as_released(document, tokens, reading).annotations
        return complete_spans(own, [span for span in found if span.category in self.kept])

    def as_released(self, document: Document, tokens: Tokens, reading: Reading) -> Document:
        """What the release finds by itself, by the same reading, at the point that promises as much."""
        if reading.released is None:
            raise ModelError("expected what the release says beside what the adapted head says; read the notes anew")
        return self._beside.spans(document, tokens, reading.released)

    @cached_property
    def _beside(self) -> Pipeline:
        if self.release is None:
            raise ModelError("expected the pipeline of the release beside an adapted head, got none; adapt again")
        point = _as_much(self.release.points, self.point, self.release.point)
        return replace(self.release, stated=self.stated, point=point)


def _as_much(
    points: OperatingPoints | None, own: OperatingPoint | None, usual: OperatingPoint | None
) -> OperatingPoint | None:
    """The point of a release that is for at least what the hospital's own is for, and for no less than the usual one."""
    if points is None or own is None:
        return usual
    reaching = next((one for one in points.points if one.target >= own.target), points.points[-1])
    return reaching if usual is None or reaching.target >= usual.target else usual


def adapted(release: Pipeline, head: Tagger, points: OperatingPoints | None, kept: frozenset[str]) -> AdaptedPipeline:
    """A released pipeline with an adapted head.

    Args:
        release: as it came.
        head: of the same shape.
        points: the hospital's own.
        kept: as in AdaptedPipeline.
    """
    given = {one.name: getattr(release, one.name) for one in fields(Pipeline)}
    given |= {"head": head, "points": points, "point": None if points is None else points.default}
    return AdaptedPipeline(**given, release=release, kept=kept)
