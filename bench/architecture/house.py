"""The house as the code has it: packages and their rooms, the floor of each, and which room imports from which.

A room is a sub-package, or a module beside the sub-packages. Floors come from the layers that import-linter checks
(pyproject.toml), imports from the source itself, so neither can say what is not so.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# The room whose errors every room of a package raises: an arrow from each would hide all others.
ERRORS = "errors"

Arrows = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Room:
    """A sub-package or a module.

    Args:
        name: without that of its package.
        folder: whether it is a sub-package.
        lines: of Python in it; 0 where it is not a part of what is installed.
    """

    name: str
    folder: bool
    lines: int


@dataclass(frozen=True)
class Package:
    """A package and its rooms.

    Args:
        name: what is imported.
        purpose: how its docstring begins.
        floors: its rooms, the highest floor first; one floor where the drawing does not go into it.
        arrows: from a room to one on a lower floor that it imports from, where no other arrows lead there.
    """

    name: str
    purpose: str
    floors: tuple[tuple[Room, ...], ...]
    arrows: Arrows


@dataclass(frozen=True)
class House:
    """All packages.

    Args:
        floors: the packages, the highest floor first.
        arrows: from a package to one on a lower floor that it imports from, where no other arrows lead there.
    """

    floors: tuple[tuple[Package, ...], ...]
    arrows: Arrows


def read_house(root: Path = ROOT) -> House:
    """The house whose pyproject.toml and packages lie in `root`."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    floors = _contracts(settings)
    installed = settings["tool"]["setuptools"]["packages"]["find"]["include"]
    names = [name for floor in floors[""] for name in floor]
    imports = [pair for name in names for pair in _imports(root, name)]
    packages = {
        name: _package(root, name, any(fnmatch(name, pattern) for pattern in installed), floors.get(name, []), imports)
        for name in names
    }
    return House(
        tuple(tuple(packages[name] for name in floor) for floor in floors[""]),
        _arrows(imports, floors[""], depth=0),
    )


def essential(pairs: Iterable[tuple[str, str]]) -> Arrows:
    """Those of the pairs that no way over others replaces: the transitive reduction of a graph without circles."""
    below: dict[str, set[str]] = {}
    for upper, lower in pairs:
        below.setdefault(upper, set()).add(lower)
    return frozenset(
        (upper, lower)
        for upper, direct in below.items()
        for lower in direct
        if not any(lower in _reached(below, other) for other in direct)
    )


def _reached(below: Mapping[str, set[str]], start: str) -> set[str]:
    """All that lies below `start`, itself not included."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = below.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _contracts(settings: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    """Floors by the package that they are in; those of the packages themselves under ""."""
    return {
        container: [re.findall(r"\w+", layer) for layer in contract["layers"]]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
        for container in contract.get("containers", [""])
    }


def _package(
    root: Path, name: str, installed: bool, floors: Sequence[Sequence[str]], imports: Sequence[tuple[str, str]]
) -> Package:
    """A package; without floors, or outside of what is installed, its folders, or else its modules, are one floor."""
    rooms = {room.name: room if installed else replace(room, lines=0) for room in _rooms(root / name)}
    if not installed or not floors:
        floors = [[room.name for room in rooms.values() if room.folder] or list(rooms)]
    # The way in, `__main__`, is a door and no room.
    inside = [[room for room in floor if room in rooms] for floor in floors]
    own = [pair for pair in imports if all(end.startswith(f"{name}.") for end in pair)]
    return Package(
        name,
        _purpose(root / name / "__init__.py"),
        tuple(tuple(rooms[room] for room in floor) for floor in inside if floor),
        _arrows(own, inside, depth=1),
    )


def _rooms(package: Path) -> Iterator[Room]:
    for path in sorted(package.iterdir()):
        if path.suffix == ".py" and not path.stem.startswith("__"):
            yield Room(path.stem, False, _lines([path]))
        elif (path / "__init__.py").exists():
            yield Room(path.name, True, _lines(path.rglob("*.py")))


def _lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def _purpose(path: Path) -> str:
    """The docstring of a module up to its first full stop, colon or semicolon."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"[.:;]", docstring, maxsplit=1)[0]


def _imports(root: Path, package: str) -> Iterator[tuple[str, str]]:
    """Who imports what in a package, by full names."""
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((module, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                source = resolve_name("." * node.level + (node.module or ""), ".".join(parts[:-1]))
                yield from ((module, f"{source}.{alias.name}") for alias in node.names)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node: expressions, which most of a program is, import nothing."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            yield child
            yield from _statements(child)


def _arrows(imports: Iterable[tuple[str, str]], floors: Sequence[Sequence[str]], depth: int) -> Arrows:
    """The essential arrows between what the floors name, from a higher floor to a lower one.

    Args:
        imports: full names.
        floors: names, the highest floor first.
        depth: which part of a full name the floors hold.
    """
    level = {name: number for number, floor in enumerate(floors) for name in floor}
    found = set()
    for pair in imports:
        upper, lower = ([*full.split("."), ""][depth] for full in pair)
        if lower != ERRORS and level.get(upper, len(floors)) < level.get(lower, -1):
            found.add((upper, lower))
    return essential(found)
