"""A test that lacks PostgreSQL, Flower or a browser is skipped on a laptop and fails in CI."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import databases
from tests.expected import do_without

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def expect(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda names: monkeypatch.setenv("DEID_COMMONS_EXPECT", names)


def test_what_nobody_expects_is_skipped(expect: Callable[[str], None]) -> None:
    expect("")
    with pytest.raises(pytest.skip.Exception, match="no postgresql: not installed"):
        do_without("postgresql", "not installed")


def test_what_is_expected_fails(expect: Callable[[str], None]) -> None:
    expect("postgresql")
    with pytest.raises(pytest.fail.Exception, match="not installed"):
        do_without("postgresql", "not installed")


@pytest.mark.parametrize("names", ["postgres", "postgresql,mysql", "PostgreSQL"])
def test_a_name_that_expects_nothing_is_not_passed_over(names: str, expect: Callable[[str], None]) -> None:
    expect(names)
    with pytest.raises(pytest.fail.Exception, match="expected names among chromium, flower, postgresql"):
        do_without("postgresql", "not installed")


@pytest.mark.parametrize(("names", "outcome"), [("", pytest.skip.Exception), ("postgresql", pytest.fail.Exception)])
def test_a_database_that_is_not_there(
    names: str, outcome: type[BaseException], expect: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    expect(names)
    find: Callable[..., Any] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pgserver" else find(name))
    with pytest.raises(outcome, match="pgserver is not installed"):
        next(databases.postgres.__wrapped__())  # type: ignore[attr-defined]


def test_ci_expects_it() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "export DEID_COMMONS_EXPECT=postgresql\n" in script
    assert "command -v chromium > /dev/null && DEID_COMMONS_EXPECT=chromium,postgresql\n" in script
    assert script.rindex("DEID_COMMONS_EXPECT") < script.index("\nmake ")


def test_ci_runs_the_deployment_where_it_can_not_be_skipped() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    # Beside others, so it has to be waited for, and what it says counts.
    assert "\n  make federated\n" in script
    assert '\n(set -e; elsewhere) > "$told" 2>&1 & beside=$!\n' in script
    assert '\nwait $beside || { cat "$told"; exit 1; }\n' in script
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "federated: export DEID_COMMONS_EXPECT = flower\n" in made
    assert "pytest -n 0 tests/e2e/test_federated_flower.py tests/e2e/test_federated_flower_attacks.py\n" in made
    locked = (ROOT / "requirements-federated.lock").read_text(encoding="utf-8").splitlines()
    assert "flwr==1.41.0" in locked


def test_the_environment_with_flower_differs_only_where_flower_asks_for_it() -> None:
    locks = (ROOT / "requirements.lock", ROOT / "requirements-federated.lock")
    usual, other = (
        dict(line.split("==") for line in lock.read_text().splitlines() if line[0] != "#") for lock in locks
    )
    # What no test of a deployment needs (transformers, linters of deploy/) is not in it.
    common = set(usual) & set(other)
    assert len(common) > 100
    assert {name for name in common if other[name] != usual[name]} <= {"packaging", "typer"}
