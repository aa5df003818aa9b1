from __future__ import annotations

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError, TrainingError
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import Tagger
from shared.training.fine_tuning.adapting import AdaptingConfig, adapt_tagger
from shared.training.loop import seed_training
from tests.shared.training.toy import VECTORS, toy

HASTY = AdaptingConfig(steps=(5, 15, 30), learning_rate=0.01)


@pytest.fixture(scope="module")
def released() -> Tagger:
    with seed_training(0):
        tagger = build_tagger(BiLSTMCRFConfig(VECTORS.dim, 3, hidden=8)).eval()
    return tagger.requires_grad_(False)


def weights(tagger: Tagger) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in tagger.parameters()])


def loss(tagger: Tagger) -> float:
    with torch.no_grad():
        return float(torch.cat([tagger.loss(batch) for batch in toy(40, seed=5).batches(40)]).mean())


def test_it_learns_and_leaves_the_released_tagger_as_it_was(released: Tagger) -> None:
    before = weights(released)
    adapted = adapt_tagger(released, toy(40), HASTY)
    assert torch.equal(weights(released), before)
    assert loss(adapted) < 0.7 * loss(released)
    assert not adapted.training
    assert not any(parameter.requires_grad for parameter in adapted.parameters())


def test_a_stronger_pull_keeps_the_weights_nearer(released: Tagger) -> None:
    def moved(pull: float) -> float:
        adapted = adapt_tagger(released, toy(40), AdaptingConfig((30,), learning_rate=0.01, pull=pull))
        return float((weights(adapted) - weights(released)).norm())

    assert moved(10.0) < 0.2 * moved(0.0)


def test_ended_early_it_is_what_was_looked_at_there(released: Tagger) -> None:
    looked: dict[int, torch.Tensor] = {}
    adapt_tagger(released, toy(40), HASTY, lambda steps, tagger: looked.update({steps: weights(tagger).clone()}))
    assert list(looked) == [5, 15, 30]
    for steps, seen in looked.items():
        assert torch.equal(weights(adapt_tagger(released, toy(40), HASTY, until=steps)), seen)
    assert not torch.equal(looked[5], looked[15])


@pytest.mark.parametrize(("optimizer", "most"), [("nadam", 4e-3), ("adamw", 1.1e-4)])
def test_a_tagger_goes_as_far_in_a_step_as_its_kind_bears(
    released: Tagger, optimizer: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(released), "optimizer", optimizer)
    moved = weights(adapt_tagger(released, toy(40), AdaptingConfig((1,), pull=0.0))) - weights(released)
    # The first step of either goes about as far as its rate for every weight.
    assert most / 20 < float(moved.abs().max()) <= most


def test_looking_changes_nothing_of_the_course(released: Tagger) -> None:
    plain = adapt_tagger(released, toy(40), HASTY)
    assert torch.equal(
        weights(adapt_tagger(released, toy(40), HASTY, lambda steps, tagger: loss(tagger))), weights(plain)
    )


def test_what_cannot_be_is_refused(released: Tagger) -> None:
    with pytest.raises(TrainingError):
        adapt_tagger(released, toy(1).select(np.zeros(0, dtype=np.int64)), HASTY)
    with pytest.raises(ConfigurationError):
        adapt_tagger(released, toy(5), HASTY, until=7)
    for broken in ({"steps": ()}, {"steps": (5, 5)}, {"steps": (0, 5)}, {"pull": -1.0}, {"decay": 2.0}, {"batch": 0}):
        with pytest.raises(ConfigurationError):
            AdaptingConfig(**broken)
