"""The dropout in the recurrence, against the definition step by step; what else an LSTM layer promises is in test_networks."""

from __future__ import annotations

import pytest
import torch

from shared.models.lstm import BiLSTM

LENGTHS = torch.tensor([5, 3, 1])


def by_hand(layer: torch.nn.LSTM, steps: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """States of one sentence, `[steps, hidden]`: the state of the step before is masked, the memory is not."""
    into_gates, own, into_bias, own_bias = layer.parameters()
    hidden, memory, found = torch.zeros(layer.hidden_size), torch.zeros(layer.hidden_size), []
    for step in steps:
        gates = into_gates @ step + into_bias + own @ (hidden * mask) + own_bias
        into, forget, new, out = gates.chunk(4)
        memory = torch.sigmoid(forget) * memory + torch.sigmoid(into) * torch.tanh(new)
        hidden = torch.sigmoid(out) * torch.tanh(memory)
        found.append(hidden)
    return torch.stack(found)


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_the_same_units_are_dropped_at_every_step_in_training_alone(rate: float) -> None:
    torch.manual_seed(3)
    network, inputs = BiLSTM(4, 6, recurrent_dropout=rate), torch.randn(3, 5, 4)
    for training in (True, False):
        torch.manual_seed(7)
        made = network.train(training)(inputs, LENGTHS)
        torch.manual_seed(7)
        masks = torch.ones(2, 6)
        if training and rate:
            masks = torch.stack([torch.empty(6).bernoulli_(1 - rate) / (1 - rate) for _ in range(2)])
            assert 0 < (masks == 0).sum() < 12
        for line, length in enumerate(LENGTHS.tolist()):
            steps = inputs[line, :length]
            ahead = by_hand(network.forwards, steps, masks[0])
            back = by_hand(network.backwards, steps.flip(0), masks[1]).flip(0)
            torch.testing.assert_close(made[line, :length], torch.cat([ahead, back], 1), atol=1e-5, rtol=1e-5)


def test_dropped_units_learn_nothing_of_the_step_before() -> None:
    torch.manual_seed(5)
    network = BiLSTM(4, 6, recurrent_dropout=0.5).train()
    torch.manual_seed(7)
    network(torch.randn(3, 5, 4), LENGTHS).sum().backward()
    torch.manual_seed(7)
    torch.randn(3, 5, 4)
    dropped = torch.empty(6).bernoulli_(0.5) == 0
    gradient = dict(network.forwards.named_parameters())["weight_hh_l0"].grad
    assert gradient is not None
    assert dropped.any()
    assert torch.equal(gradient.abs().sum(0) == 0, dropped)
