"""What is said of one note, and how it came to be: edits that can be undone, in the order in which they were made.

Every change is an edit: some spans go, others come. Its way back is the same with the two exchanged, so nothing is ever lost by undoing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from site_client.review.spans import Source, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Spans that go and spans that come.

    Args:
        out: each is there as it stands.
        into: none overlaps another, nor what stays.
    """

    out: tuple[Span, ...]
    into: tuple[Span, ...]

    @property
    def back(self) -> Edit:
        """What takes it back."""
        return Edit(self.into, self.out)


@dataclass(slots=True)
class NoteState:
    """One note.

    Args:
        spans: sorted, disjoint.
        looked_for: whether the pipeline has looked at it.
        finished: whether a person says that its labels are complete.
        version: how often it has changed, by a person or by spans that the pipeline found: who changes it has seen this one.
    """

    spans: tuple[Span, ...] = ()
    looked_for: bool = False
    finished: bool = False
    version: int = 0
    _done: list[Edit] = field(default_factory=list)
    _undone: list[Edit] = field(default_factory=list)
    _ranked: tuple[int, float] | None = None
    _found: int = 0

    @property
    def open(self) -> int:
        """How many spans nobody has looked at."""
        return self._rank()[0]

    @property
    def least(self) -> float:
        """Confidence in the one of them of which it is least; 1 where there is none."""
        return self._rank()[1]

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is something to do again."""
        return bool(self._undone)

    @property
    def untouched(self) -> bool:
        """Whether no person has said anything, be it that an unfinished note is not finished: the version is what the pipeline left."""
        return self.version == self._found

    def find(self, spans: Iterable[Span]) -> None:
        """What the pipeline says, beside the labels; before anybody has changed anything.

        Raises:
            ValueError: somebody has, or it overlaps what is there.
        """
        if self.version or self.looked_for:
            raise ValueError("expected a note that nobody has changed")
        found = tuple(spans)
        self._set(self._with(Edit((), found)))
        self.looked_for = True
        # A page that shows the note without them would finish what nobody has seen.
        self.version += bool(found)
        self._found = self.version

    def after(self, edit: Edit) -> tuple[Span, ...]:
        """The spans as the edit would leave them.

        Raises:
            ValueError: it does not fit; nothing is changed either way.
        """
        if not edit.out and not edit.into:
            raise ValueError("expected an edit that changes something")
        return self._with(edit)

    def edit(self, edit: Edit) -> None:
        """Make it; what was undone before can't be done again then.

        Raises:
            ValueError: it does not fit.
        """
        self._set(self.after(edit))
        self._done.append(edit)
        self._undone.clear()
        self.version += 1

    def undo(self) -> Edit:
        """Take the last edit back; returns what that changed.

        Raises:
            ValueError: there is none.
        """
        return self._move(self._done, self._undone, "undo").back

    def redo(self) -> Edit:
        """Make the edit again that was taken back last; returns what that changed.

        Raises:
            ValueError: there is none.
        """
        return self._move(self._undone, self._done, "do again")

    def finish(self, finished: bool) -> None:
        """Say that the labels are complete, or that they are not."""
        self.finished = finished
        self.version += 1

    def copy(self) -> NoteState:
        """As it is now, for who shows it while others may change it."""
        return replace(self, _done=[*self._done], _undone=[*self._undone])

    def labels(self) -> list[Span]:
        """What is PHI: what was accepted, added or labelled, and what was found and nobody has removed."""
        return [span for span in self.spans if span.is_phi]

    def _move(self, source: list[Edit], target: list[Edit], what: str) -> Edit:
        if not source:
            raise ValueError(f"expected something to {what}, found nothing")
        edit = source[-1]
        self._set(self._with(edit.back if source is self._done else edit))
        target.append(source.pop())
        self.version += 1
        return edit

    def _set(self, spans: tuple[Span, ...]) -> None:
        self.spans, self._ranked = spans, None

    def _rank(self) -> tuple[int, float]:
        if self._ranked is None:
            confidences = [span.confidence for span in self.spans if not span.accepted]
            self._ranked = len(confidences), min(confidences, default=1.0)
        return self._ranked

    def _with(self, edit: Edit) -> tuple[Span, ...]:
        """Only the places of the edit are looked at: a journal holds one for each of thousands of spans."""
        spans = list(self.spans)
        for span in edit.out:
            at = bisect_left(spans, _place(span), key=_place)
            if at == len(spans) or spans[at] != span:
                raise ValueError("expected to remove spans that are there")
            del spans[at]
        for span in edit.into:
            at = bisect_left(spans, _place(span), key=_place)
            if (at and spans[at - 1].end > span.start) or (at < len(spans) and spans[at].start < span.end):
                raise ValueError("expected spans that do not overlap")
            spans.insert(at, span)
        return tuple(spans)


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


def base_of(labels: Iterable[tuple[int, int, str]]) -> NoteState:
    """A note that nobody has looked at, with the labels that it came with."""
    return NoteState(tuple(sorted(Span(*label, Source.LABEL) for label in labels)))
