"""What stands on the disk and in the log of a long work, where the disk is full."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.dashboard.jobs import running
from aggregator.dashboard.jobs.job import Job, JobKind, JobState, load_jobs
from aggregator.dashboard.jobs.running import Jobs
from aggregator.publishing import releases
from aggregator.publishing.releases import Publishing
from foundation.errors import StorageError
from tests.aggregator.dashboard.desk import Desk, shown
from tests.aggregator.publishing.trained import lay_down


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "world")


def full(*given: object) -> None:
    raise StorageError("room for the file", received="a full disk", advice="free some space and repeat", place="jobs")


def ended(desk: Desk, kind: JobKind = JobKind.VERIFY) -> Job:
    for _ in range(600):
        job = desk.jobs.last(kind)
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


def publish(desk: Desk) -> None:
    releases.publish_representer(desk.workspace, Publishing(audited=False, notes=str(len(desk.events()))))


@pytest.mark.parametrize("newest", ["", "0001-representer"])
@pytest.mark.parametrize("out", [True, False])
def test_a_release_whose_work_died_is_told_by_what_is_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, newest: str, out: bool
) -> None:
    lay_down(desk.workspace)
    if newest:
        publish(desk)
    # A process that ends and says nothing, as one that is killed after its release is out.
    monkeypatch.setattr(running, "_CHILD", "keyword")
    desk.jobs.begin(JobKind.PUBLISH, {"newest": newest}, "anna (dashboard)", lambda: publish(desk) if out else None)
    job = ended(desk, JobKind.PUBLISH)
    assert job.state is JobState.CUT
    name = "0002-representer" if newest else "0001-representer"
    assert (f"{name} is out" in job.lines[0], "nothing is published" in job.lines[0]) == (out, not out)
    assert "--resume" not in job.lines[0]
    # The same after a restart that finds it as one that runs.
    replace(job, state=JobState.RUNNING).save(desk.workspace.root / "jobs")
    again = Jobs(desk.workspace.root).find(job.id)
    assert again is not None
    assert (f"{name} is out" in again.lines[0], "nothing is published" in again.lines[0]) == (out, not out)


@pytest.mark.parametrize(("kind", "goes_on"), [(JobKind.TRAIN_HEAD, True), (JobKind.VERIFY, False)])
def test_only_a_training_is_said_to_go_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, kind: JobKind, goes_on: bool
) -> None:
    monkeypatch.setattr(running, "_CHILD", "keyword")
    desk.jobs.begin(kind, {}, "anna (dashboard)")
    assert ("--resume" in ended(desk, kind).lines[0]) == goes_on


def test_a_release_whose_repository_can_not_be_read_may_be_out(tmp_path: Path) -> None:
    Jobs(tmp_path)
    job = Job("ab" * 8, JobKind.RELEASE, "anna (dashboard)", {"newest": ""}, "2026-11-24T10:00:00Z")
    job.save(tmp_path / "jobs")
    again = Jobs(tmp_path).find(job.id)
    assert again is not None
    assert "may be out" in again.lines[0]


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


WRITTEN = {"kind": "publish", "by": "anna (dashboard)", "values": {"newest": ""}, "begun_at": "2026-11-24T10:00:00Z"}
REST = {
    "id": "0" * 16,
    "state": "done",
    "ended_at": "",
    "phase": "",
    "share": 0,
    "left_s": None,
    "lines": [],
    "result": {},
}


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe",
        b"",
        b"[" * 100_000,
        b"[]",
        json.dumps(WRITTEN | REST | {"begun_at": 5}).encode(),
        json.dumps(WRITTEN | REST | {"lines": [None]}).encode(),
        json.dumps(WRITTEN | REST | {"share": "half"}).encode(),
        None,
    ],
)
def test_what_is_no_job_is_passed_over(tmp_path: Path, data: bytes | None) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / f"{'1' * 16}.json").write_text(json.dumps(WRITTEN | REST | {"id": "1" * 16}))
    other = folder / f"{'0' * 16}.json"
    other.mkdir() if data is None else other.write_bytes(data)
    assert [job.id for job in Jobs(tmp_path).all()] == ["1" * 16]


def test_a_full_disk_keeps_no_dashboard_from_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Jobs(tmp_path)
    Job("ab" * 8, JobKind.VERIFY, "anna (dashboard)", {}, "2026-11-24T10:00:00Z").save(tmp_path / "jobs")
    monkeypatch.setattr(Job, "save", full)
    assert [job.state for job in Jobs(tmp_path).all()] == [JobState.CUT]
