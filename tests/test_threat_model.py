"""docs/threat-model.md promises nothing without a test: every test that it names exists, and every promise names one."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))
PROMISES = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
ACTORS = (
    "curious provider",
    "provider that lies",
    "keys were stolen",
    "malicious hospital",
    "network",
    "thief",
    "insider at the hospital",
    "insider at the provider",
    "malicious release server",
)


@cache
def defined(path: str) -> set[str]:
    """Tests of a file, in classes too."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_every_test_that_is_named_exists(path: str, name: str) -> None:
    assert (ROOT / path).exists(), path
    assert name.startswith("test_")
    assert name in defined(path)


def test_every_promise_names_a_test() -> None:
    assert len(PROMISES) > 30
    for line in PROMISES:
        assert len(line.split(" | ")) == 2, line
        assert re.search(r"`tests/[\w/]+\.py::\w+`", line), line


def test_every_attacker_has_its_promises_and_its_limits() -> None:
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    for actor in ACTORS:
        (section,) = [section for section in sections if actor in section.splitlines()[0].lower()]
        assert "| promise | shown by |" in section
        assert "\nNot promised: " in section
