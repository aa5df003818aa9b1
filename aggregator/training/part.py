"""The part of a pool that one of several processes learns from: whole blocks where that comes out even, and slices at its ends.

In every pass the blocks lie in another order, the same in all processes, and are cut into as many stretches of equal weight as there
are processes. So a process reads little more than its own stretch, all of them have work of the same size, and each sentence is
in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Slice:
    """Some of the sentences of a block.

    Args:
        block: its place in the list of blocks.
        begin, end: of its sentences, half-open.
    """

    block: int
    begin: int
    end: int


@dataclass(frozen=True)
class PoolPart:
    """Which part.

    Args:
        index: of the process.
        count: of processes.
    """

    index: int
    count: int

    def slices(self, order: Sequence[int], sentences: Sequence[int], rates: Sequence[float]) -> Iterator[Slice]:
        """What this process reads, in order.

        Args:
            order: of the blocks in this pass.
            sentences: of each block.
            rates: chance of a sentence of each block to take part.
        """
        # Exact, so that neighbours cut a block at the same sentence.
        weights = [Fraction(sentences[block]) * Fraction(rates[block]) for block in order]
        total = sum(weights, Fraction())
        begin, end = total * self.index / self.count, total * (self.index + 1) / self.count
        reached = Fraction()
        for block, weight in zip(order, weights, strict=True):
            if weight:
                first, last = (
                    round(min(max((cut - reached) / weight, Fraction()), Fraction(1)) * sentences[block])
                    for cut in (begin, end)
                )
                if first < last:
                    yield Slice(block, first, last)
            reached += weight
