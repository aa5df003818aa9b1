"""`aggregator train-head --processes 2`, as people type it, whose second process is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.loop import Loop, snapshot

LEARNING = ("--epochs", "500", "--influence", "none", "--no-operating-points")


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(child) for child in listed.split()]


def test_a_process_that_is_killed_ends_the_command_in_one_line_and_nothing_is_lost(loop: Loop) -> None:
    before = snapshot(loop.provider / "head")
    command = [sys.executable, "-m", "aggregator", "train-head", *LEARNING, "--processes", "2"]
    running = subprocess.Popen(
        [*command, "--workspace", loop.provider], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    kept = loop.provider / "unfinished" / "train-head" / "head" / "head.safetensors"
    until = time.monotonic() + 300
    while not kept.exists() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    (second,) = children(running)
    os.kill(second, signal.SIGKILL)
    out, err = running.communicate(timeout=300)
    assert running.returncode == 6, err
    assert err.count("\n") == 1
    assert "process 1 was ended by SIGKILL" in err
    assert "--resume" in err
    assert not out
    assert snapshot(loop.provider / "head") == before
    assert kept.exists()
    assert json.loads((kept.parent.parent / "inputs.json").read_text())["processes"] == 2
