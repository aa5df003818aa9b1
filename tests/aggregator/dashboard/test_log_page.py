"""The page of the audit log, where somebody has changed it: whoever looks is told so there, and can have all of it verified."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aggregator.registry import audit_log
from tests.aggregator.dashboard.desk import Desk, shown


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With three parts of a log."""
    made = Desk(tmp_path / "world")
    for _ in range(60):
        with made.workspace.registry().transaction() as session:
            audit_log.append(session, "operator", "looked", {})
    return made


def change(desk: Desk, column: str, value: str, seq: int) -> None:
    """As somebody does who has the file of the database."""
    with closing(sqlite3.connect(desk.workspace.root / "registry.sqlite")) as opened, opened as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(f"UPDATE events SET {column} = {value} WHERE seq = ?", (seq,))


@pytest.mark.parametrize(("column", "value"), [("details", "'{}x'"), ("actor", "CAST(x'ff' AS TEXT)"), ("at", "5")])
def test_who_looks_at_newest_events_that_are_broken_is_told_and_can_verify_all(
    desk: Desk, column: str, value: str
) -> None:
    browser = desk.signed_in("operator")
    assert "restore the database" not in shown(browser.get("/"))
    newest = len(desk.events())
    change(desk, column, value, newest)
    for path in ("/", "/log"):
        page = browser.get(path)
        assert page.status_code == 200
        assert '<li class="bad">audit log, event ' in page.text
        assert "restore the database from a backup" in shown(page)
    assert 'value="log-verify"' in page.text
    # The parts before are whole, and a step away.
    assert "/log?page=2" in page.text
    older = browser.get("/log?page=2")
    assert "restore the database" not in shown(older)
    assert "looked" in shown(older)
