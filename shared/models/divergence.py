"""How far a representer's output moves when one word of a sentence is replaced, in units of its output noise.

Given the input noise, the outputs for two sentences are Gaussians of the same covariance around two means, so whatever
can be told about which of the two was encoded is in one number,

    Delta = sqrt(sum over positions and dimensions of ((mu - mu') / sigma)^2).

The best test that exists (Neyman and Pearson: the sign of the log likelihood ratio) is right with probability
Phi(Delta / 2) where either sentence is as likely; every adversary, trained or not, stays below. An attacker does not
know the input noise, which both sentences share here; knowing it can only help, so the mean over its draws is an upper
bound for the one who does not.

What is saved, exactly: ahead of the replaced word the forward LSTM is as it was, behind it the backward one, so each
runs from the replaced word on only, from the state in which the unchanged sentence left it: half of a whole pass.
Replacements with about as many steps to go run together; what lies behind the end is left out. The unchanged sentence
runs along in the same batch, in the same precision as in an encoding, and a word that is shown alike moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shared.models.lstm import lstm_precision
from shared.models.noise import NoiseSource
from shared.models.representer import Representer, bounded
from shared.models.shapes import rounded_rows, rounded_steps

# Changed sentences whose first outputs are held at a time, and cells of one batch of the LSTM.
_SLAB_ROWS = 1 << 15
_BATCH_CELLS = 1 << 13
_SMALL_BATCH_CELLS = 1 << 11
_STATE_CELLS = 1 << 13


@dataclass(frozen=True)
class Replacements:
    """One-word changes of sentences laid end to end.

    Args:
        tokens: the token that is replaced, int64 `[pairs]`, ascending.
        ids: row of `rows` that takes its place, int64 `[pairs]`.
        rows: word vectors, float32 `[words, inputs]`.
    """

    tokens: NDArray[np.int64]
    ids: NDArray[np.int64]
    rows: NDArray[np.float32]


@torch.no_grad()
def divergences(
    representer: Representer,
    vectors: NDArray[np.float32],
    lengths: NDArray[np.int64],
    replaced: Replacements,
    source: NoiseSource,
) -> NDArray[np.float64]:
    """Delta of every replacement, for one draw of the input noise.

    Args:
        representer: frozen.
        vectors: word vectors of sentences laid end to end, float32 `[tokens, inputs]`.
        lengths: of the sentences, int64 `[sentences]`.
        replaced: each is a sentence of its own, compared with the unchanged one.
        source: of the input noise.

    Returns:
        float64 `[pairs]`.
    """
    clean = torch.from_numpy(vectors)
    noisy = representer.input_noise(clean, source)
    sentences = _Sentences(representer, noisy, noisy - clean, lengths)
    out = np.empty(len(replaced.tokens))
    _, firsts, counts = np.unique(replaced.tokens, return_index=True, return_counts=True)
    for begin, end in _slabs(firsts, counts):
        out[begin:end] = _slab(sentences, replaced, begin, end)
        # On some processors the last bits of a product depend on the batch that it is in.
        like = vectors[replaced.tokens[begin:end]] == replaced.rows[replaced.ids[begin:end]]
        out[begin:end][like.all(axis=1)] = 0
    return out


def _slabs(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of pairs that hold all pairs of their tokens, of about _SLAB_ROWS."""
    begin = 0
    for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
        if first + count - begin > _SLAB_ROWS and first > begin:
            yield begin, first
            begin = first
    if len(firsts):
        yield begin, int(firsts[-1] + counts[-1])


class _Direction:
    """One direction of the LSTM over the unchanged sentences.

    Args:
        layer: the LSTM.
        weight: its half of the output layer, `[dim, hidden]`.
        inputs: noisy word vectors `[tokens, inputs]`.
        step: +1 forwards, -1 backwards.
        remaining: steps from each token to the end of the sentence in this direction, the token's own included.
    """

    def __init__(self, layer: nn.LSTM, weight: Tensor, inputs: Tensor, step: int, remaining: NDArray[np.int64]) -> None:
        self.layer, self.step, self.remaining = layer, step, remaining
        with lstm_precision():
            precision = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        self.inputs, self.weight = inputs.to(precision), weight.to(precision).contiguous()
        weights = dict(layer.named_parameters())
        self.kernel = torch.cat([weights["weight_ih_l0"], weights["weight_hh_l0"]], 1).T.to(precision).contiguous()
        self.bias = weights["bias_ih_l0"] + weights["bias_hh_l0"]
        hidden = layer.hidden_size
        # Behind the last token lies the state that every sentence starts from.
        self.hidden = torch.zeros(len(inputs) + 1, hidden)
        self.cells = torch.zeros(len(inputs) + 1, hidden)
        before = np.arange(len(inputs)) - step
        opens = np.ones(len(inputs), dtype=bool)
        inside = (before >= 0) & (before < len(inputs))
        opens[inside] = remaining[before[inside]] != remaining[inside] + 1
        self.before = torch.from_numpy(np.where(opens, len(inputs), before))
        starts = np.flatnonzero(opens)
        starts = starts[np.argsort(-remaining[starts], kind="stable")]
        begin = 0
        while begin < len(starts):
            size = max(1, _STATE_CELLS // int(remaining[starts[begin]]))
            self._run(starts[begin : begin + size])
            begin += size
        self.part = self.hidden[:-1] @ weight.T

    def _run(self, starts: NDArray[np.int64]) -> None:
        """States of the sentences that start at some tokens, by falling length: the library keeps none but the last."""
        lengths = self.remaining[starts]
        hidden, cells = self.hidden.new_zeros(2, len(starts), self.layer.hidden_size)
        for turn in range(int(lengths[0])):
            running = int(np.searchsorted(-lengths, -turn))
            # Some that have ended run along, unread: each number of rows would be compiled for.
            rows = min(rounded_rows(running), len(starts))
            at = torch.from_numpy(starts[:rows] + turn * self.step).clamp_(0, len(self.inputs) - 1)
            given = torch.cat([self.inputs.index_select(0, at), hidden[:rows].to(self.inputs.dtype)], 1)
            enter, forget, new, show = (torch.mm(given, self.kernel).float() + self.bias).chunk(4, 1)
            cells = forget.sigmoid() * cells[:rows] + enter.sigmoid() * new.tanh()
            hidden = show.sigmoid() * cells.tanh()
            self.hidden[at[:running]], self.cells[at[:running]] = hidden[:running], cells[:running]

    def changed(self, tokens: Tensor, words: Tensor, steps: int) -> Tensor:
        """States from replaced tokens on; behind the end of a sentence, of whatever follows; `[steps, rows, hidden]`."""
        inputs = self.inputs.new_empty(steps, len(tokens), words.shape[1])
        inputs[0] = words
        for turn in range(1, steps):
            torch.index_select(self.inputs, 0, self.along(tokens, turn), out=inputs[turn])
        before = self.before[tokens]
        state = (self.hidden[before][None], self.cells[before][None])
        with lstm_precision():
            states: Tensor = self.layer(inputs.transpose(0, 1), state)[0]
        return states.transpose(0, 1)

    def along(self, tokens: Tensor, turns: Tensor | int) -> Tensor:
        """The tokens so many turns on, or the last of all."""
        return (tokens + self.step * turns).clamp(0, len(self.inputs) - 1)


class _Sentences:
    """The unchanged sentences, run once in both directions."""

    def __init__(self, representer: Representer, noisy: Tensor, drift: Tensor, lengths: NDArray[np.int64]) -> None:
        ends = np.repeat(np.cumsum(lengths), lengths)
        left = ends - np.arange(len(noisy))
        done = np.repeat(lengths, lengths) - left + 1
        weight, hidden = representer.output.weight, representer.config.hidden
        network = representer.encoder
        self.drift, self.noisy = drift, noisy
        self.bias, self.precision = representer.output.bias, 1 / representer.output_noise.scale
        self.forwards = _Direction(network.forwards, weight[:, :hidden], noisy, 1, left)
        self.backwards = _Direction(network.backwards, weight[:, hidden:], noisy, -1, done)

    def squared(self, parts: Tensor, own: Tensor) -> Tensor:
        """Squared distance from the row `own` of each row, over all dimensions; `[places, rows]`.

        Args:
            parts: ahead of the bound, `[places, rows, dim]`.
            own: row of the unchanged sentence, int64 `[rows]`.
        """
        means = bounded(parts + self.bias) * self.precision
        return (means - means[:, own]).square_().sum(2)


def _slab(sentences: _Sentences, replaced: Replacements, begin: int, end: int) -> NDArray[np.float64]:
    """Delta of some pairs. Rows are, token by token, the unchanged sentence and then its replacements."""
    tokens, line, counts = np.unique(replaced.tokens[begin:end], return_inverse=True, return_counts=True)
    sizes = counts + 1
    own = np.cumsum(sizes) - sizes
    place = np.arange(end - begin) + line + 1
    row_tokens = torch.from_numpy(np.repeat(tokens, sizes))
    words = sentences.noisy[row_tokens]
    changed = torch.from_numpy(place)
    words[changed] = (
        torch.from_numpy(replaced.rows[replaced.ids[begin:end]]) + sentences.drift[row_tokens.index_select(0, changed)]
    )
    total = torch.zeros(len(row_tokens), dtype=torch.float64)
    # Only at the replaced token do both directions change.
    meeting = torch.zeros(len(row_tokens), len(sentences.bias))
    for moving, still in ((sentences.forwards, sentences.backwards), (sentences.backwards, sentences.forwards)):
        steps = moving.remaining[tokens]
        for chosen in _similar(steps, sizes):
            rows = torch.from_numpy(np.concatenate([np.arange(own[one], own[one] + sizes[one]) for one in chosen]))
            local = torch.from_numpy(np.repeat(np.cumsum(sizes[chosen]) - sizes[chosen], sizes[chosen]))
            at, long = row_tokens[rows], int(steps[chosen[0]])
            # The shape is rounded, with the first row over again; see `shared.models.shapes`.
            run = nn.functional.pad(rows, (0, rounded_rows(len(rows)) - len(rows)), value=int(rows[0]))
            with lstm_precision():
                states = moving.changed(row_tokens[run], words[run], rounded_steps(long))
                parts = nn.functional.linear(states, moving.weight)[:long, : len(rows)]
            parts = parts.float()
            meeting[rows] += parts[0]
            if long > 1:
                turns = torch.arange(1, long)[:, None]
                behind = moving.along(at, turns).flatten()
                parts = parts[1:] + still.part.index_select(0, behind).view(long - 1, len(at), -1)
                inside = turns < torch.from_numpy(moving.remaining)[at]
                total[rows] += (sentences.squared(parts, local) * inside).sum(0)
    own_rows = torch.from_numpy(np.repeat(own, sizes))
    total += sentences.squared(meeting[None], own_rows)[0]
    return total[changed].sqrt().numpy()


def _similar(steps: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Tokens by falling steps to go, cut so that a batch holds about _BATCH_CELLS cells and little that is no step."""
    order = np.argsort(-steps, kind="stable")
    begin, rows = 0, 0
    for place, (long, size) in enumerate(zip(steps[order].tolist(), sizes[order].tolist(), strict=True)):
        longest = int(steps[order[begin]])
        much_shorter = long < longest * 3 / 4 and longest * rows >= _SMALL_BATCH_CELLS
        if place > begin and (much_shorter or longest * (rows + size) > _BATCH_CELLS):
            yield order[begin:place]
            begin, rows = place, 0
        rows += size
    yield order[begin:]
