"""Our optimisers take the very steps of torch's, and do without its compiler."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import nn

from shared.training.optimisers import AdamW, Nadam

PAIRS: list[tuple[type[Any], type[Any]]] = [(Nadam, torch.optim.NAdam), (AdamW, torch.optim.AdamW)]


def descend(kind: type[Any], steps: int, *, pause: bool = False) -> list[torch.Tensor]:
    """The weights of a small network after so many steps, with a schedule; perhaps taken up from its state on the way."""
    generator = torch.Generator().manual_seed(3)
    network = nn.Linear(4, 3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator))

    def begin() -> Any:
        return kind([{"params": [network.weight]}, {"params": [network.bias], "lr": 0.1}], lr=0.03)

    optimizer = begin()
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, steps)
    for step in range(steps):
        if pause and step == steps // 2:
            kept = optimizer.state_dict()
            optimizer = begin()
            optimizer.load_state_dict(kept)
            schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, steps, last_epoch=step)
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(network(torch.rand(5, 4, generator=generator)).square().sum())
        optimizer.step()
        schedule.step()
    assert all(parameter.requires_grad for parameter in network.parameters())
    return [parameter.detach() for parameter in network.parameters()]


@pytest.mark.parametrize("pause", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_steps_are_those_of_torch(ours: type[Any], theirs: type[Any], pause: bool) -> None:
    expected = descend(theirs, 6, pause=pause)
    assert all(map(torch.equal, descend(ours, 6, pause=pause), expected))


@pytest.mark.parametrize("kind", [ours for ours, _ in PAIRS])
def test_the_compiler_is_not_loaded(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)
    descend(kind, 4, pause=True)
