from __future__ import annotations

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError, TrainingError
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import predict
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
