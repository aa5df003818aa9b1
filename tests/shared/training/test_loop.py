"""The step and the loop that all trainings share, by plain gradient descent on functions that are known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import pytest
import torch
from torch import nn

from shared.errors import TrainingError
from shared.training.loop import BestWeights, Descent, TrainingLoop, seed_training


def parameter(*values: float) -> nn.Parameter:
    return nn.Parameter(torch.tensor(values))


def plain(clip: float, *parameters: nn.Parameter) -> Descent:
    """Gradient descent at rate 1: a step is the clipped gradient itself."""
    return Descent(list(parameters), torch.optim.SGD(parameters, lr=1.0), clip)


def test_a_seed_is_lent_and_the_global_generator_is_as_before() -> None:
    def drawn(seed: int) -> list[float]:
        with seed_training(seed):
            return torch.rand(3).tolist()

    torch.manual_seed(11)
    expected = torch.rand(4).tolist()
    torch.manual_seed(11)
    assert drawn(1) == drawn(1) != drawn(2)
    assert torch.rand(2).tolist() == expected[:2]
    with pytest.raises(TrainingError), seed_training(1):
        raise TrainingError("in the middle")
    assert torch.rand(2).tolist() == expected[2:]


def test_a_seed_draws_what_torch_draws_from_it() -> None:
    torch.manual_seed(5)
    expected = nn.Linear(3, 2).weight
    with seed_training(5):
        assert torch.equal(nn.Linear(3, 2).weight, expected)


@pytest.mark.parametrize(("clip", "length"), [(100.0, 10.0), (10.0, 10.0), (0.5, 0.5)])
def test_a_step_goes_down_the_gradient_and_no_longer_than_its_bound(clip: float, length: float) -> None:
    first, second = parameter(1.0), parameter(1.0)
    # Gradients of 6 and 8: together 10 long, which is what is clipped.
    TrainingLoop("both", 1).descend((6 * first + 8 * second).sum(), plain(clip, first, second))
    assert first.item() == pytest.approx(1 - 0.6 * length, abs=1e-5)
    assert second.item() == pytest.approx(1 - 0.8 * length, abs=1e-5)


def test_each_side_is_clipped_by_itself_and_forgets_its_last_gradient() -> None:
    left, right, neither = parameter(0.0), parameter(0.0), parameter(0.0)
    loop, sides = TrainingLoop("sides", 2), (plain(1.0, left), plain(5.0, right))
    for step in (1, 2):
        loop.descend((30 * left + 3 * right + neither).sum(), *sides)
        assert left.item() == pytest.approx(-1.0 * step, abs=1e-5)
        assert right.item() == pytest.approx(-3.0 * step, abs=1e-5)
    assert neither.item() == 0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_ends_the_training_before_the_step(value: float) -> None:
    weight = parameter(1.0)
    loop = TrainingLoop("toy network", 7, done=3)
    with pytest.raises(TrainingError, match="toy network: the loss is not finite after 3 of 7 steps"):
        loop.descend((weight * value).sum(), plain(1.0, weight))
    assert weight.item() == 1
    assert weight.grad is None


def test_a_pass_takes_every_batch_once_and_yields_what_the_steps_said() -> None:
    told: list[tuple[str, int, int]] = []
    loop = TrainingLoop("toy", 6, lambda *step: told.append(step))
    rounds = iter(([1, 2, 3], [4, 5, 6], [7]))
    found = list(loop.passes("stage", 3, lambda: next(rounds), lambda batch: 10 * batch))
    assert found == [[10, 20, 30], [40, 50, 60], [70]]
    # A source may hold more batches than could be known ahead.
    assert told == [*(("stage", step, 6) for step in range(1, 7)), ("stage", 7, 7)]


def test_where_passes_are_counted_each_is_told_once() -> None:
    told: list[tuple[str, int, int]] = []
    loop = TrainingLoop("toy", 2, lambda *step: told.append(step), by_pass=True)
    assert list(loop.passes("stage", 2, lambda: [1, 2], str)) == [["1", "2"], ["1", "2"]]
    assert told == [("stage", 1, 2), ("stage", 2, 2)]


def test_whoever_breaks_off_has_stopped_the_training() -> None:
    begun: list[int] = []

    def batches() -> Iterator[int]:
        begun.append(len(begun))
        yield from range(3)

    loop = TrainingLoop("toy", 5)
    for _ in loop.passes("stage", 5, batches, int):
        if len(begun) == 2:
            break
    assert begun == [0, 1]


def rates(descent: Descent, steps: int) -> list[float]:
    found = []
    for _ in range(steps):
        found.append(descent.optimizer.param_groups[0]["lr"])
        descent.optimizer.step()
        descent.lower_rate()
    return found


def test_a_rate_falls_linearly_to_a_share_of_itself() -> None:
    descent = plain(1.0, parameter(0.0))
    assert rates(descent, 3) == [1.0] * 3
    descent.fall_to(0.2, 4)
    assert rates(descent, 7) == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2])


def test_a_rate_stays_and_falls_at_the_end() -> None:
    descent = plain(1.0, parameter(0.0))
    descent.fall_late(0.4, 10)
    assert rates(descent, 12) == pytest.approx([1.0] * 7 + [0.75, 0.5, 0.25, 0.01, 0.01])


def test_nadam_has_all_parameters_and_a_rate_of_their_own_for_some() -> None:
    first, second, third = parameter(1.0), parameter(2.0), parameter(3.0)
    descent = Descent.nadam(iter([first, second, third]), 0.1, 1.0, ([second], 0.5))
    assert [id(value) for value in descent.parameters] == [id(first), id(second), id(third)]
    groups = [(group["lr"], [value.item() for value in group["params"]]) for group in descent.optimizer.param_groups]
    assert groups == [(0.1, [1.0, 3.0]), (0.5, [2.0])]
    assert isinstance(descent.optimizer, torch.optim.NAdam)
    assert len(Descent.nadam([first], 0.1, 1.0).optimizer.param_groups) == 1


def test_the_weights_of_the_best_pass_come_back_the_first_among_equals() -> None:
    network = nn.Linear(1, 1, bias=False)
    best = BestWeights(network)
    for weight, score in ((1.0, 0.2), (2.0, 0.7), (3.0, 0.7), (4.0, 0.1)):
        with torch.no_grad():
            network.weight.fill_(weight)
        best.judge(score)
    assert best.score == 0.7
    best.restore()
    assert network.weight.item() == 2.0
    assert all(one is not other for one, other in pairwise([network.weight, *best._state.values()]))
