"""The few shapes in which batches run: the libraries behind torch compile a kernel for each, which takes as long as a batch.

Steps are rounded to eight sizes up to 16 and four an octave above, rows to powers of two. An odd number of rows would take
two to three times as long as the next even one anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_LEAST_ROWS = 16
# What a step and a batch of inference cost whatever their size, in cells.
_STEP_CELLS = 8
_BATCH_CELLS = 512


def rounded_steps(steps: int) -> int:
    """The least size of the grid that holds so many steps, or so many rows of a plain matrix."""
    multiple = max(2, (1 << (steps - 1).bit_length()) >> 3)
    return -(-steps // multiple) * multiple


def rounded_rows(rows: int) -> int:
    """The least power of two that holds so many rows, and no less than _LEAST_ROWS."""
    return max(_LEAST_ROWS, 1 << (rows - 1).bit_length())


def cheapest_cuts(
    lengths: NDArray[np.int64], most_cells: int, least_rows: int = _LEAST_ROWS, batch_cells: int = _BATCH_CELLS
) -> Iterator[tuple[int, int]]:
    """Ranges of sentences whose rounded batches are together the least work.

    Args:
        lengths: of the sentences, falling, int64 `[sentences]`.
        most_cells: steps times rows of a batch; one of the least rows may have more.
        least_rows: of a batch; all but the last have this times a power of two.
        batch_cells: what a batch costs whatever its size, in cells.
    """
    # All batches but the last are full, so each starts at a multiple of the least rows; from the end, what the rest costs
    # is known for each such start.
    steps = [rounded_steps(length) for length in lengths[::least_rows].tolist()]
    costs, taken = [0] * (len(steps) + 1), [1] * len(steps)
    for start in reversed(range(len(steps))):
        choices = []
        groups = 1
        while groups == 1 or (steps[start] * groups * least_rows <= most_cells and start + groups // 2 < len(steps)):
            cells = steps[start] * (groups * least_rows + _STEP_CELLS) + batch_cells
            choices.append((cells + costs[min(start + groups, len(steps))], groups))
            groups *= 2
        costs[start], taken[start] = min(choices)
    start = 0
    while start < len(steps):
        end = start + taken[start]
        yield start * least_rows, min(end * least_rows, len(lengths))
        start = end
