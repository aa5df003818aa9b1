"""What a new head is compared with: the head of the last release, unless that has learned from what is held out."""

from __future__ import annotations

from pathlib import Path

import pytest

from aggregator.commands.learning.heads import _comparison_lines
from aggregator.publishing import releases
from aggregator.publishing.releases import Publishing
from aggregator.training.judging import comparison
from aggregator.training.judging.comparison import compare_with_last
from aggregator.training.judging.recall import RecallChange
from aggregator.workspace import Workspace
from shared.taggers.registry import build_tagger, default_config
from tests.aggregator.copied import new_workspace
from tests.aggregator.publishing.trained import lay_down, record_training
from tests.aggregator.training.pools import DIM, LIAR, SCHEME, material, write_pool

SCORED = {"site": "north", "tokens": 50, "phi_tokens": 9, "precision": 0.5, "recall": 0.25, "f1": 1 / 3}
CHANGE = RecallChange("all PHI", 400, 0.9, 0.9, -0.01, 0.01)
HEAD = build_tagger(default_config(DIM, len(SCHEME.tags)))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = new_workspace(tmp_path / "provider")
    lay_down(made)
    return made


def test_a_head_that_has_learned_from_all_sentences_is_compared_with_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    record_training(workspace, sites=[])
    released = releases.publish_pipeline(workspace, Publishing(audited=False))
    found = compare_with_last(workspace, HEAD, material({LIAR: write_pool(tmp_path)[LIAR]}))
    assert found is not None
    assert (found.digest, found.unfair) == (released.digest, True)
    assert (found.as_json()["unfair"], found.as_json()["changes"]) == (True, [])
    [line] = _comparison_lines(found)
    assert line.startswith("NOT compared with release 1: its head was trained with --no-hold-out")


def test_one_that_held_a_tenth_back_is_compared(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_training(workspace, sites=[SCORED])
    releases.publish_pipeline(workspace, Publishing(audited=False))
    monkeypatch.setattr(comparison, "load_head", lambda folder: HEAD)
    monkeypatch.setattr(comparison, "compare_recall", lambda *given, **read: (CHANGE,))
    found = compare_with_last(workspace, HEAD, material({LIAR: write_pool(tmp_path)[LIAR]}))
    assert found is not None
    assert (found.changes, found.unfair) == ((CHANGE,), False)
    assert "unfair" not in found.as_json()
    assert "recall against release 1" in _comparison_lines(found)[0]
