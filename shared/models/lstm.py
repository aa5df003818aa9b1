"""A bidirectional LSTM layer that never lets padding into its backward pass, and the precision it runs in.

Two one-directional `nn.LSTM` and a gathered reversal instead of packed sequences: the library's fused kernels stay in
use, and the backward direction starts at each sentence's own last token.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from shared.models.shapes import rounded_rows, rounded_steps


@cache
def _fast_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 in hardware; elsewhere it would be slower than float32."""
    onednn = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return bool(onednn and torch.cpu._is_avx512_bf16_supported())


def lstm_precision() -> AbstractContextManager[object]:
    """Autocast of the LSTM to bfloat16 where the processor gains by it; noise, output layers and CRF stay float32."""
    return torch.autocast("cpu", torch.bfloat16) if _fast_bfloat16() else nullcontext()


def _narrowed(inputs: Tensor) -> Tensor:
    """The inputs as the LSTM will take them: copies made behind this are half as large."""
    return inputs.bfloat16() if _fast_bfloat16() else inputs


def reversal(lengths: Tensor, steps: int) -> Tensor:
    """Index that turns each sentence around and leaves its padding in place, int64 `[batch, steps]`."""
    position = torch.arange(steps)[None, :]
    turned = lengths[:, None] - 1 - position
    return torch.where(turned >= 0, turned, position)


class BiLSTM(nn.Module):
    """One bidirectional layer.

    Args:
        inputs: size of the input vectors.
        hidden: units a direction; the output has twice as many.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(inputs, hidden, batch_first=True)
        self.backwards = nn.LSTM(inputs, hidden, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Args: inputs float32 `[batch, steps, inputs]`; lengths int64 `[batch]`. Returns float32 `[batch, steps, 2 * hidden]`."""
        order = _cells(reversal(lengths, inputs.shape[1]))
        inputs = _narrowed(inputs)
        with lstm_precision():
            ahead, _ = self.forwards(inputs)
            back, _ = self.backwards(_picked(inputs, order))
        return torch.cat([ahead, _picked(back, order)], 2).float()

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

    def last_states(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The final state of both directions, float32 `[batch, 2 * hidden]`."""
        rows = torch.arange(len(lengths))
        order = reversal(lengths, inputs.shape[1])
        with lstm_precision():
            ahead, _ = self.forwards(inputs)
            back, _ = self.backwards(inputs[rows[:, None], order])
        last = lengths - 1
        return torch.cat([ahead[rows, last], back[rows, last]], 1).float()


def _cells(order: Tensor) -> Tensor:
    """Steps within each sentence, `[batch, steps]`, as rows of the batch laid end to end."""
    return (order + torch.arange(len(order))[:, None] * order.shape[1]).flatten()


def _picked(batch: Tensor, cells: Tensor) -> Tensor:
    # On rows laid end to end this is a plain copy of rows, and its gradient a plain sum of rows.
    return batch.reshape(-1, batch.shape[2]).index_select(0, cells).view_as(batch)


class LockedDropout(nn.Module):
    """Variational dropout: one mask a sentence, the same at every step (Gal and Ghahramani 2016).

    Args:
        rate: share of the features that are dropped.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, inputs: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return inputs
        mask = torch.empty(inputs.shape[0], 1, inputs.shape[2]).bernoulli_(1 - self.rate)
        return inputs * mask.div_(1 - self.rate)
