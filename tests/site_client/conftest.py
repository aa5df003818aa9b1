"""What tests of several folders begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.loop import Loop, done, provider, train_head
from tests.once import made_once


@pytest.fixture(scope="session")
def another_release(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small loop whose provider has released another pipeline, which no hospital has pulled; a head is trained for it."""

    def make(folder: Path) -> None:
        made = Loop(Path(shutil.copytree(built_loop.root, folder / "loop")))
        done(train_head(made, "--seed", 1))
        done(provider("release", "--workspace", made.provider))

    return made_once(tmp_path_factory, "another", make) / "loop"
