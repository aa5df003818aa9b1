"""What pre-labelling saves: a simulated person labels the same notes from nothing, and from what a pipeline found in them.

Times of actions are those of the keystroke-level model (Card, Moran and Newell, "The keystroke-level model for user performance time with interactive
systems", 1980): a key .20 s, pointing 1.10 s, a mouse button .10 s, a hand to the keyboard or back .40 s, a decision 1.35 s. The whole note is
read either way, at 238 words a minute (Brysbaert, "How many words do we read per minute?", 2019): who is to find what the pipeline missed has to.
The person makes every change in a real review, and is not done before its labels are exactly those of the gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.document import Document
from shared.labels import LabelScheme
from site_client.review.prelabel import Finder
from site_client.review.project import Project, begin
from site_client.review.spans import Source, Span
from site_client.review.state import Edit

KEY_S, POINT_S, BUTTON_S, HAND_S, DECIDE_S = 0.20, 1.10, 0.10, 0.40, 1.35
WORDS_A_MINUTE = 238
# c, two letters, Enter.
_CATEGORY_S = 4 * KEY_S
_ACCEPT_S = _REMOVE_S = DECIDE_S + KEY_S
_MARK_S = DECIDE_S + HAND_S + POINT_S + BUTTON_S + POINT_S + BUTTON_S + HAND_S + _CATEGORY_S
_RECATEGORISE_S = DECIDE_S + _CATEGORY_S


@dataclass
class Work:
    """What it took.

    Args:
        notes: that were labelled.
        reading_s: of them.
        acting_s: all else.
        accepted, removed, marked, recategorised: how often.
    """

    notes: int = 0
    reading_s: float = 0.0
    acting_s: float = 0.0
    accepted: int = 0
    removed: int = 0
    marked: int = 0
    recategorised: int = 0

    @property
    def seconds(self) -> float:
        """A note."""
        return (self.reading_s + self.acting_s) / self.notes


def annotate(folder: Path, gold: Sequence[Document], scheme: LabelScheme, finder: Finder | None) -> Work:
    """Label notes until they are as the gold is.

    Args:
        folder: for the review, new.
        gold: labelled notes.
        scheme: of their labels.
        finder: what pre-labels; None for nothing.

    Raises:
        RuntimeError: the exported labels are not those of the gold.
    """
    project = begin(folder, scheme, [Document(one.identifier, one.text) for one in gold], "simulated")
    work = Work()
    for number, note in enumerate(gold):
        if finder is not None:
            project.find(number, finder.find(project.document(number)))
        _label(project, number, note, work)
        work.notes += 1
        work.reading_s += 60 * len(note.text.split()) / WORDS_A_MINUTE
        work.acting_s += KEY_S
    exported = {one.identifier: _triples(one) for one in project.labelled()}
    project.close()
    if exported != {one.identifier: _triples(one) for one in gold}:
        raise RuntimeError("expected the labels of the gold, got others")
    return work


def _label(project: Project, number: int, note: Document, work: Work) -> None:
    wanted = {(one.start, one.end): one.category for one in note.annotations}
    for span in list(project.state(number).spans):
        category = wanted.get((span.start, span.end))
        if category == span.category:
            _edit(project, number, (span,), Span(span.start, span.end, span.category, span.source, span.certainty))
            work.accepted, work.acting_s = work.accepted + 1, work.acting_s + _ACCEPT_S
        elif category is not None:
            _edit(project, number, (span,), Span(span.start, span.end, category))
            work.recategorised, work.acting_s = work.recategorised + 1, work.acting_s + _RECATEGORISE_S
        elif not any(start < span.end and span.start < end for start, end in wanted):
            # A doubt that is none may stay: to decide so is all there is to do.
            if span.source is not Source.DOUBT:
                _edit(project, number, (span,))
            work.removed += 1
            work.acting_s += DECIDE_S if span.source is Source.DOUBT else _REMOVE_S
    for (start, end), category in sorted(wanted.items()):
        spans = project.state(number).spans
        over = tuple(span for span in spans if span.start < end and start < span.end)
        if [(span.start, span.end, span.category) for span in over] != [(start, end, category)]:
            # One that lies over it wrongly goes as this one comes.
            _edit(project, number, over, Span(start, end, category))
            work.marked, work.acting_s = work.marked + 1, work.acting_s + _MARK_S
    project.finish(number, project.state(number).version, True)


def _edit(project: Project, number: int, out: tuple[Span, ...], *into: Span) -> None:
    project.edit(number, project.state(number).version, Edit(out, into))


def _triples(document: Document) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.category) for one in document.annotations]
