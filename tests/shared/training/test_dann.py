from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from shared.errors import ConfigurationError, TrainingError
from shared.models import lstm
from shared.models.representer import Representer
from shared.sentences.ragged import RaggedSentences
from shared.training.dann import DannConfig, DannTraining, reverse_gradient, train_representer
from shared.training.representing import TrainingRecord
from tests.shared.training.trained import BROKEN, NO_PHI, SHAPE, SOURCE, TABLE, weights

RECIPE = DannConfig(epochs=2, adversary_hidden=6)


def trained(seed: int, source: RaggedSentences = SOURCE) -> tuple[Representer, TrainingRecord]:
    return train_representer(source, TABLE, 3, SHAPE, DannConfig(**(vars(RECIPE) | {"seed": seed})))


def test_the_reversal_changes_nothing_ahead_and_turns_the_gradient_round() -> None:
    def height(inputs: torch.Tensor) -> torch.Tensor:
        return (inputs**3).sum() + inputs[0] * inputs[1]

    inputs = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64, requires_grad=True)
    height(reverse_gradient(inputs, 0.7)).backward()  # type: ignore[no-untyped-call]
    assert torch.equal(reverse_gradient(inputs, 0.7), inputs)
    assert inputs.grad is not None
    for place, step in enumerate(torch.eye(3, dtype=torch.float64) * 1e-6):
        slope = float((height(inputs + step) - height(inputs - step)).detach()) / 2e-6
        assert float(inputs.grad[place]) == pytest.approx(-0.7 * slope, rel=1e-6)


def slope(loss: Callable[[], torch.Tensor], weight: torch.Tensor, direction: torch.Tensor) -> float:
    """Finite difference of a loss along a direction of a weight, all chance held still."""
    heights = []
    for step in (1e-2, -1e-2):
        with torch.no_grad():
            weight += step * direction
            torch.manual_seed(5)
            heights.append(float(loss()))
            weight -= step * direction
    return (heights[0] - heights[1]) / 2e-2


@pytest.mark.parametrize(("side", "factor"), [("representer", -3.0), ("output noise", -3.0), ("T1", 1.0), ("T2", 1.0)])
def test_the_adversaries_go_down_their_loss_and_the_representer_up(
    monkeypatch: pytest.MonkeyPatch, side: str, factor: float
) -> None:
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)
    config = DannConfig(adversary_hidden=6, weight=3.0, ramp=0.0)
    trainer = DannTraining(SOURCE, TABLE, 3, SHAPE, config, lambda *step: None)
    batch = next(SOURCE.batches(16))
    pair, twin = trainer.twins(next(trainer.pair_batches()))
    adversaries: Any = trainer.adversaries
    # Untrained adversaries have hardly an opinion, and so hardly a gradient.
    with torch.no_grad():
        for weight in adversaries.parameters():
            weight *= 6
    weight = {
        "representer": trainer.representer.output.weight,
        "output noise": trainer.representer.output_noise.raw,
        "T1": adversaries[0].output.weight,
        "T2": adversaries[1].output.weight,
    }[side]

    def attack() -> torch.Tensor:
        return trainer.losses(batch, pair, twin, config.strength(0.5))[1]

    torch.manual_seed(5)
    torch.autograd.backward(attack())
    assert weight.grad is not None
    direction = weight.grad / weight.grad.norm()
    found = slope(attack, weight.data, direction)
    assert abs(found) > 1e-3
    assert float(weight.grad.norm()) == pytest.approx(factor * found, rel=0.02)
    assert all(value.grad is None for value in trainer.tagger.parameters())


def test_the_strength_rises_as_ganin_et_al_write() -> None:
    config = DannConfig(weight=2.0)
    assert config.strength(0.0) == 0
    for share in (0.1, 0.5, 1.0):
        assert config.strength(share) == pytest.approx(2.0 * (2 / (1 + math.exp(-10 * share)) - 1))
    assert DannConfig(weight=2.0, ramp=0.0).strength(0.0) == 2


def test_a_training_gives_a_frozen_representer_and_its_record() -> None:
    steps: list[tuple[str, int, int]] = []
    representer, record = train_representer(SOURCE, TABLE, 3, SHAPE, RECIPE, lambda *step: steps.append(step))
    assert not representer.training
    assert not any(parameter.requires_grad for parameter in representer.parameters())
    assert record.part == ["joint"] * 2 + ["restored"]
    assert record.task_loss[1] < record.task_loss[0]
    assert all(0 <= accuracy <= 1 for accuracy in record.adversary_accuracy)
    assert min(record.noise) >= SHAPE.noise_floor
    assert steps == [("joint", step, 4) for step in range(1, 5)]


def test_the_seed_decides() -> None:
    assert torch.equal(weights(trained(1)[0]), weights(trained(1)[0]))
    assert not torch.equal(weights(trained(1)[0]), weights(trained(2)[0]))


@pytest.mark.parametrize("source", NO_PHI)
def test_no_phi_is_an_error_and_no_endless_loop(source: RaggedSentences) -> None:
    with pytest.raises(TrainingError, match="PHI"):
        trained(0, source)


def test_a_loss_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(TrainingError, match="not finite"):
        trained(0, BROKEN)


@pytest.mark.parametrize(
    "setting", [{"epochs": 0}, {"batch": 0}, {"weight": 0.0}, {"clip": 0.0}, {"ramp": -1.0}, {"patience": 0}]
)
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        DannConfig(**setting)  # type: ignore[arg-type]
