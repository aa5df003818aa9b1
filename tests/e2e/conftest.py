"""What tests of a deployment start, and end."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.expected import do_without
from tests.programs import Programs, wait_for


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    if find_spec("flwr") is None:
        do_without("flower", "the extra [federated] is not installed")
    # A socket's path is short; that of a test is not.
    folder = Path("/tmp") / f"deid-{os.getpid()}-{time.monotonic_ns() % 10**6}"
    folder.mkdir(mode=0o700)
    started = Programs(folder)
    # A shell lets what it starts in the background ignore Ctrl+C, and so would all that we start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield started
    signal.signal(signal.SIGINT, before)
    started.end()
    wait_for(lambda: not started.left(), 60)
    for name in sorted(path.stem for path in folder.glob("*.out")):
        print(f"--- {name}\n{started.said(name)}")
    shutil.rmtree(folder, ignore_errors=True)
