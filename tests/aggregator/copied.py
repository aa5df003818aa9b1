"""Empty registries, workspaces and worlds: each is made once in a process by what makes them, and copied, which is far quicker.

A copy has the keys of all others. Where a test is about the making itself, it makes its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from aggregator import workspace as workspaces
from aggregator.registry import Registry, open_registry
from aggregator.workspace import Workspace
from bench.exchange.world import World, build
from tests.databases import Database


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


def copied_with(database: Database | None, name: str, make: Callable[[Path, str | None], object], root: Path) -> Path:
    """The same with a registry in a database of either kind.

    Args:
        database: an empty one; SQLite, as None, is a file in the folder.
        name: tells it from all others.
        make: fills a folder, and the database of a URL where there is one.
        root: where the copy lies.
    """
    if database is None or database.server is None:
        return copied(name, lambda folder: make(folder, None), root)
    server, whole = database.server, Path(_templates().name) / f"{name} in PostgreSQL"
    if not whole.exists():
        template = Database(server.new_database(), server=server)
        make(whole / "folder", template.url)
        (whole / "dump.sql").write_text(template.dump())
        (whole / "url").write_text(template.url)
    shutil.copytree(whole / "folder", root, dirs_exist_ok=True)
    for settings in root.rglob("aggregator.json"):
        settings.write_text(settings.read_text().replace((whole / "url").read_text(), database.url))
    database.fill((whole / "dump.sql").read_text())
    return root


def new_world(root: Path, database: Database | None = None) -> World:
    """What `bench.exchange.world.build` makes, in a new folder."""
    return World(copied_with(database, "world", lambda folder, url: build(folder, database=url), root))


def new_workspace(
    root: Path, name: str = "north", scheme: str = "i2b2_2014", database: Database | None = None
) -> Workspace:
    """What `aggregator.workspace.create` makes, in a new folder."""

    def make(folder: Path, url: str | None) -> None:
        workspaces.create(folder, name, scheme, database=url).registry().close()

    return workspaces.open_workspace(copied_with(database, f"{name} {scheme}", make, root))


def new_registry(
    folder: Path,
    database: Database | None = None,
    name: str = "registry",
    begin: Callable[[Registry], object] = lambda made: None,
) -> Registry:
    """A registry that is empty, or what a beginning makes of it, known by a name."""

    def make(made: Path, url: str | None) -> None:
        made.mkdir(parents=True)
        with closing(open_registry(url or _url(made))) as registry:
            begin(registry)

    where = copied_with(database, name, make, folder)
    return open_registry(_url(where) if database is None else database.url)


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'registry.sqlite'}"


@cache
def _templates() -> TemporaryDirectory[str]:
    """Gone with the process."""
    return TemporaryDirectory(prefix="templates-")
