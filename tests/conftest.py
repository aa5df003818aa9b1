"""What all tests share: one thread, since two that share a busy core run several times slower; and one small loop."""

from __future__ import annotations

import os

# Read when torch is loaded, here and in every process that a test starts.
os.environ["OMP_NUM_THREADS"] = "1"

import shutil
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests.databases import database, postgres  # noqa: F401
from tests.loop import Loop, build
from tests.object_servers import s3_server, s3_url  # noqa: F401
from tests.once import made_once

torch.set_num_threads(1)
# No test judges time: on a busy machine, examples that take a moment would fail.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Fresh networks are the same ones in any order of the tests."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def built_loop(tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """A whole small loop, for tests that change nothing of it."""
    made = made_once(tmp_path_factory, "loop", build)
    # A copy for each process: a database that one reads has files beside it for a moment, which another must not see.
    return Loop(Path(shutil.copytree(made, tmp_path_factory.mktemp("copied") / "loop")))


@pytest.fixture
def loop(built_loop: Loop, tmp_path: Path) -> Loop:
    """A copy of the small loop that the test may change."""
    return Loop(Path(shutil.copytree(built_loop.root, tmp_path / "copied" / "loop")))
