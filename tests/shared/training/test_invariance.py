from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError, TrainingError
from shared.models import lstm
from shared.models.divergence import Replacements, divergences
from shared.models.representer import Representer, RepresenterConfig, bounded
from shared.sentences.ragged import RaggedSentences
from shared.training.invariance import InvarianceConfig, _Trainer, bayes_accuracy, divergence, train_representer
from shared.training.loop import TrainingLoop
from tests.shared.models.no_noise import NoNoise
from tests.shared.training.trained import BROKEN, NO_PHI, SHAPE, SOURCE, TABLE, weights

RECIPE = InvarianceConfig(epochs=2)


def test_the_divergence_of_two_short_sentences_worked_out_by_hand() -> None:
    mean = torch.tensor([[[1.0, 0.0], [0.0, 0.5]], [[0.2, 0.0], [9.0, 9.0]]])
    other = torch.tensor([[[0.5, 0.0], [0.0, 0.9]], [[0.2, 0.3], [-9.0, 0.0]]])
    scale = torch.tensor([0.5, 0.1])
    # First: (0.5 / 0.5)^2 + (0.4 / 0.1)^2 = 17. Second: (0.3 / 0.1)^2 = 9; what lies behind its one token is padding.
    assert divergence(mean, other, scale, torch.tensor([2, 1])).tolist() == pytest.approx([8.5, 4.5])


def test_the_loss_is_the_task_and_the_logarithm_of_the_divergence(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    monkeypatch.setattr(_Trainer, "task_loss", lambda self, batch: torch.tensor(1.5, requires_grad=True))
    monkeypatch.setattr(
        _Trainer, "pair_divergences", lambda self, *pair: torch.tensor([0.0, math.e - 1, math.e**3 - 1])
    )
    monkeypatch.setattr(TrainingLoop, "descend", lambda self, loss, *descents: seen.append(loss.item()))
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, InvarianceConfig(epochs=1, weight=3.0), lambda *step: None)
    monkeypatch.setattr(trainer.descent, "lower_rate", lambda: None)
    trainer.learn()
    assert seen == pytest.approx([1.5 + 3.0 * (0 + 1 + 3) / 3] * trainer.steps)
    assert trainer.record.task_loss == [1.5]


def test_the_best_adversary_against_the_textbook() -> None:
    # Two unit normals whose means are 2 apart: D = 2, and the better half is Phi(1).
    assert bayes_accuracy(torch.tensor([0.0, 2.0])).tolist() == pytest.approx(
        [0.5, 0.5 * (1 + math.erf(1 / math.sqrt(2)))]
    )


def test_a_pair_is_as_far_apart_as_the_white_box_attacker_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lstm, "_fast_bfloat16", lambda: False)
    shape = RepresenterConfig(SHAPE.inputs, dim=6, hidden=8, input_noise=1e-6, noise_floor=1e-6)
    trainer = _Trainer(SOURCE, TABLE, 3, shape, RECIPE, lambda *step: None)
    trainer.representer.eval()
    rows = next(trainer.pair_batches())
    batch, twin = trainer.twins(rows)
    found = trainer.pair_divergences(batch, twin)
    places = (twin != batch.inputs).any(2).int().argmax(1).numpy()
    for index, row in enumerate(rows.tolist()):
        tokens = SOURCE.tokens_of(np.array([row]))
        replaced = Replacements(
            np.array([places[index]]), np.zeros(1, dtype=np.int64), twin[index, places[index]].numpy()[None]
        )
        lengths = SOURCE.lengths[[row]]
        delta = divergences(trainer.representer, SOURCE.vectors(tokens), lengths, replaced, NoNoise())
        assert found[index].item() == pytest.approx(float(delta[0]) ** 2 / 2, rel=2e-3)


def test_both_sentences_of_a_pair_share_the_input_noise() -> None:
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, RECIPE, lambda *step: None)
    batch, _ = trainer.twins(next(trainer.pair_batches()))
    assert trainer.pair_divergences(batch, batch.inputs).max() < 1e-6


def mean_divergence(representer: Representer) -> float:
    """Over many pairs, without input noise."""
    trainer = _Trainer(SOURCE, TABLE, 3, SHAPE, RECIPE, lambda *step: None)
    found = []
    pairs = trainer.pair_batches()
    for _ in range(20):
        batch, twin = trainer.twins(next(pairs))
        with torch.no_grad():
            means = [bounded(representer.output(representer.encoder(x, batch.lengths))) for x in (batch.inputs, twin)]
            found.append(divergence(means[0], means[1], representer.output_noise.scale, batch.lengths))
    return float(torch.cat(found).mean())


def test_a_training_brings_twins_together_and_the_task_alone_does_not() -> None:
    private, record = train_representer(SOURCE, TABLE, 3, SHAPE, InvarianceConfig(epochs=16, weight=3.0))
    open_, control = train_representer(SOURCE, TABLE, 3, SHAPE, InvarianceConfig(epochs=16, weight=0.0))
    assert mean_divergence(private) < 0.3 * mean_divergence(open_)
    assert record.adversary_accuracy[-1] < record.adversary_accuracy[0]
    assert record.task_loss[-1] < 0.7 * record.task_loss[0]
    assert all(math.isnan(value) for value in control.adversary_accuracy)


def test_noise_rises_where_it_is_learned_and_stays_where_it_is_not() -> None:
    def noise(learned: bool) -> list[float]:
        recipe = InvarianceConfig(epochs=4, learn_noise=learned)
        return train_representer(SOURCE, TABLE, 3, SHAPE, recipe)[0].noise_scales()["output"]

    assert min(noise(True)) > SHAPE.output_noise
    assert noise(False) == pytest.approx([SHAPE.output_noise] * 6)


def trained(seed: int, source: RaggedSentences = SOURCE) -> Representer:
    return train_representer(source, TABLE, 3, SHAPE, InvarianceConfig(epochs=2, seed=seed))[0]


def test_a_training_gives_a_frozen_representer_and_the_seed_decides() -> None:
    representer = trained(1)
    assert not representer.training
    assert not any(parameter.requires_grad for parameter in representer.parameters())
    assert torch.equal(weights(representer), weights(trained(1)))
    assert not torch.equal(weights(representer), weights(trained(2)))


@pytest.mark.parametrize("source", NO_PHI)
def test_no_phi_is_an_error_and_no_endless_loop(source: RaggedSentences) -> None:
    with pytest.raises(TrainingError, match="PHI"):
        trained(0, source)


def test_a_loss_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(TrainingError, match="not finite"):
        trained(0, BROKEN)


@pytest.mark.parametrize("setting", [{"epochs": 0}, {"batch": 0}, {"weight": -1.0}, {"decay": 1.5}, {"clip": 0.0}])
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        InvarianceConfig(**setting)  # type: ignore[arg-type]
