"""Recall of two heads on the same sentences, category by category, and how sure their difference is.

A token counts as found if the head calls it PHI, of whatever category: that is what keeps it from being read. Who teaches a head to call
everything PHI raises every recall by that: so the tokens that are no PHI, and are called so, are counted beside. The sentences are those
that nothing was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass

import numpy as np
import torch
from scipy.special import ndtri

from aggregator.publishing.quality_gate import FALSE_ALARMS, is_worse
from aggregator.training.pool import Pool
from shared.labels import UNKNOWN_TAG, LabelScheme
from shared.sentences.ragged import Batch
from shared.taggers.tagger import Tagger

ALL = "all PHI"
LEAST_TOKENS = 20
"""Of fewer tokens a recall says nothing."""


@dataclass(frozen=True)
class RecallChange:
    """What a head finds of a category that another found more or less of.

    Args:
        category: its name, ALL, or FALSE_ALARMS for what is no PHI.
        tokens: of the category.
        recall: of the head: the share of them that it calls PHI, in [0, 1].
        before: of the other.
        low: lower end of the interval of `recall - before`.
        high: upper end.
    """

    category: str
    tokens: int
    recall: float
    before: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether the head is worse than the other, for sure; see `is_worse`."""
        return is_worse(self.category, self.low, self.high)

    def as_json(self) -> dict[str, object]:
        """All figures, for the record."""
        return asdict(self)


def compare_recall(
    head: Tagger,
    other: Tagger,
    held_out: Pool | None,
    scheme: LabelScheme,
    comparisons: int = 1,
    read_by_other: Pool | None = None,
) -> tuple[RecallChange, ...]:
    """What a head finds against another, on held-out sentences.

    The interval is normal, over sentences, whose tokens stand or fall together, with a correction for continuity. It covers 95% of
    all comparisons together (Bonferroni), so that among many none stands out by chance.

    Args:
        head: whose recall is asked for.
        other: that it is compared with.
        held_out: the sentences; closed here. None for none.
        scheme: names the categories.
        comparisons: how many such calls are made.
        read_by_other: the same sentences as the other head reads them; closed here. None where both read alike.

    Returns:
        all PHI, then each category that has enough tokens, then false alarms; nothing where there is too little PHI.
    """
    names = (ALL, *scheme.categories, FALSE_ALARMS)
    sums = _Sums(len(names))
    if held_out is not None:
        with held_out as pool, read_by_other or nullcontext(pool) as other_pool:
            # Sentences are drawn alike in both, and come in the same order.
            for batch, as_other in zip(pool.batches(256), other_pool.batches(256), strict=True):
                sums.add(batch, head.decode(batch), other.decode(as_other))
    asked = np.flatnonzero((sums.tokens >= LEAST_TOKENS) & (sums.tokens[0] >= LEAST_TOKENS))
    z = float(-ndtri(0.025 / max(len(asked) * comparisons, 1)))
    return tuple(sums.change(names[index], index, z) for index in asked.tolist())


class _Sums:
    """Over sentences: tokens of each category and last of none, those that either head finds, and what the variance takes."""

    def __init__(self, categories: int) -> None:
        self.tokens, self.found, self.before, self._squares, self._products, self._sizes = np.zeros((6, categories))

    def add(self, batch: Batch, said: torch.Tensor, other: torch.Tensor) -> None:
        """The sentences of a batch, and the tags that both heads give them."""
        plain = (batch.tags == 0) & (torch.arange(batch.tags.shape[1]) < batch.lengths[:, None])
        true = torch.cat([_by_category(batch.tags, len(self.tokens) - 1), plain[:, :, None].float()], 2)
        ours, theirs = ((true * (tags > 0)[:, :, None]).sum(1).numpy() for tags in (said, other))
        sizes, more = true.sum(1).numpy(), ours - theirs
        self.tokens += sizes.sum(0)
        self.found += ours.sum(0)
        self.before += theirs.sum(0)
        self._squares += (more**2).sum(0)
        self._products += (more * sizes).sum(0)
        self._sizes += (sizes**2).sum(0)

    def change(self, name: str, index: int, z: float) -> RecallChange:
        """Of one category, with an interval of so many standard errors."""
        tokens = self.tokens[index]
        recall, before = self.found[index] / tokens, self.before[index] / tokens
        change = recall - before
        square = self._squares[index] - 2 * change * self._products[index] + change**2 * self._sizes[index]
        reach = z * np.sqrt(max(square, 0.0)) / tokens + 1 / tokens
        return RecallChange(
            name, int(tokens), float(recall), float(before), float(change - reach), float(change + reach)
        )


class CategoryRecall:
    """How much of each category a head finds, summed over batches.

    Args:
        categories: their names; of none, nothing is counted.
    """

    def __init__(self, categories: Sequence[str]) -> None:
        self._names = tuple(categories)
        self._tokens, self._found = np.zeros((2, len(self._names) + 1))

    def add(self, tags: torch.Tensor, said: torch.Tensor) -> None:
        """The true tags of a batch, and which of its tokens the head calls PHI."""
        if self._names:
            true = _by_category(tags, len(self._tokens))
            self._tokens += true.sum((0, 1)).numpy()
            self._found += (true * said[:, :, None]).sum((0, 1)).numpy()

    def found(self) -> dict[str, tuple[int, float]]:
        """Tokens and recall of each category that has enough tokens, by its name."""
        rows = zip(self._names, self._tokens[1:].tolist(), self._found[1:].tolist(), strict=True)
        return {name: (int(tokens), found / tokens) for name, tokens, found in rows if tokens >= LEAST_TOKENS}


def _by_category(tags: torch.Tensor, columns: int) -> torch.Tensor:
    """Which tokens are of which category, the first being any: float32 `[batch, steps, columns]`; of none where nobody knows."""
    tags = tags.masked_fill(tags == UNKNOWN_TAG, 0)
    kinds = (tags + 1) // 2
    marked = torch.nn.functional.one_hot(kinds, columns).float()
    marked[:, :, 0] = (tags > 0).float()
    return marked
