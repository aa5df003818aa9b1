"""The audit log, the newest first, and whether its links hold."""

from __future__ import annotations

from aggregator.dashboard.blocks import ROWS, Block, Cell, Field, Form, Mark, Notice, Notices, Page, Table, pager
from aggregator.dashboard.jobs.job import JobKind, JobState
from aggregator.dashboard.pages.marks import moment
from aggregator.dashboard.pages.reading import Reading
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole

_LONGEST = 400


def log(reading: Reading) -> Page:
    """A part of it."""
    with reading.workspace.registry().reading() as session:
        total, events = audit_log.page(session, (reading.page - 1) * ROWS, ROWS)
        head = audit_log.head(session)
    rows = [
        (str(one.seq), moment(one.at), one.actor, one.action, Cell(_shortened(one.details), code=True))
        for one in events
    ]
    said = "Each event names the hash of the one before; of those that are shown every link was looked at just now."
    blocks: list[Block] = [
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
            said=said,
        ),
    ]
    return Page("Audit log", blocks, f"{total:,} events; the head is {head}.")


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
