"""docs/surrogates.md says which test holds each defect of the paper's program away; every one that it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NAMED = re.findall(
    r"^\| .+ \| `(tests/[\w/]+\.py)::(\w+)` \|$", (ROOT / "docs" / "surrogates.md").read_text("utf-8"), re.M
)


def test_every_defect_has_a_line() -> None:
    """As many as were found in the paper's proof and its program."""
    assert len(NAMED) == 11


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_the_test_of_a_defect_is_there(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
