"""What the programs start of themselves runs no Python file that lies in the folder they are used in."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregator.training.processes.starting import this_command

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("aggregator", "command_line", "foundation", "protocols", "shared", "site_client")


def started() -> Iterator[tuple[str, list[object]]]:
    """Every command that begins with the interpreter, and its words; where it stands goes first."""
    for path in sorted(path for name in PRODUCT for path in (ROOT / name).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "sys.executable" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.List | ast.Tuple) and node.elts and ast.unparse(node.elts[0]) == "sys.executable":
                words: list[object] = [word.value for word in node.elts if isinstance(word, ast.Constant)]
                yield f"{path.relative_to(ROOT)}:{node.lineno}", words


def test_every_process_of_python_is_started_without_the_folder_of_work() -> None:
    found = dict(started())
    assert len(found) >= 6
    assert [place for place, words in found.items() if not words or words[0] not in ("-P", "-I")] == []


def test_attack_a_python_file_in_the_folder_of_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "click.py").write_text("open('taken-over', 'w')\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["aggregator", "--help"])
    ended = subprocess.run(this_command(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Usage: " in ended.stdout
    assert not (tmp_path / "taken-over").exists()
