"""A bounded table of rows that are dear to compute, keyed by word.

Notes repeat their words, so after the first time a word costs one dictionary look-up. Memory stays flat over endless
input: when the table is full it is emptied, which keeps the common case free of any book-keeping per look-up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Words are kept as keys; a note may hold "words" of a megabyte, so their characters count too.
_CHARACTERS_PER_ROW = 64


class RowCache:
    """Rows of one width by word, computed in batches when first asked for.

    Safe to share between threads.

    Args:
        capacity: most rows kept.
        width: columns of a row.
        dtype: element type of a row.
        compute: gives the rows `[words, width]` of words that are not in the table; called with distinct words.
    """

    def __init__(
        self, capacity: int, width: int, dtype: DTypeLike, compute: Callable[[list[str]], NDArray[Any]]
    ) -> None:
        self._capacity = max(1, capacity)
        self._compute = compute
        self._table: NDArray[Any] = np.empty((self._capacity, width), dtype=dtype)
        self._slots: dict[str, int] = {}
        self._characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._slots)

    def rows(self, words: Sequence[str]) -> NDArray[Any]:
        """The rows of any number of words, `[words, width]`, in their order."""
        out = np.empty((len(words), self._table.shape[1]), dtype=self._table.dtype)
        for start in range(0, len(words), self._capacity):
            part = words[start : start + self._capacity]
            with self._lock:
                # Every slot is below the capacity; "clip" only spares numpy a buffered copy.
                np.take(self._table, self._slots_of(part), axis=0, out=out[start : start + len(part)], mode="clip")
        return out

    def _slots_of(self, words: Sequence[str]) -> NDArray[np.int64]:
        slots = self._known(words)
        if len(words) and slots.min() < 0:
            self._add(list(dict.fromkeys(words[index] for index in np.flatnonzero(slots < 0).tolist())), words)
            slots = self._known(words)
        return slots

    def _known(self, words: Sequence[str]) -> NDArray[np.int64]:
        return np.fromiter(map(self._slots.get, words, repeat(-1)), dtype=np.int64, count=len(words))

    def _add(self, new: list[str], batch: Sequence[str]) -> None:
        characters = sum(map(len, new))
        full = len(self._slots) + len(new) > self._capacity
        if full or self._characters + characters > self._capacity * _CHARACTERS_PER_ROW:
            self._slots.clear()
            # The batch's own words went too: all of them are computed again.
            new = list(dict.fromkeys(batch))
            self._characters, characters = 0, sum(map(len, new))
        first = len(self._slots)
        self._table[first : first + len(new)] = self._compute(new)
        self._slots.update(zip(new, range(first, first + len(new)), strict=True))
        self._characters += characters
