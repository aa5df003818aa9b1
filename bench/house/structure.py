"""How the code is laid out: sizes, documentation, folders, arrows. Read from the source; nothing of it is run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import numpy as np

from bench.results import ROOT, Entry

PACKAGES = ("foundation", "protocols", "shared", "command_line", "aggregator", "site_client", "bench")
_DATA = "the source of all packages"
_CONSTRUCTIONS = "shared/constructions"
# What a construction is made of: whoever asks for one of these types has rediscovered it.
_PARTS_OF_A_CONSTRUCTION = re.compile(r"isinstance\([^()]*(?:\([^()]*\)[^()]*)*\b(Representer|TokenLocal|\w*Vectors)\b")


@dataclass(frozen=True)
class Source:
    """One file of the code.

    Args:
        path: below the root.
        text: its content.
    """

    path: Path
    text: str

    @property
    def package(self) -> str:
        """The top package that it belongs to."""
        return self.path.parts[0]

    @property
    def lines(self) -> int:
        """Lines, blank ones included."""
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed module."""
        return ast.parse(self.text)


def sources(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES) -> list[Source]:
    """Every module of the packages, `__init__` files included where they say something."""
    found = sorted(path for package in packages for path in (root / package).rglob("*.py"))
    read = (Source(path.relative_to(root), path.read_text(encoding="utf-8")) for path in found)
    return [source for source in read if source.text.strip()]


def function_lines(source: Source, *, docstrings: bool = False) -> Iterator[int]:
    """Lines of each function or method without its decorators, nested ones included.

    Args:
        source: of the module.
        docstrings: whether they count.
    """
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None and not docstrings
            first = node.body[0]
            docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
            yield (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def public_names(node: ast.Module | ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """Each public class, function and method, and whether it has a docstring; also the module, as ""."""
    if isinstance(node, ast.Module):
        yield "", ast.get_docstring(node) is not None
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            yield child.name, ast.get_docstring(child) is not None
            if isinstance(child, ast.ClassDef):
                yield from public_names(child)


def modules_by_folder(found: list[Source]) -> Counter[str]:
    """Modules in each folder, without its `__init__`."""
    return Counter(str(source.path.parent) for source in found if source.path.name != "__init__.py")


def types_asked_for(found: list[Source]) -> list[str]:
    """Files outside the room of constructions that ask what a representer or word vectors are."""
    return [
        str(source.path)
        for source in found
        if not str(source.path).startswith(_CONSTRUCTIONS) and _PARTS_OF_A_CONSTRUCTION.search(source.text)
    ]


def is_circular(packages: tuple[str, ...] = PACKAGES) -> bool:
    """Whether modules import one another in a circle, imports inside functions included."""
    graph = grimp.build_graph(*packages, include_external_packages=False)
    arrows = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError:
        return True
    return False


def broken_contracts() -> int:
    """Import contracts that do not hold: arrows upward, sideways, or to a library that a room may not know."""
    command = [str(Path(sys.executable).parent / "lint-imports")]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = re.search(r"Contracts: \d+ kept, (\d+) broken", told)
    if found is None:
        raise RuntimeError("lint-imports: expected a count of contracts, got none; run it by hand")
    return int(found.group(1))


def measure(command: str) -> list[Entry]:
    """Every figure of the layout."""
    found = sources()
    folders = modules_by_folder(found)
    largest, modules = folders.most_common(1)[0]
    lines = [source.lines for source in found]
    functions = [count for source in found for count in function_lines(source)]
    with_docstrings = [count for source in found for count in function_lines(source, docstrings=True)]
    asking = types_asked_for(found)

    def entry(measure: str, value: float, target: float, direction: str, unit: str, note: str = "") -> Entry:
        return Entry(measure, value, target, direction, unit, None, 1, _DATA, command, note)

    median, tenth = np.median(with_docstrings), np.quantile(with_docstrings, 0.9, method="higher")
    without = f"without docstrings and decorators; with docstrings {median:g} and, at the 90th percentile, {tenth:g}"
    return [
        entry(
            "files outside constructions that ask for the type of a representer or of vectors",
            len(asking),
            0,
            "<=",
            "files",
            ", ".join(asking),
        ),
        entry("modules in the largest folder", modules, 12, "<=", "modules", largest),
        entry("import contracts broken (floors, independence, libraries)", broken_contracts(), 0, "<=", "contracts"),
        entry("circles of imports", int(is_circular()), 0, "<=", "circles"),
        *(
            entry(
                f"public names documented: {package}",
                share,
                0.95 if package in ("shared", "protocols") else 0.9,
                ">=",
                "share",
                note,
            )
            for package, share, note in _documented(found)
        ),
        entry("file, median", float(np.median(lines)), 130, "<=", "lines", f"{len(found)} files"),
        entry("file, longest", max(lines), 400, "<=", "lines", str(max(found, key=lambda source: source.lines).path)),
        entry(
            "function, median", float(np.median(functions)), 7, "<=", "lines", f"{len(functions)} functions; {without}"
        ),
        entry(
            "function, 90th percentile", float(np.quantile(functions, 0.9, method="higher")), 20, "<=", "lines", without
        ),
    ]


def _documented(found: list[Source]) -> Iterator[tuple[str, float, str]]:
    for package in PACKAGES:
        named = [
            documented for source in found if source.package == package for _, documented in public_names(source.tree)
        ]
        yield (
            package,
            round(float(np.mean(named)), 3),
            f"{sum(named)} of {len(named)} modules, classes, functions, methods",
        )
