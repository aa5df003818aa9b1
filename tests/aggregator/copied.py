"""Empty registries, workspaces and worlds: each is made once in a process by what makes them, and copied, which is far quicker.

A copy has the keys of all others. Where a test is about the making itself, it makes its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from aggregator import workspace as workspaces
from aggregator.registry import Registry, open_registry
from aggregator.workspace import Workspace
from bench.exchange.world import World, build


def copied(name: str, make: Callable[[Path], object], root: Path) -> Path:
    """A copy of what is made once in this process.

    Args:
        name: tells it from all others.
        make: fills a folder that is not there yet.
        root: where the copy lies.
    """
    template = Path(_templates().name) / name
    if not template.exists():
        make(template)
    return Path(shutil.copytree(template, root, dirs_exist_ok=True))


def new_world(root: Path) -> World:
    """What `bench.exchange.world.build` makes, in a new folder."""
    return World(copied("world", lambda folder: build(folder), root))


def new_workspace(root: Path, name: str = "north", scheme: str = "i2b2_2014") -> Workspace:
    """What `aggregator.workspace.create` makes, in a new folder."""

    def make(folder: Path) -> None:
        workspaces.create(folder, name, scheme).registry().close()

    return workspaces.open_workspace(copied(f"{name} {scheme}", make, root))


def new_registry(folder: Path) -> Registry:
    """An empty registry on SQLite."""

    def make(made: Path) -> None:
        made.mkdir()
        open_registry(f"sqlite:///{made / 'registry.sqlite'}").close()

    return open_registry(f"sqlite:///{copied('registry', make, folder) / 'registry.sqlite'}")


@cache
def _templates() -> TemporaryDirectory[str]:
    """Gone with the process."""
    return TemporaryDirectory(prefix="templates-")
