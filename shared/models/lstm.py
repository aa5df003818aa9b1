"""A bidirectional LSTM layer that never lets padding into its backward pass, and the precision it runs in.

Two one-directional `nn.LSTM` and a gathered reversal instead of packed sequences: the library's fused kernels stay in
use, and the backward direction starts at each sentence's own last token. Sentences of a batch run in groups of like length,
in few shapes: of a batch of random sentences most is padding, behind a few long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.models.shapes import cheapest_cuts, rounded_rows, rounded_steps

# Groups of a padded batch: least rows, and what a group costs whatever its size, in cells (measured, forward and backward).
_GROUP_ROWS = 4
_GROUP_CELLS = 128
_ANY_SIZE = 1 << 62


@cache
def _fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 in hardware; elsewhere it would be slower than float32."""
    onednn = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return bool(onednn and torch.cpu._is_avx512_bf16_supported())


def lstm_precision() -> AbstractContextManager[object]:
    """Autocast of the LSTM to bfloat16 where the processor gains by it; noise, output layers and CRF stay float32.

    So does all training, whose backward pass takes longer in bfloat16.
    """
    return torch.autocast("cpu", torch.bfloat16) if _narrow() else nullcontext()


def _narrow() -> bool:
    return _fast_bfloat16() and not torch.is_grad_enabled()


def _narrowed(inputs: Tensor) -> Tensor:
    """The inputs as the LSTM will take them: copies made behind this are half as large."""
    return inputs.bfloat16() if _narrow() else inputs


class BiLSTM(nn.Module):
    """One bidirectional layer.

    Args:
        inputs: size of the input vectors.
        hidden: units a direction; the output has twice as many.
        recurrent_dropout: share of the units that no step of a batch is told of the step before, while training: the same ones at
            every step, drawn for each batch and direction (Gal and Ghahramani 2016, who draw them for each sentence).
    """

    def __init__(self, inputs: int, hidden: int, recurrent_dropout: float = 0.0) -> None:
        super().__init__()
        self.recurrent_dropout = recurrent_dropout
        self.forwards = nn.LSTM(inputs, hidden, batch_first=True)
        self.backwards = nn.LSTM(inputs, hidden, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Args: inputs float32 `[batch, steps, inputs]`; lengths int64 `[batch]`. Returns float32 `[batch, steps, 2 * hidden]`.

        On padding the result means nothing.
        """
        batch, steps, _ = inputs.shape
        ahead, back, starts = self._states(inputs, lengths)
        step, last = torch.arange(steps)[None, :], lengths[:, None] - 1
        forth = (starts[:, None] + torch.minimum(step, last)).flatten()
        turned = (starts[:, None] + (last - step).clamp(min=0)).flatten()
        # On rows laid end to end this is a plain copy of rows, and its gradient a plain sum of rows.
        states = torch.cat([ahead.index_select(0, forth), back.index_select(0, turned)], 1)
        return states.view(batch, steps, -1).float()

    def last_states(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The final state of both directions, float32 `[batch, 2 * hidden]`."""
        ahead, back, starts = self._states(inputs, lengths)
        ends = starts + lengths - 1
        return torch.cat([ahead.index_select(0, ends), back.index_select(0, ends)], 1).float()

    def _states(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """States of both directions, `[cells, hidden]` each, and the cell of each sentence's first step, int64 `[batch]`.

        A sentence's steps lie in a row; the backward direction has its last token first.
        """
        steps = inputs.shape[1]
        rows = _narrowed(inputs).reshape(-1, inputs.shape[2])
        order = torch.argsort(lengths, descending=True, stable=True)
        starts = torch.empty_like(lengths)
        ahead: list[Tensor] = []
        back: list[Tensor] = []
        forwards, backwards = self._recurrence(self.forwards), self._recurrence(self.backwards)
        cells = 0
        for begin, end in cheapest_cuts(lengths[order].numpy(), _ANY_SIZE, _GROUP_ROWS, _GROUP_CELLS):
            group = order[begin:end]
            last = lengths[group][:, None] - 1
            size = rounded_steps(int(lengths[group[0]]))
            # Padding repeats a token of the sentence.
            step, first = torch.arange(size)[None, :], group[:, None] * steps
            for layer, place, found in (
                (forwards, torch.minimum(step, last), ahead),
                (backwards, (last - step).clamp(min=0), back),
            ):
                with lstm_precision():
                    states = layer(rows.index_select(0, (first + place).flatten()).view(len(group), size, -1))
                found.append(states.reshape(-1, states.shape[2]))
            starts[group] = cells + torch.arange(len(group)) * size
            cells += len(group) * size
        return torch.cat(ahead), torch.cat(back), starts

    def _recurrence(self, layer: nn.LSTM) -> Callable[[Tensor], Tensor]:
        """One direction of one pass: states of `[rows, steps, inputs]`."""
        if not self.training or not self.recurrent_dropout:
            return lambda inputs: layer(inputs)[0]
        mask = torch.empty(layer.hidden_size).bernoulli_(1 - self.recurrent_dropout).div_(1 - self.recurrent_dropout)
        # A unit that is dropped is a column of zeros: so the library's fused kernel stays in use.
        into, own, *biases = layer.parameters()
        weights = [into, own * mask, *biases]

        def run(inputs: Tensor) -> Tensor:
            begin = inputs.new_zeros(1, len(inputs), layer.hidden_size)
            states: Tensor = torch.lstm(inputs, (begin, begin), weights, True, 1, 0.0, True, False, True)[0]
            return states

        return run

    def end_to_end(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The same for sentences laid end to end, for inference: padding is neither made ahead nor carried on.

        Args:
            inputs: float32 `[tokens, inputs]`.
            lengths: int64 `[batch]`, falling, their sum the number of tokens.

        Returns:
            `[tokens, 2 * hidden]`, in the precision of the LSTM.
        """
        # A shape of its own would be compiled for this batch alone.
        steps, batch = rounded_steps(int(lengths[0])), rounded_rows(len(lengths))
        starts = torch.cumsum(lengths, 0) - lengths
        sentence = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
        place = torch.arange(len(inputs)) - starts[sentence]
        backward_place = (lengths - 1)[sentence] - place
        # One column a sentence, which is the order in which the LSTM works; padding repeats a token of the sentence, and a
        # column without a sentence the first token of all.
        step = torch.arange(steps)[:, None]
        begin, last = (functional.pad(tensor, (0, batch - len(lengths))) for tensor in (starts, lengths - 1))
        forth = (begin + torch.minimum(step, last)).flatten()
        turned = (begin + (last - step).clamp(min=0)).flatten()
        inputs = _narrowed(inputs)
        hidden = []
        for layer, fetch, at in ((self.forwards, forth, place), (self.backwards, turned, backward_place)):
            with lstm_precision():
                states, _ = layer(inputs.index_select(0, fetch).view(steps, batch, -1).transpose(0, 1))
            hidden.append(states.transpose(0, 1).reshape(steps * batch, -1).index_select(0, at * batch + sentence))
        return torch.cat(hidden, 1)


class LockedDropout(nn.Module):
    """Variational dropout: one mask a sentence, the same at every step (Gal and Ghahramani 2016).

    Args:
        rate: share of the features that are dropped.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, inputs: Tensor) -> Tensor:
        """The inputs, `[batch, steps, dim]`, with the same numbers dropped in every step of a sentence while training."""
        if not self.training or not self.rate:
            return inputs
        mask = torch.empty(inputs.shape[0], 1, inputs.shape[2]).bernoulli_(1 - self.rate)
        return inputs * mask.div_(1 - self.rate)
