from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError, TrainingError
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import Tagger, predict
from shared.training.tagging import TaggingConfig, train_tagger
from tests.shared.training.toy import VECTORS, toy

SHAPE = BiLSTMCRFConfig(VECTORS.dim, 3, hidden=16)


def accuracy_on_phi(seed: int) -> float:
    tagger = train_tagger(toy(200), 3, TaggingConfig(epochs=20, learning_rate=1e-2, seed=seed), shape=SHAPE)
    unseen = toy(100, seed=9)
    said = np.zeros_like(unseen.tags)
    for rows, lines in predict(tagger, unseen):
        for row, line in zip(rows.tolist(), lines, strict=True):
            said[unseen.starts[row] : unseen.starts[row] + unseen.lengths[row]] = line
    hits = int(((said == unseen.tags) & (unseen.tags > 0)).sum())
    return 2 * hits / int((said > 0).sum() + (unseen.tags > 0).sum())


def test_a_toy_task_is_learned() -> None:
    assert accuracy_on_phi(0) > 0.95


def test_the_seed_decides() -> None:
    def weights(seed: int) -> torch.Tensor:
        tagger = train_tagger(toy(40), 3, TaggingConfig(epochs=1, seed=seed), shape=SHAPE)
        return torch.cat([parameter.flatten() for parameter in tagger.parameters()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


def test_progress_reaches_its_end() -> None:
    steps: list[tuple[str, int, int]] = []
    train_tagger(toy(70), 3, TaggingConfig(epochs=2), shape=SHAPE, progress=lambda *step: steps.append(step))
    assert steps == [("tagger", number, 6) for number in range(1, 7)]


def test_nothing_to_train_on_is_an_error() -> None:
    with pytest.raises(TrainingError, match="at least one"):
        train_tagger(toy(1).select(np.zeros(0, dtype=np.int64)), 3, TaggingConfig())


def test_a_loss_that_is_not_finite_is_an_error() -> None:
    source = toy(5)
    values = np.array(source.values)
    values[:] = np.nan
    broken = RaggedSentences(values, source.casing, source.tags, source.lengths, source.ids)
    with pytest.raises(TrainingError, match="not finite"):
        train_tagger(broken, 3, TaggingConfig(epochs=1), shape=SHAPE)


@pytest.mark.parametrize(
    "setting", [{"epochs": 0}, {"batch": 0}, {"learning_rate": 0.0}, {"clip": -1.0}, {"decay": 1.5}]
)
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        TaggingConfig(**setting)  # type: ignore[arg-type]


def test_few_sentences_get_more_epochs_where_steps_are_asked_for() -> None:
    steps: list[tuple[str, int, int]] = []
    config = TaggingConfig(epochs=1, least_steps=7)
    train_tagger(toy(70), 3, config, shape=SHAPE, progress=lambda *step: steps.append(step))
    assert len(steps) == 9  # three steps an epoch


class _CutError(Exception):
    pass


RECIPE = TaggingConfig(epochs=4, seed=3)
WEIGHTS = cache(lambda: weights_of(train_tagger(toy(70), 3, RECIPE, shape=SHAPE)))


def weights_of(tagger: Tagger) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in tagger.parameters()])


def cut_after(steps: int, path: Path) -> None:
    """A training that ends in the middle."""

    def progress(stage: str, done: int, total: int) -> None:
        if done == steps:
            raise _CutError

    with pytest.raises(_CutError):
        train_tagger(toy(70), 3, RECIPE, shape=SHAPE, progress=progress, checkpoint=path)


# Three steps an epoch: before the first checkpoint, right after one, and between two.
@pytest.mark.parametrize("steps", [2, 4, 8, 12])
def test_a_training_that_was_cut_ends_in_the_same_weights(steps: int, tmp_path: Path) -> None:
    cut_after(steps, tmp_path / "kept")
    torch.manual_seed(99)
    told: list[int] = []
    tagger = train_tagger(
        toy(70), 3, RECIPE, shape=SHAPE, progress=lambda _, done, total: told.append(done), checkpoint=tmp_path / "kept"
    )
    assert torch.equal(weights_of(tagger), WEIGHTS())
    assert told[0] == max(1, (steps - 1) // 3 * 3)
    assert told[-1] == 12


def test_a_training_that_has_ended_is_not_repeated(tmp_path: Path) -> None:
    for _ in range(2):
        tagger = train_tagger(toy(70), 3, RECIPE, shape=SHAPE, checkpoint=tmp_path / "kept")
        assert torch.equal(weights_of(tagger), WEIGHTS())
    told: list[tuple[str, int, int]] = []
    train_tagger(
        toy(70), 3, RECIPE, shape=SHAPE, progress=lambda *step: told.append(step), checkpoint=tmp_path / "kept"
    )
    assert [steps for _, *steps in told] == [[12, 12]]


@pytest.mark.parametrize(
    "other",
    [
        lambda path: train_tagger(toy(70), 3, replace(RECIPE, seed=4), shape=SHAPE, checkpoint=path),
        lambda path: train_tagger(toy(70), 3, RECIPE, shape=replace(SHAPE, hidden=8), checkpoint=path),
        lambda path: train_tagger(toy(71), 3, RECIPE, shape=SHAPE, checkpoint=path),
    ],
)
def test_what_another_training_has_left_is_refused(other: Callable[[Path], Tagger], tmp_path: Path) -> None:
    cut_after(4, tmp_path / "kept")
    with pytest.raises(ConfigurationError, match="another one"):
        other(tmp_path / "kept")
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o600
