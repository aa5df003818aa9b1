"""Runs that outlive a checkout: equal when they come back, made by a commit, and without a word of a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import outcomes
from bench.outcomes import load_or_measure
from bench.results import kept

RUN = {
    "found": {"note-1": [[0, 4, "PATIENT", 0.9], [7, 9, "LOCATION-OTHER", None]]},
    "points": None,
    "commit": "82de9ac",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(outcomes, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")


def made(tmp_path: Path, run: dict[str, Any]) -> Path:
    path = tmp_path / "runs" / "one.json"
    path.write_text(json.dumps(run))
    return path


def test_a_kept_run_is_measured_no_second_time(tmp_path: Path) -> None:
    path = made(tmp_path, RUN)
    kept.keep(path)
    assert not path.exists()
    assert load_or_measure("one", lambda: pytest.fail("it is there")) == RUN
    assert load_or_measure("other", lambda: {"f1": 0.5})["f1"] == 0.5


def test_equal_runs_are_equal_bytes(tmp_path: Path) -> None:
    first = kept.keep(made(tmp_path, RUN)).read_bytes()
    assert kept.keep(made(tmp_path, RUN)).read_bytes() == first


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"commit": "82de9ac+dirty"}, "clean commit"), ({"public": ["quillfeather"]}, "words of a corpus")],
)
def test_what_nobody_can_repeat_or_publish_is_not_kept(changed: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = made(tmp_path, RUN | changed)
    with pytest.raises(ValueError, match=told) as refusal:
        kept.keep(path)
    assert path.exists()
    assert "quillfeather" not in str(refusal.value)
