"""The program is killed while somebody corrects; `python -m bench.results_workbench review` does it two hundred times."""

from __future__ import annotations

from pathlib import Path

from bench.workbench.reviewing.kills import kill_again_and_again


def test_no_correction_that_was_said_to_be_saved_is_lost_by_a_kill(tmp_path: Path) -> None:
    found = kill_again_and_again(tmp_path / "p", 5, seed=1)
    assert found.kills == 5
    assert found.saved > 0
    assert found.lost == 0
