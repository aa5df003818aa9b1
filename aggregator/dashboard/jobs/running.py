"""Runs long works as processes of their own, so that pages answer meanwhile; tells how far they are, and ends them.

A job ends with the dashboard that began it; a training that was cut goes on with `--resume`, as one at a terminal. Job and dashboard talk in
lines of JSON over pipes.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from aggregator.dashboard.jobs.cut import tell_cut
from aggregator.dashboard.jobs.job import KEPT, Job, JobKind, JobState, load_jobs
from aggregator.errors import AggregatorError
from aggregator.registry.times import now
from foundation.errors import StorageError
from foundation.locks import lock
from foundation.os_errors import map_os_errors
from protocols.keys.passphrase import Passphrase

_CHILD = "aggregator.dashboard.jobs.child"
_GRACE_S, _PATIENCE_S = 20.0, 30.0
MOST = 2
"""So many run at once: each trains or reads all there is."""


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Keeps a second dashboard from a workspace: it would tell the works of the first as ones that were cut.

    Waits a moment for one that is ending, as after a restart.

    Raises:
        StorageError: another one serves it; or the folder of the works can't be made.
    """
    folder = root / "jobs"
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        until_s = time.monotonic() + _PATIENCE_S
        while not _locked(handle):
            if time.monotonic() > until_s:
                raise StorageError(
                    "a workspace that no other dashboard serves",
                    received="one that another serves",
                    advice="use that one, or end it first",
                    place=root.name,
                )
            time.sleep(0.1)
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        lock(handle, wait=False)
    except BlockingIOError:
        return False
    return True


class Jobs:
    """All jobs of a workspace.

    Args:
        root: folder of the workspace.
        passphrase: of its keys, if the server was asked for it; a job is told over its pipe.
    """

    def __init__(self, root: Path, passphrase: Passphrase | None = None) -> None:
        self._root, self._folder, self._passphrase = root, root / "jobs", passphrase
        self._lock = threading.Lock()
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._jobs: dict[str, Job] = {}
        with map_os_errors(self._folder):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        for job in load_jobs(self._folder)[-KEPT:]:
            if job.state is JobState.RUNNING:
                said = tell_cut(job, root, "the dashboard ended before it had written down what became of it")
                job = replace(job, state=JobState.CUT, lines=(said,), ended_at=now(), left_s=None)
                # On a full disk it is told again after the next restart.
                with suppress(StorageError):
                    job.save(self._folder)
            self._jobs[job.id] = job

    def all(self) -> list[Job]:
        """All of them, the newest first."""
        with self._lock:
            return list(self._jobs.values())[::-1]

    def running(self) -> list[Job]:
        """Those that run."""
        return [job for job in self.all() if job.state is JobState.RUNNING]

    def last(self, kind: JobKind, state: JobState | None = None) -> Job | None:
        """The newest of a kind, and in a state; None for none."""
        return next((job for job in self.all() if job.kind is kind and state in (None, job.state)), None)

    def find(self, name: str) -> Job | None:
        """A job by its id."""
        with self._lock:
            return self._jobs.get(name)

    def begin(self, kind: JobKind, values: Mapping[str, str], by: str, log: Callable[[], None] = lambda: None) -> Job:
        """Begins a job.

        Args:
            kind: what it does.
            values: of the form.
            by: who asks for it, as the audit log says.
            log: is called once it may begin and is written down, ahead of that.

        Raises:
            AggregatorError: one of the kind runs, or too many do, or its process does not start: that job has failed.
            StorageError: it can't be written down; nothing has begun.
        """
        with self._lock:
            running = [job for job in self._jobs.values() if job.state is JobState.RUNNING]
            if len(running) >= MOST or any(job.kind is kind for job in running):
                raise AggregatorError(
                    f"{kind}: expected no such work that runs, and fewer than {MOST}, found one; wait until it has ended"
                )
            job = Job(secrets.token_hex(8), kind, by, dict(values), now())
            # The log can't be taken back: it tells of no job that there was no room for.
            job.save(self._folder)
            try:
                log()
            except BaseException:
                with suppress(OSError):
                    self._file(job.id).unlink()
                raise
            self._jobs[job.id] = job
            try:
                process = self._processes[job.id] = self._start(job)
            except OSError as error:
                why = (
                    f"the machine starts no further process ({type(error).__name__}); end something, and begin it again"
                )
                job = self._jobs[job.id] = replace(job, state=JobState.FAILED, lines=(why,), ended_at=now())
                job.save(self._folder)
                raise AggregatorError(f"{kind}: {why}") from error
        threading.Thread(target=self._listen, args=(job.id, process), daemon=True).start()
        return job

    def stop(self, name: str) -> None:
        """Ends a job as Ctrl+C does at a terminal; does nothing where it has ended."""
        with self._lock:
            process = self._processes.get(name)
        if process is not None:
            process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Ends all jobs, and waits a moment until they have."""
        with self._lock:
            processes = list(self._processes.values())
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            try:
                process.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()

    def _start(self, job: Job) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", _CHILD, str(self._root)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        secret = None if self._passphrase is None else self._passphrase.known
        asked = {
            "kind": job.kind,
            "values": dict(job.values),
            "by": job.by,
            "passphrase": secret.hex() if secret else None,
        }
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            # It died at once; what it did not say is told as a job that was cut.
            pass
        return process

    def _listen(self, name: str, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        ended: dict[str, Any] = {}
        for line in process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if "phase" in said:
                self._change(name, phase=str(said["phase"]), share=float(said["share"]), left_s=said["left_s"])
            else:
                ended = said
        process.wait()
        if "lines" in ended:
            state, lines = JobState.DONE, tuple(map(str, ended["lines"]))
        elif "failed" in ended:
            state, lines = JobState.FAILED, (str(ended["failed"]),)
        else:
            told = tell_cut(self._jobs[name], self._root, "it ended before it had said what became of it")
            state, lines = JobState.CUT, (told,)
        with self._lock:
            # Together: whoever sees the job ended may begin another, and reads all that it said.
            self._processes.pop(name, None)
            result = ended.get("result", {})
            job = replace(self._jobs[name], state=state, lines=lines, ended_at=now(), left_s=None, result=result)
            try:
                job.save(self._folder)
            except StorageError as error:
                why = " ".join(str(error).split())
                lost = f"this could not be written down, and is lost when the dashboard ends: {why}"
                job = replace(job, lines=(*lines, lost))
            self._jobs[name] = job
            for old in list(self._jobs)[:-KEPT]:
                if old not in self._processes:
                    del self._jobs[old]
                    self._file(old).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _change(self, name: str, **changes: Any) -> None:
        with self._lock:
            self._jobs[name] = replace(self._jobs[name], **changes)
