"""What takes long to make, made once for all processes in which a run of the tests has been spread."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first process to ask makes, while the others wait; nobody may change anything in it.

    Args:
        factory: of the run.
        name: of the folder.
        make: fills it.
    """
    base = factory.getbasetemp()
    # The folders of the processes of pytest-xdist lie beside each other in that of the run.
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, whole = run / name, run / f"{name}.whole"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
