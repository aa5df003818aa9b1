"""Every training of a representer that was cut goes on as if nothing had happened; what another one has left is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError
from shared.models.representer import Representer
from shared.training import dann, invariance, three_part
from shared.training.adversarial import clinical
from shared.training.representing import TrainingRecord
from tests.shared.training.trained import SHAPE, SOURCE, TABLE, weights

PAPER = three_part.ThreePartConfig(task_epochs=2, adversary_epochs=1, joint_epochs=1, adversary_hidden=8, seed=5)
RECIPES: dict[str, Any] = {
    "three-part": PAPER,
    "clinical": PAPER,
    "dann": dann.DannConfig(epochs=3, adversary_hidden=8, seed=5),
    "invariance": invariance.InvarianceConfig(epochs=3, seed=5),
}
NOTES = np.arange(SOURCE.sentences) // 5
Progress = Callable[[str, int, int], None]


def train(
    name: str,
    path: Path | None = None,
    progress: Progress = lambda *step: None,
    source: Any = SOURCE,
    notes: Any = NOTES,
    **changed: Any,
) -> tuple[Representer, TrainingRecord]:
    rest = (3, SHAPE, replace(RECIPES[name], **changed), progress, path)
    if name == "clinical":
        return clinical.train_representer(source, TABLE, notes, *rest)
    made = {"three-part": three_part, "dann": dann, "invariance": invariance}[name]
    return made.train_representer(source, TABLE, *rest)


class _CutError(Exception):
    pass


def cut(name: str, path: Path, share: float) -> int:
    """A training that ends after some of its steps; tells with which it began."""
    told: list[int] = []

    def progress(stage: str, done: int, total: int) -> None:
        told.append(done)
        if done >= share * total:
            raise _CutError

    with pytest.raises(_CutError):
        train(name, path, progress)
    return told[0]


whole = cache(lambda name: train(name))


@pytest.mark.parametrize("name", RECIPES)
def test_a_training_that_was_cut_ends_in_the_same_weights(name: str, tmp_path: Path) -> None:
    """Three cuts, and each time it goes on from what the cut before has left."""
    began: list[int] = []
    for share in (0.1, 0.5, 0.9):
        began.append(cut(name, tmp_path / "kept", share))
        torch.manual_seed(99)
    found, record = train(name, tmp_path / "kept", lambda _, done, total: began.append(done))
    expected, expected_record = whole(name)
    assert torch.equal(weights(found), weights(expected))
    assert repr(record) == repr(expected_record)
    # The first cut may have come ahead of what is kept.
    assert min(began[2:4]) > 1, "it began anew"


@pytest.mark.parametrize("name", RECIPES)
def test_what_was_learned_from_other_sentences_is_refused(name: str, tmp_path: Path) -> None:
    cut(name, tmp_path / "kept", 0.9)
    order = np.arange(SOURCE.sentences)[::-1]
    with pytest.raises(ConfigurationError, match="of other notes or settings"):
        train(name, tmp_path / "kept", source=SOURCE.select(order))
    with pytest.raises(ConfigurationError, match="of other notes or settings"):
        train(name, tmp_path / "kept", seed=6)


def test_sentences_of_other_notes_are_other_sentences(tmp_path: Path) -> None:
    cut("clinical", tmp_path / "kept", 0.9)
    with pytest.raises(ConfigurationError, match="another one"):
        train("clinical", tmp_path / "kept", notes=NOTES // 2)
