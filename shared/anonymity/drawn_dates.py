"""Numbers of drawn dates that a calendar has.

A bank draws the digits of a number at random, so of its dates nine in ten are none (`46 / 39 / 8613`): a head would learn that dates hold any
number, and no pattern would find them. What is drawn is public, so its numbers may be any others of as many digits.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Set

import numpy as np
from numpy.typing import NDArray

from shared.labels import tag_spans

_MONTHS, _DAYS, _YEARS = (1, 12), (1, 28), (1925, 2029)
_SHORT_YEARS = (0, 99)


def draw_dates(
    words: MutableSequence[str],
    tags: NDArray[np.uint8],
    dates: Set[int],
    *,
    day_first: bool,
    generator: np.random.Generator,
) -> None:
    """Give the numbers of drawn dates others of as many digits, in place.

    Args:
        words: those of drawn dates among them.
        tags: uint8 `[words]`.
        dates: numbers of the categories of dates.
        day_first: whether a day stands ahead of its month.
        generator: of the training.
    """
    for first, end, category in tag_spans(tags):
        if category not in dates:
            continue
        numbers = [place for place in range(first, end) if words[place].isdecimal() and words[place].isascii()]
        named = len(numbers) == 1 or any(words[place].isalpha() for place in range(first, end))
        parts = [_DAYS, _SHORT_YEARS] if named else [_DAYS, _MONTHS] if day_first else [_MONTHS, _DAYS]
        for order, place in enumerate(numbers):
            digits = len(words[place])
            low, high = _YEARS if digits == 4 else parts[order] if order < len(parts) else _SHORT_YEARS
            if digits in (1, 2, 4):
                drawn = int(generator.integers(low, min(high, 10**digits - 1) + 1))
                words[place] = f"{drawn:0{digits}d}"
