"""What stands on the disk and in the log of a long work, where the disk is full."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aggregator.dashboard.jobs.job import Job, JobKind, JobState, load_jobs
from aggregator.dashboard.jobs.running import Jobs
from foundation.errors import StorageError
from tests.aggregator.dashboard.desk import Desk, shown


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "world")


def full(*given: object) -> None:
    raise StorageError("room for the file", received="a full disk", advice="free some space and repeat", place="jobs")


def ended(desk: Desk) -> Job:
    for _ in range(600):
        job = desk.jobs.last(JobKind.VERIFY)
        if job is not None and job.state is not JobState.RUNNING:
            return job
        time.sleep(0.1)
    pytest.fail("it never ends")


def test_the_log_tells_of_no_work_that_could_not_be_written_down(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = desk.signed_in("operator")
    asked = browser.ask("log-verify", known="")
    before = desk.events()
    with monkeypatch.context() as patch:
        patch.setattr(Job, "save", full)
        assert browser.confirm(asked).status_code == 503
    assert (desk.events(), desk.jobs.all()) == (before, [])
    # And it holds no place.
    assert browser.confirm(browser.ask("log-verify", known="")).status_code == 303


def test_nothing_is_begun_that_could_not_be_logged(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    with pytest.raises(StorageError):
        jobs.begin(JobKind.VERIFY, {}, "anna (dashboard)", full)
    assert (jobs.all(), load_jobs(tmp_path / "jobs")) == ([], [])


def test_an_end_that_could_not_be_written_down_is_told_as_that(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    save = Job.save

    def save_begun(job: Job, folder: Path) -> None:
        save(job, folder) if job.state is JobState.RUNNING else full()

    browser = desk.signed_in("operator")
    with monkeypatch.context() as patch:
        patch.setattr(Job, "save", save_begun)
        assert browser.confirm(browser.ask("log-verify", known="")).status_code == 303
        job = ended(desk)
    assert job.state is JobState.DONE
    assert "every link holds" in job.lines[0]
    assert "could not be written down" in job.lines[-1]
    assert "a full disk" in shown(browser.get(f"/work/{job.id}"))
    # Whoever reads it after a restart is not told that it was cut by somebody.
    again = Jobs(desk.workspace.root).find(job.id)
    assert again is not None
    assert (again.state, again.lines) == (
        JobState.CUT,
        ("the dashboard ended before it had written down what became of it",),
    )
