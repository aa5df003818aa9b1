from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError, TrainingError
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.ragged import RaggedSentences
from shared.training.pairs import neighbour_table
from shared.training.three_part import ThreePartConfig, TrainingRecord, _Trainer, train_representer
from tests.shared.training.toy import VECTORS, WORDS, toy

SOURCE = toy(60)
TABLE = neighbour_table(SOURCE, WORDS, Pseudonymiser(Neighbours(VECTORS), 5), np.random.default_rng(0))
SHAPE = RepresenterConfig(VECTORS.dim, dim=6, hidden=8)
RECIPE = ThreePartConfig(task_epochs=2, adversary_epochs=2, joint_epochs=2, adversary_hidden=6)


def trained(seed: int, source: RaggedSentences = SOURCE) -> tuple[Representer, TrainingRecord]:
    return train_representer(source, TABLE, 3, SHAPE, ThreePartConfig(**(vars(RECIPE) | {"seed": seed})))


def test_a_training_gives_a_frozen_representer_and_its_record() -> None:
    representer, record = trained(0)
    assert not representer.training
    assert not any(parameter.requires_grad for parameter in representer.parameters())
    assert record.part == ["task"] * 2 + ["adversaries"] * 2 + ["joint"] * 2
    assert record.task_loss[1] < record.task_loss[0]
    assert [math.isnan(value) for value in record.task_loss] == [False, False, True, True, False, False]
    assert [math.isnan(value) for value in record.adversary_accuracy] == [True, True, False, False, False, False]
    assert min(record.noise) >= SHAPE.noise_floor


def test_the_seed_decides() -> None:
    def weights(seed: int) -> torch.Tensor:
        return torch.cat([value.flatten() for value in trained(seed)[0].state_dict().values()])

    assert torch.equal(weights(1), weights(1))
    assert not torch.equal(weights(1), weights(2))


def test_the_second_part_leaves_the_representer_alone() -> None:
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, RECIPE, lambda *step: None)
    before = {name: value.clone() for name, value in trainer.representer.state_dict().items()}
    attackers = {name: value.clone() for name, value in trainer.adversaries.state_dict().items()}
    trainer.learn_attack()
    assert all(torch.equal(value, before[name]) for name, value in trainer.representer.state_dict().items())
    assert any(not torch.equal(value, attackers[name]) for name, value in trainer.adversaries.state_dict().items())


def test_an_adversary_that_knows_nothing_loses_log_2() -> None:
    nothing = torch.zeros(4)
    assert _Trainer.adversary_loss(nothing, nothing).tolist() == pytest.approx([math.log(2)] * 4)
    sure = torch.full((4,), 20.0)
    assert _Trainer.adversary_loss(sure, -sure).max() < 1e-6
    assert _Trainer.adversary_loss(-sure, sure).min() > 19


@pytest.mark.parametrize("source", [toy(10, phi=False), SOURCE.select(np.zeros(0, dtype=np.int64))])
def test_no_phi_is_an_error_and_no_endless_loop(source: RaggedSentences) -> None:
    with pytest.raises(TrainingError, match="PHI"):
        trained(0, source)


def test_a_loss_that_is_not_finite_is_an_error() -> None:
    values = np.full_like(SOURCE.values, np.nan)
    broken = RaggedSentences(values, SOURCE.casing, SOURCE.tags, SOURCE.lengths, SOURCE.ids)
    with pytest.raises(TrainingError, match="not finite"):
        trained(0, broken)


@pytest.mark.parametrize("setting", [{"task_epochs": 0}, {"batch": 0}, {"weight": 0.0}, {"clip": 0.0}])
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        ThreePartConfig(**setting)  # type: ignore[arg-type]
