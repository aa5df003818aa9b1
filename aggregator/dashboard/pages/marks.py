"""How states look in tables: the word, and a mark beside it."""

from __future__ import annotations

from aggregator.dashboard.blocks import Cell, Mark
from aggregator.dashboard.jobs.job import JobState
from aggregator.registry.states import ShareState

_SHARES = {
    ShareState.RECEIVED: Mark.WARN,
    ShareState.QUARANTINED: Mark.WARN,
    ShareState.ACCEPTED: Mark.GOOD,
    ShareState.REJECTED: Mark.BAD,
    ShareState.WITHDRAWN: Mark.NONE,
}
_JOBS = {JobState.RUNNING: Mark.NONE, JobState.DONE: Mark.GOOD, JobState.FAILED: Mark.BAD, JobState.CUT: Mark.WARN}


def share_state(state: ShareState) -> Cell:
    """Of a share."""
    return Cell(str(state), mark=_SHARES[state])


def job_state(state: JobState, href: str = "") -> Cell:
    """Of a job."""
    return Cell(str(state), href, _JOBS[state])


def state_cell(words: str, good: bool) -> Cell:
    """A state that is good or bad."""
    return Cell(words, mark=Mark.GOOD if good else Mark.BAD)


def moment(text: str | None) -> str:
    """A time of the registry, for people: to the minute, in UTC."""
    return "" if text is None or len(text) < 17 else f"{text[:10]} {text[11:16]}"


def ratio(value: object, digits: int = 1) -> str:
    """A share in [0, 1] as per cent; nothing for what is no number."""
    return f"{value:.{digits}%}" if isinstance(value, int | float) else "not measured"
