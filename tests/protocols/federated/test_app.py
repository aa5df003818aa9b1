"""The app that Flower carries: a few lines that import what is installed, and nothing that installs."""

from __future__ import annotations

import ast
import tomllib

from protocols.federated.app import FILES


def test_the_app_asks_for_no_package() -> None:
    project = tomllib.loads(FILES["pyproject.toml"].decode())
    assert project["project"]["dependencies"] == []
    assert project["tool"]["flwr"]["app"]["config"] == {}


def test_its_modules_only_name_what_is_installed() -> None:
    for path, content in FILES.items():
        if path.endswith(".py"):
            for statement in ast.parse(content).body:
                assert isinstance(statement, ast.ImportFrom | ast.Assign), path
                if isinstance(statement, ast.ImportFrom):
                    assert str(statement.module).endswith(".federated.flower.relay")
