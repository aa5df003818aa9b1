"""The CRF against pytorch-crf: likelihood with gradient, and Viterbi, on the same emissions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torchcrf import CRF

from bench.results import Entry
from bench.speed.material import DATA
from bench.speed.ratio import ratio, seconds_by_turns
from shared.models.crf import ConditionalRandomField
from shared.sentences.ragged import Batch, RaggedSentences

# Our tags are O and two a category, so 42 can't be had; 43 is the next, for both sides.
TAGS = 43
BATCH = 32
TURNS = 15
_BATCHES = 25


def measure(sentences: RaggedSentences, command: str) -> list[Entry]:
    """Both ratios, one torch thread.

    Args:
        sentences: give the lengths; emissions are random.
        command: to state in the entries.
    """
    torch.manual_seed(0)
    ours, peer = ConditionalRandomField(TAGS), CRF(TAGS, batch_first=True)
    batches = list(sentences.batches(BATCH, np.random.default_rng(0)))[:_BATCHES]
    work = [_work(batch) for batch in batches]

    def our_gradient() -> None:
        for emissions, tags, lengths, _ in work:
            ours.negative_log_likelihood(_leaf(emissions), tags, lengths).mean().backward()  # type: ignore[no-untyped-call]

    def peer_gradient() -> None:
        for emissions, tags, _, mask in work:
            (-peer(_leaf(emissions), tags, mask=mask, reduction="mean")).backward()

    def our_paths() -> None:
        for emissions, _, lengths, _ in work:
            ours.decode(emissions, lengths)

    def peer_paths() -> None:
        with torch.no_grad():
            for emissions, _, _, mask in work:
                peer.decode(emissions, mask=mask)

    actions = {
        "our gradient": our_gradient,
        "peer gradient": peer_gradient,
        "our paths": our_paths,
        "peer paths": peer_paths,
    }
    taken = seconds_by_turns(actions, TURNS)
    note = f"{TAGS} tags for both, batch {BATCH}, one thread, float32; interval: bootstrap over {TURNS} turns"
    entries = []
    for name, what, target in (("gradient", "forward and backward", 2.5), ("paths", "Viterbi", 1.5)):
        found = ratio(taken[f"peer {name}"], taken[f"our {name}"])
        measure = f"speed of the CRF, {what}, over pytorch-crf"
        interval = (found.low, found.high)
        entries.append(Entry(measure, found.value, target, ">=", "times", interval, TURNS, DATA, command, note))
    return entries


def _leaf(emissions: Tensor) -> Tensor:
    return emissions.detach().requires_grad_()


def _work(batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Random emissions, tags, lengths, and the mask that pytorch-crf takes in their place."""
    mask = torch.arange(batch.tags.shape[1])[None, :] < batch.lengths[:, None]
    return torch.randn(*batch.tags.shape, TAGS), batch.tags % TAGS, batch.lengths, mask
