"""Which note comes next: those first in which the pipeline is least certain of something that nobody has looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from site_client.review.project import Project
from site_client.review.state import NoteState

PAGE = 100


class Order(StrEnum):
    """How notes are listed."""

    LEAST_CERTAIN = "least certain"
    AS_THEY_CAME = "as they came"


class Show(StrEnum):
    """Which notes are listed."""

    ALL = "all"
    OPEN = "open"
    FINISHED = "finished"


@dataclass(frozen=True)
class Counts:
    """How far a review is.

    Args:
        notes: how many.
        finished: by a person.
        found: that the pipeline has looked at.
    """

    notes: int
    finished: int
    found: int


def counts(project: Project) -> Counts:
    """How far it is."""
    states = project.states()
    return Counts(len(states), sum(state.finished for state in states), sum(state.looked_for for state in states))


def listed(project: Project, order: Order, show: Show) -> list[int]:
    """The numbers of notes, in their order."""
    states = project.states()
    kept = [number for number, state in enumerate(states) if _is_shown(state, show)]
    return sorted(kept, key=lambda number: (*_rank(states[number]), number)) if order is Order.LEAST_CERTAIN else kept


def next_open(project: Project, after: int) -> int | None:
    """The note to go on with; None where all others are finished.

    Args:
        project: of the notes.
        after: the one that is open now.
    """
    states = project.states()
    others = [number for number, state in enumerate(states) if not state.finished and number != after]
    return min(others, key=lambda number: (*_rank(states[number]), number), default=None)


def row(project: Project, number: int, state: NoteState) -> dict[str, object]:
    """One note as it is listed, in this state."""
    return {
        "number": number,
        "id": project.identifiers[number],
        "open": state.open,
        "least": state.least,
        "finished": state.finished,
        "found": state.looked_for,
    }


def _is_shown(state: NoteState, show: Show) -> bool:
    return show is Show.ALL or state.finished == (show is Show.FINISHED)


def _rank(state: NoteState) -> tuple[bool, bool, float]:
    # What the pipeline has not seen yet comes behind what it has: of that, something is known.
    return state.finished, not state.looked_for, state.least
