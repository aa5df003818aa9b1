"""The three-part training: who learns when, what ends a part, what is restored, and that a cut changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from shared.errors import ConfigurationError, TrainingError
from shared.models.representer import Representer
from shared.sentences.ragged import RaggedSentences
from shared.training.adversarial.adversaries import from_chance, hold_back
from shared.training.loop import Descent, TrainingLoop, seed_training
from shared.training.representing import TrainingRecord
from shared.training.three_part import ThreePartConfig, ThreePartTraining, train_representer
from tests.shared.training.toy import toy
from tests.shared.training.trained import BROKEN, NO_PHI, SHAPE, SOURCE, TABLE, weights

RECIPE = ThreePartConfig(task_epochs=2, adversary_epochs=2, joint_epochs=2, adversary_hidden=6)
ALL = ("representer", "tagger", "adversaries")


def trained(seed: int, source: RaggedSentences = SOURCE, **changed: Any) -> tuple[Representer, TrainingRecord]:
    return train_representer(source, TABLE, 3, SHAPE, replace(RECIPE, seed=seed, **changed))


def training(recipe: ThreePartConfig = RECIPE, checkpoint: Path | None = None) -> ThreePartTraining:
    made = ThreePartTraining(SOURCE, TABLE, 3, SHAPE, recipe, lambda *step: None, checkpoint=checkpoint)
    made.branches = made.descent(made.tagger, made.adversaries)
    made.representation = made.descent(made.representer)
    made.joint = made.descent(made.representer, made.tagger)
    return made


def state(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize(
    ("alternation", "joint"),
    [("epochs", ["branches", "representation"] * 2), ("batches", ["joint"] * 2)],
)
def test_a_training_gives_a_frozen_representer_and_its_record(alternation: str, joint: list[str]) -> None:
    representer, record = trained(0, alternation=alternation)
    assert not representer.training
    assert not any(parameter.requires_grad for parameter in representer.parameters())
    assert record.part == ["task"] * 2 + ["adversaries"] * 2 + joint + ["restored"]
    assert record.task_loss[1] < record.task_loss[0]
    assert [math.isnan(value) for value in record.task_loss] == [part == "adversaries" for part in record.part]
    assert [math.isnan(value) for value in record.adversary_accuracy] == [part == "task" for part in record.part]
    assert [math.isnan(value) for value in record.held_loss] == [part == "branches" for part in record.part]
    assert min(record.noise) >= SHAPE.noise_floor


def test_the_seed_decides() -> None:
    once, again, other = (
        weights(trained(seed, task_epochs=1, adversary_epochs=1, joint_epochs=1)[0]) for seed in (1, 1, 2)
    )
    assert torch.equal(once, again)
    assert not torch.equal(once, other)


@pytest.mark.parametrize(
    ("phase", "learning"),
    [
        (lambda made: made.learn_task(), {"representer", "tagger"}),
        (lambda made: made.learn_attack(made.attack), {"adversaries"}),
        (lambda made: made.continue_attack(1), {"adversaries"}),
        (ThreePartTraining.learn_batch_by_batch, set(ALL)),
        (ThreePartTraining.learn_in_turn, set(ALL)),
    ],
)
def test_every_phase_leaves_alone_what_does_not_learn_in_it(
    phase: Callable[[ThreePartTraining], object], learning: set[str]
) -> None:
    made = training()
    before = {name: state(made.networks[name]) for name in ALL}
    phase(made)
    for name in ALL:
        assert same(before[name], state(made.networks[name])) is (name not in learning)
    # And nobody stays frozen behind it.
    assert all(parameter.requires_grad for parameter in made.networks.parameters())


def test_whole_epochs_alternate_and_each_freezes_the_other_side(monkeypatch: pytest.MonkeyPatch) -> None:
    made = training()
    order: list[str] = []

    def watched(name: str, changes: set[str]) -> None:
        epoch = getattr(made, name)

        def run() -> object:
            before = {network: state(made.networks[network]) for network in ALL}
            found = epoch()
            changed = {network for network in ALL if not same(before[network], state(made.networks[network]))}
            assert changed == changes
            order.append(name)
            return found

        monkeypatch.setattr(made, name, run)

    watched("learn_branches", {"tagger", "adversaries"})
    watched("learn_representation", {"representer"})
    monkeypatch.setattr(ThreePartTraining, "learn_task", lambda self: 0.0)
    monkeypatch.setattr(ThreePartTraining, "learn_attack", lambda self, descent: 0.0)
    made.learn(replace(RECIPE, joint_epochs=3))
    assert order == ["learn_branches", "learn_representation"] * 3


def test_each_side_of_part_3_goes_down_its_own_loss_by_its_own_optimiser(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, Descent]] = []
    monkeypatch.setattr(ThreePartTraining, "task_loss", lambda self, batch, noise=None: torch.tensor(1.5))
    # Right by 2 and by 1 about the first pair, wrong by 3 and by 1 about the second.
    said = (torch.tensor([2.0, -3.0]), torch.tensor([-1.0, 1.0]))
    monkeypatch.setattr(ThreePartTraining, "decide", lambda self, *views: said)
    monkeypatch.setattr(TrainingLoop, "descend", lambda self, loss, side: seen.append((loss.item(), side)))
    monkeypatch.setattr(ThreePartTraining, "judge_both", lambda self: 0.0)
    made = training(replace(RECIPE, weight=4.0))
    made.learn_in_turn()
    losses = [math.log(1 + math.exp(logit)) for logit in (-2, 3, -1, 1)]
    attack = sum(losses) / 4
    distance = sum(abs(loss - math.log(2)) for loss in losses) / 4
    assert [value for value, _ in seen] == pytest.approx(
        [1.5 + attack] * made.steps + [1.5 + 4 * distance] * made.steps
    )
    assert [side for _, side in seen] == [made.branches] * made.steps + [made.representation] * made.steps


def test_the_variant_takes_a_step_of_each_side_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    sides: list[Descent] = []
    monkeypatch.setattr(TrainingLoop, "descend", lambda self, loss, side: sides.append(side))
    made = training(replace(RECIPE, alternation="batches"))
    made.learn_batch_by_batch()
    assert sides == [made.joint, made.attack] * made.steps


def scripted(monkeypatch: pytest.MonkeyPatch, losses: list[float], recipe: ThreePartConfig) -> ThreePartTraining:
    """A training whose part 3 is judged by a script, its other parts skipped; every epoch moves every weight by one."""
    told: Iterator[float] = iter(losses)
    made = training(recipe)

    def epoch() -> float:
        with torch.no_grad():
            for parameter in made.networks.parameters():
                parameter.add_(1)
        return next(told)

    monkeypatch.setattr(ThreePartTraining, "learn_task", lambda self: 0.0)
    monkeypatch.setattr(ThreePartTraining, "learn_attack", lambda self, descent: 0.0)
    monkeypatch.setattr(made, "learn_in_turn", epoch)
    return made


@pytest.mark.parametrize(
    ("losses", "best"),
    [([3.0, 1.0, 2.0, 2.0], 2), ([3.0, 2.0, 1.0, 0.5], 4), ([1.0, 1.0, 1.0, 1.0], 1), ([2.0, 3.0, 4.0, 1.0], 4)],
)
def test_the_best_epoch_of_every_network_is_restored(
    monkeypatch: pytest.MonkeyPatch, losses: list[float], best: int
) -> None:
    made = scripted(monkeypatch, losses, replace(RECIPE, joint_epochs=4))
    before = state(made.networks)
    made.learn(replace(RECIPE, joint_epochs=4))
    for name, value in before.items():
        torch.testing.assert_close(made.networks.state_dict()[name], value + best)


def test_a_part_ends_where_it_has_waited_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    # One more epoch would ask the script for a fifth figure, and there is none.
    recipe = replace(RECIPE, joint_epochs=9, patience=2)
    made = scripted(monkeypatch, [3.0, 1.0, 2.0, 1.0], recipe)
    made.learn(recipe)


def test_the_first_part_restores_what_an_own_loop_finds_best() -> None:
    """The oracle trains as far itself, keeps every epoch, and judges them when all is done."""
    recipe = replace(RECIPE, task_epochs=3, learning_rate=0.05)
    with seed_training(3):
        oracle = training(recipe)
        kept = []
        for _ in range(3):
            oracle.learn_task()
            kept.append(state(oracle.networks))
        judged = []
        for one in kept:
            oracle.networks.load_state_dict(one)
            judged.append(oracle.judge_task())
    with seed_training(3):
        made = training(recipe)
        restored: list[dict[str, Tensor]] = []
        made.learn_attack = lambda *given: restored.append(state(made.networks)) or 0.0  # type: ignore[method-assign]
        made.learn_in_turn = lambda: 0.0  # type: ignore[method-assign]
        made.learn(recipe)
    assert same(kept[int(np.argmin(judged))], restored[0])
    assert np.argmin(judged) < 2, "restoring the last epoch would do as well: choose another rate"


class _CutError(Exception):
    pass


def kept_training(alternation: str, checkpoint: Path | None) -> tuple[dict[str, Tensor], TrainingRecord]:
    recipe = replace(RECIPE, alternation=alternation)  # type: ignore[arg-type]
    with seed_training(recipe.seed):
        made = ThreePartTraining(SOURCE, TABLE, 3, SHAPE, recipe, lambda *step: None, checkpoint=checkpoint)
        made.learn(recipe)
        record = made.continue_attack(2)
    return state(made.networks), record


whole_training = cache(lambda alternation: kept_training(alternation, None))


# The two differ in the third part alone.
@pytest.mark.parametrize(("alternation", "cuts", "parts"), [("epochs", 8, 4), ("batches", 6, 3)])
def test_a_training_that_was_cut_ends_in_the_same_weights(
    alternation: str, cuts: int, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut in every epoch, and goes on each time from what the cut before has left."""
    whole, record = whole_training(alternation)
    saved = ThreePartTraining.note
    ahead = 0
    cut_in: list[str] = []

    def cut(self: ThreePartTraining, *given: Any) -> None:
        nonlocal ahead
        saved(self, *given)
        ahead -= given[0] != "branches"
        if ahead < 0:
            cut_in.append(given[0])
            raise _CutError

    with monkeypatch.context() as patch:
        patch.setattr(ThreePartTraining, "note", cut)
        for number in range(cuts):
            # The epoch that was cut is done again, and the next one is cut.
            ahead = min(number, 1)
            torch.manual_seed(99)
            with pytest.raises(_CutError):
                kept_training(alternation, tmp_path / "kept")
    torch.manual_seed(99)
    found, again = kept_training(alternation, tmp_path / "kept")
    assert len(set(cut_in)) == parts, cut_in
    assert same(whole, found)
    assert repr(again) == repr(record)


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    with seed_training(0):
        training(checkpoint=tmp_path / "kept").learn(RECIPE)
    with pytest.raises(ConfigurationError, match="another"):
        training(replace(RECIPE, weight=2.0), tmp_path / "kept").learn(RECIPE)
    (tmp_path / "kept.training.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ConfigurationError, match="remove"):
        training(checkpoint=tmp_path / "kept").learn(RECIPE)


def test_nobody_learns_from_what_is_held_back() -> None:
    learned, held = hold_back(SOURCE, TABLE)
    assert learned.sentences + held.sentences == SOURCE.sentences
    assert 1 <= held.sentences <= SOURCE.sentences * 0.2
    made = training()
    assert made.source.sentences == learned.sentences
    # However rare sentences with PHI are, each side has one.
    ids = [toy(1, seed=1), *(toy(1, seed=seed, phi=False) for seed in range(2, 9))]
    for order in ([0, 1, 2, 3, 4, 0], [0, 0, 1, 2, 3, 4, 5, 6, 7]):
        made_of = RaggedSentences.concatenate([ids[place] for place in order])
        rare = replace(made_of, values=SOURCE.values, ids=np.concatenate([ids[place].ids for place in order]))
        for side in hold_back(rare, TABLE):
            assert side.tags.any()


def test_what_is_held_back_is_judged_the_same_every_time_and_by_other_twins_than_the_training_draws() -> None:
    made = training()
    before = made.generator.bit_generator.state
    assert made.judge_both() == made.judge_both()
    assert made.generator.bit_generator.state == before
    assert made.tagger.training


def test_the_representer_learns_from_its_adversaries() -> None:
    made = training()
    loss, _ = made.distance_loss(next(made.pair_batches()))
    torch.autograd.backward(loss)
    for weight in (made.representer.output.weight, made.representer.output_noise.raw):
        assert weight.grad is not None
        assert weight.grad.abs().max() > 0


def test_the_adversaries_decide_by_word_vectors_and_by_both_looks() -> None:
    made = training()
    batch, twin = made.twins(next(made.pair_batches()))
    with torch.no_grad():
        shown, again = made.represent_pairs(batch, twin)
        said = torch.cat(made.decide(batch, shown, again))
        other_vectors = torch.cat(made.decide(replace(batch, inputs=batch.inputs.flip(2)), shown, again))
        other_look = torch.cat(made.decide(batch, shown, again.flip(2)))
        other_share = torch.cat(made.decide(batch, shown.flip(2), again))
    for changed in (other_vectors, other_look, other_share):
        assert (changed != said).all()


def test_an_adversary_that_knows_nothing_loses_log_2() -> None:
    nothing = torch.zeros(4)
    assert ThreePartTraining.adversary_loss(nothing, nothing).tolist() == pytest.approx([math.log(2)] * 4)
    sure = torch.full((4,), 20.0)
    assert ThreePartTraining.adversary_loss(sure, -sure).max() < 1e-6
    assert ThreePartTraining.adversary_loss(-sure, sure).min() > 19


def test_chance_is_asked_of_every_decision_and_not_of_a_pair_as_a_whole() -> None:
    # One right and one wrong by as much as loses log 2 together are no chance.
    logit = torch.tensor([1.0])
    assert from_chance(torch.zeros(3), torch.zeros(3)).max() == 0
    assert from_chance(logit, logit).min() > 0.3


@pytest.mark.parametrize("source", NO_PHI)
def test_no_phi_is_an_error_and_no_endless_loop(source: RaggedSentences) -> None:
    with pytest.raises(TrainingError, match="PHI"):
        trained(0, source)


def test_a_loss_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(TrainingError, match="not finite"):
        trained(0, BROKEN)


@pytest.mark.parametrize(
    "setting",
    [{"task_epochs": 0}, {"batch": 0}, {"weight": 0.0}, {"clip": 0.0}, {"patience": 0}, {"alternation": "days"}],
)
def test_a_setting_that_cannot_work_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ThreePartConfig(**setting)
