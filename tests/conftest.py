"""What all tests share: one thread, since two that share a busy core run several times slower; and one small loop."""

from __future__ import annotations

import os

# Read by torch when a test imports it, here and in every process that a test starts; most tests of the exchange never do.
os.environ["OMP_NUM_THREADS"] = "1"

# What was compiled is kept, whatever is usual here: else every worker, and every process that a test starts, compiles all anew.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""

import gc
import shutil
import sqlite3
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import event
from sqlalchemy.pool import Pool

from tests.browser import browser  # noqa: F401
from tests.databases import database, postgres  # noqa: F401
from tests.object_servers import s3_server, s3_url  # noqa: F401
from tests.once import made_once

if TYPE_CHECKING:
    from tests.loop import Loop

# The same of this process.
sys.dont_write_bytecode = False

# No test judges time: on a busy machine, examples that take a moment would fail. Thirty examples where a test asks for no
# other number: every run draws others.
settings.register_profile("untimed", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for garbage neither among what is being imported, nor ever in it: it is most of the heap and stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


_FSYNC = os.fsync


def _never_wait(connection: object, record: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture(scope="session", autouse=True)
def unflushed() -> Iterator[None]:
    """Nobody waits for the disk: no test takes the power away, and what a process has written every other one sees."""
    with pytest.MonkeyPatch.context() as patch:
        # As the true one, it refuses what is no descriptor.
        patch.setattr(os, "fsync", lambda descriptor: os.fstat(descriptor) and None)
        event.listen(Pool, "connect", _never_wait)
        yield
        event.remove(Pool, "connect", _never_wait)


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For a test of the waiting itself, or of everything that is asked of the system."""
    monkeypatch.setattr(os, "fsync", _FSYNC)
    event.remove(Pool, "connect", _never_wait)
    yield
    event.listen(Pool, "connect", _never_wait)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Fresh networks are the same ones in any order of the tests."""
    if torch := sys.modules.get("torch"):
        # `torch.manual_seed` takes the calling stack down for each kind of accelerator: a millisecond a test.
        torch.default_generator.manual_seed(0)


@pytest.fixture(scope="session")
def built_loop(tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """A whole small loop, for tests that change nothing of it."""
    # Imported where it is needed: it takes both programs, which is seconds for every run of a few tests.
    from tests.loop import Loop, build

    made = made_once(tmp_path_factory, "loop", build)
    # A copy for each process: a database that one reads has files beside it for a moment, which another must not see.
    return Loop(Path(shutil.copytree(made, tmp_path_factory.mktemp("copied") / "loop")))


@pytest.fixture
def loop(built_loop: Loop, tmp_path: Path) -> Loop:
    """A copy of the small loop that the test may change; its hospitals do not know what has left, and encode their few notes anew."""
    from tests.loop import Loop, forget

    copied = Loop(Path(shutil.copytree(built_loop.root, tmp_path / "copied" / "loop")))
    for name in ("north", "south"):
        forget(copied.site(name))
    return copied
