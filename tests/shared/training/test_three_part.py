from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from shared.augment.pseudonyms import Pseudonymiser
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError, TrainingError
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.ragged import RaggedSentences
from shared.training.loop import Descent, TrainingLoop
from shared.training.pairs import neighbour_table
from shared.training.representing import TrainingRecord
from shared.training.three_part import ThreePartConfig, _Trainer, train_representer
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


def test_the_joint_loss_is_the_task_and_how_far_the_adversaries_are_from_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[float, Descent]] = []
    monkeypatch.setattr(_Trainer, "task_loss", lambda self, batch: torch.tensor(1.5))
    # Right by 2 and by 1 about the first pair, wrong by 3 and by 1 about the second.
    monkeypatch.setattr(_Trainer, "decide", lambda self, *views: (torch.tensor([2.0, -3.0]), torch.tensor([-1.0, 1.0])))
    monkeypatch.setattr(TrainingLoop, "descend", lambda self, loss, side: seen.append((loss.item(), side)))
    config = ThreePartConfig(joint_epochs=1, weight=4.0, adversary_hidden=6)
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, config, lambda *step: None)
    monkeypatch.setattr(trainer.task, "lower_rate", lambda: None)
    trainer.learn_jointly()

    def loss(*wrong: float) -> float:
        return sum(math.log(1 + math.exp(logit)) for logit in wrong) / 2

    first, second = loss(-2, -1), loss(3, 1)
    distance = (abs(first - math.log(2)) + abs(second - math.log(2))) / 2
    assert [value for value, _ in seen] == pytest.approx([1.5 + 4 * distance, (first + second) / 2] * trainer.steps)
    assert [side for _, side in seen] == [trainer.task, trainer.attack] * trainer.steps


def test_the_representer_learns_from_its_adversaries(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, RECIPE, lambda *step: None)
    monkeypatch.setattr(trainer, "task_loss", lambda batch: torch.tensor(0.0))
    _, loss = trainer.joint_loss(next(trainer.batches()), next(trainer.pair_batches()))
    torch.autograd.backward(loss)
    for weight in (trainer.representer.output.weight, trainer.representer.output_noise.raw):
        assert weight.grad is not None
        assert weight.grad.abs().max() > 0


def test_the_adversaries_decide_by_word_vectors_and_by_both_looks() -> None:
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, RECIPE, lambda *step: None)
    batch, twin = trainer.twins(next(trainer.pair_batches()))
    with torch.no_grad():
        shown, again = trainer.represent_pairs(batch, twin)
        said = torch.cat(trainer.decide(batch, shown, again))
        other_vectors = torch.cat(trainer.decide(replace(batch, inputs=batch.inputs.flip(2)), shown, again))
        other_look = torch.cat(trainer.decide(batch, shown, again.flip(2)))
        other_share = torch.cat(trainer.decide(batch, shown.flip(2), again))
    for changed in (other_vectors, other_look, other_share):
        assert (changed != said).all()


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
