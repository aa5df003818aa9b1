"""Long works: those that run, with how far they are, and what became of the others."""

from __future__ import annotations

from aggregator.dashboard.blocks import Block, Cell, Facts, Field, Form, Page, Running, RunningJob, Table, Words, part
from aggregator.dashboard.jobs.cut import after_end
from aggregator.dashboard.jobs.job import Job, JobState
from aggregator.dashboard.pages.marks import job_state, moment
from aggregator.dashboard.pages.reading import Reading
from aggregator.errors import RequestError
from aggregator.registry.states import AccountRole

_UNFINISHED = ("train-embeddings", "train-repr", "train-head", "federate")


def work(reading: Reading) -> Page:
    """All jobs."""
    jobs = reading.jobs.all()
    shown, pager = part(jobs, reading.page, "/work")
    rows = [
        (
            Cell(job.kind, f"/work/{job.id}"),
            job_state(job.state),
            job.by,
            moment(job.begun_at),
            moment(job.ended_at) or "not yet",
            job.lines[-1] if job.lines and job.state is not JobState.RUNNING else "",
        )
        for job in jobs[shown]
    ]
    head = ("work", "state", "begun by", "begun", "ended", "what it said")
    blocks: list[Block] = [
        *running_block(reading),
        Table("All works", head, rows, pager, "none was begun here"),
        *_unfinished(reading),
    ]
    return Page("Work", blocks, "What was begun here. A work at a terminal shows how far it is there.")


def one_work(reading: Reading) -> Page:
    """One job."""
    job = reading.jobs.find(reading.path["work"])
    if job is None:
        raise RequestError("expected a work that was begun here, got another", status=404)
    facts = Facts(
        "",
        (
            ("state", job_state(job.state)),
            ("begun by", job.by),
            ("begun", moment(job.begun_at)),
            ("ended", moment(job.ended_at) or "not yet"),
        ),
    )
    blocks: list[Block] = [facts]
    if job.state is JobState.RUNNING:
        blocks += [
            Running("How far it is", [shown_job(job)]),
            Form(
                "End it",
                "work-stop",
                (Field("work", kind="hidden", value=job.id),),
                "End it",
                AccountRole.OPERATOR,
                " ".join(("As Ctrl+C at a terminal: nothing half-written stays.", *after_end(job.kind))),
                grave=True,
            ),
        ]
    else:
        blocks.append(Words("What it said", job.lines or ("nothing",)))
    return Page(f"Work: {job.kind}", blocks, up=("Work", "/work"))


def running_block(reading: Reading) -> list[Block]:
    """The jobs that run; nothing where none does."""
    running = reading.jobs.running()
    return [Running("Running now", [shown_job(job) for job in running])] if running else []


def shown_job(job: Job) -> RunningJob:
    """A job as pages show it."""
    name = f"{job.kind}, begun by {job.by} at {moment(job.begun_at)}"
    return RunningJob(job.id, name, job.phase or "it begins", round(100 * job.share), _left(job.left_s))


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "how long it takes is not known yet"
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    hours, rest = divmod(minutes, 60)
    return f"about {f'{hours} h {rest} min' if hours else f'{minutes} min'} left"


def _unfinished(reading: Reading) -> list[Block]:
    """Trainings that lie half-done in the workspace, whoever began them."""
    found = [name for name in _UNFINISHED if (reading.workspace.root / "unfinished" / name).is_dir()]
    if not found:
        return []
    lines = [
        f"`aggregator {name}` runs at the moment, here or at a terminal, or was cut and goes on with --resume"
        for name in found
    ]
    return [Words("In the workspace", lines)]
