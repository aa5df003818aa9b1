"""The dashboard beside the server for hospitals: whatever becomes of it, they are served, and one line says what became."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
from pathlib import Path

import pytest

from aggregator.dashboard import process
from aggregator.dashboard.jobs import running
from aggregator.dashboard.options import DashboardOptions
from aggregator.dashboard.serving import run
from aggregator.workspace import Workspace
from bench.exchange.certificates import make_certificates
from foundation.errors import StorageError
from tests.aggregator.copied import new_world
from tests.aggregator.server.test_serve import process as serving

ANYWHERE = DashboardOptions("127.0.0.1", 0)
PATIENCE_S = 60


class Said:
    """What the process has told so far, waited for."""

    def __init__(self) -> None:
        self.addresses: queue.Queue[str] = queue.Queue()
        self.warnings: queue.Queue[str] = queue.Queue()

    def warning(self) -> str:
        return self.warnings.get(timeout=PATIENCE_S)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_world(tmp_path / "world").workspace()


def started(said: Said) -> str:
    return said.addresses.get(timeout=PATIENCE_S)


def test_it_is_told_where_it_is_and_ends_without_a_word(workspace: Workspace) -> None:
    said = Said()
    with process.beside(workspace, ANYWHERE, said.addresses.put, said.warnings.put):
        assert started(said).startswith("http://127.0.0.1:")
    assert said.warnings.empty()


def test_one_that_is_killed_is_told_in_a_line(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def remembered(*words: object, **named: object) -> subprocess.Popen[str]:
        begun.append(popen(*words, **named))  # type: ignore[call-overload]
        return begun[-1]

    monkeypatch.setattr(subprocess, "Popen", remembered)
    said = Said()
    with process.beside(workspace, ANYWHERE, said.addresses.put, said.warnings.put) as renew:
        started(said)
        # What trains takes seconds to load, and only the page of trainings together needs it.
        assert "libtorch" not in Path(f"/proc/{begun[0].pid}/maps").read_text()
        os.kill(begun[0].pid, signal.SIGKILL)
        assert "it has ended by itself (code -9)" in said.warning()
        # Its certificate can't be renewed any more, and nobody minds.
        renew()


def test_where_no_process_can_be_started_the_block_runs_all_the_same(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*words: object, **named: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", none_left)
    said = Said()
    with process.beside(workspace, ANYWHERE, said.addresses.put, said.warnings.put):
        assert "starts no further process" in said.warning()


def test_a_second_one_on_the_same_workspace_is_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would tell the works of the first as ones that were cut."""
    monkeypatch.setattr(running, "_PATIENCE_S", 0.0)

    def never(*told: object) -> None:
        pytest.fail("it has started")

    with running.alone(workspace.root), pytest.raises(StorageError, match="another serves"):
        run(workspace, ANYWHERE, never, never)
    # Once the first is gone it starts.
    with running.alone(workspace.root):
        pass


def test_hospitals_are_served_where_the_dashboard_does_not_start(tmp_path: Path) -> None:
    world = new_world(tmp_path / "world")
    (world.provider / "jobs").write_text("no folder")
    files = make_certificates(tmp_path / "certificates", "localhost")
    # It has said "serving" by then.
    with serving(world.provider, files, "--dashboard", "127.0.0.1:0") as (server, _):
        assert server.stderr is not None
        line = next(line for line in server.stderr if "hospitals are served without it" in line)
        assert "jobs" in line
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 0
