from __future__ import annotations

import sys

import pytest

from command_line.progress import progress_bar


@pytest.mark.parametrize("quiet", [False, True])
def test_nothing_is_drawn_where_nobody_looks(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(quiet=quiet) as bar:
        for step in range(100):
            bar("tokens", step, 0)
    assert capsys.readouterr() == ("", "")


def test_quick_work_draws_nothing_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar() as bar:
        bar("tokens", 1, 2)
    assert "tokens" not in capsys.readouterr().err
