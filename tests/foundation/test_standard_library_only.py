from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import foundation

MODULES = sorted(Path(str(foundation.__file__)).parent.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The top-level names of what a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "foundation").split(".")[0])
    return names


def test_there_is_something_to_look_at() -> None:
    assert {"errors", "files", "locks"} <= {path.stem for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_foundation_stands_on_the_standard_library_alone(path: Path) -> None:
    assert imported(path) <= sys.stdlib_module_names | {"foundation"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_only_locks_need_a_system_that_has_fcntl(path: Path) -> None:
    assert ("fcntl" in imported(path)) == (path.stem == "locks")
