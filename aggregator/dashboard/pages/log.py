"""The audit log, the newest first, and whether its links hold."""

from __future__ import annotations

from dataclasses import replace

from aggregator.dashboard.blocks import ROWS, Block, Cell, Field, Form, Mark, Notice, Notices, Page, Table, pager
from aggregator.dashboard.jobs.job import JobKind, JobState
from aggregator.dashboard.pages.marks import moment
from aggregator.dashboard.pages.reading import Reading
from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole

_LONGEST = 400


def log(reading: Reading) -> Page:
    """A part of it."""
    events, broken = _part(reading)
    with reading.workspace.registry().reading() as session:
        total, head = audit_log.count_events(session), audit_log.head(session)
    rows = [
        (str(one.seq), moment(one.at), one.actor, one.action, Cell(_shortened(one.details), code=True))
        for one in events
    ]
    said = "Each event names the hash of the one before; of those that are shown every link was looked at just now."
    blocks: list[Block] = [
        *([Notices("Broken", [broken])] if broken else ()),
        _verified(reading),
        Form(
            "Verify the whole log",
            "log-verify",
            (
                Field(
                    "known",
                    "A hash that was given out earlier",
                    optional=True,
                    hint="such as log_head of a receipt; it must be in the log",
                    most=64,
                ),
            ),
            "Verify",
            AccountRole.OPERATOR,
            "As `aggregator audit-log verify`. Keep the head elsewhere: later it shows whether the log was cut off.",
        ),
        Table(
            "Events",
            ("number", "when", "who", "what", "of what"),
            rows,
            pager(reading.page, len(events), total, "/log"),
            "what is broken is not shown; the other parts may be whole" if broken else "nothing yet",
            said="" if broken else said,
        ),
    ]
    return Page("Audit log", blocks, f"{total:,} events; the head is {head}.")


def broken_now(reading: Reading) -> list[Notice]:
    """That the newest events do not hold together, where they do not; older ones only a verification looks at."""
    _, broken = _part(reading, newest=True)
    return [replace(broken, href="/log", link="audit log")] if broken else []


def _part(reading: Reading, *, newest: bool = False) -> tuple[list[audit_log.Event], Notice | None]:
    """Events of a part of the log, or why there are none to show: whoever may verify it must come to this page all the same."""
    first = 0 if newest else (reading.page - 1) * ROWS
    try:
        with reading.workspace.registry().reading() as session:
            return audit_log.page(session, first, ROWS)[1], None
    except RegistryError as error:
        return [], Notice(str(error), Mark.BAD)


def _verified(reading: Reading) -> Notices:
    job = reading.jobs.last(JobKind.VERIFY)
    if job is None:
        return Notices("Verification", [Notice("nobody has verified it here yet")])
    place = (f"/work/{job.id}", "that work")
    if job.state is JobState.RUNNING:
        return Notices("Verification", [Notice("it is being verified", Mark.NONE, *place)])
    words = "; ".join(job.lines)
    if job.state is JobState.DONE:
        return Notices("Verification", [Notice(f"{moment(job.ended_at)}: {words}", Mark.GOOD, *place)])
    return Notices("Verification", [Notice(f"{moment(job.ended_at)}: {words}", Mark.BAD, *place)])


def _shortened(details: str) -> str:
    return details if len(details) <= _LONGEST else f"{details[:_LONGEST]} …, whole by `aggregator audit-log show`"
