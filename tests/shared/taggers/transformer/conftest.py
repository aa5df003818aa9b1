"""One checkpoint for all tests of the room; who changes it takes a copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.shared.taggers.transformer.made import make_checkpoint


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copied"))
