"""A text with what its character references stand for (`&eacute;`, `&#39;`, `&nbsp;`), and the way back to the text as it is written.

A note that a record system exported from its page holds `Garc&iacute;a`. Whoever reads that sign by sign finds three words, none of them a name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shared.text.references.finding import find_references


@dataclass(frozen=True, repr=False)
class Decoded:
    """A text without references, and where each of them stood. Offsets are half-open.

    Args:
        text: to be read.
        read: where in it what each reference stands for begins and ends, ascending, int64 `[references, 2]`.
        written: where each begins and ends in the text as it is written, likewise.
    """

    text: str
    read: NDArray[np.int64]
    written: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Decoded({len(self.text)} signs, {len(self.read)} references)"

    @property
    def is_written_so(self) -> bool:
        """Whether there is no reference, and every offset is what it was."""
        return not len(self.read)

    def to_written(self, start: int, end: int) -> tuple[int, int]:
        """The stretch as it is written, with every reference whole, of a stretch that is read."""
        return (start, end) if self.is_written_so else _moved(start, end, *self._ends)

    def to_read(self, start: int, end: int) -> tuple[int, int]:
        """What is read of a stretch as it is written, with what a reference stands for whole where the stretch has any of it."""
        return (start, end) if self.is_written_so else _moved(start, end, *self._ends[::-1])

    def is_within(self, place: int) -> bool:
        """Whether a place of the text as it is written is within a reference."""
        at = bisect_right(self._ends[1][1], place)
        return at < len(self.written) and self._ends[1][0][at] < place

    def all_to_written(self, spans: NDArray[np.int32]) -> NDArray[np.int32]:
        """The same of many stretches that are read, int32 `[stretches, 2]`."""
        if self.is_written_so or not len(spans):
            return spans
        moved = [self.to_written(start, end) for start, end in spans.tolist()]
        return np.array(moved, dtype=np.int32)

    @cached_property
    def _ends(self) -> tuple[_Places, _Places]:
        return _places(self.read), _places(self.written)


_Places = tuple[list[int], list[int]]


def _places(spans: NDArray[np.int64]) -> _Places:
    return spans[:, 0].tolist(), spans[:, 1].tolist()


def _moved(start: int, end: int, here: _Places, there: _Places) -> tuple[int, int]:
    """A stretch of one of the two texts in the other; what touches a reference has all of it."""
    first, last = bisect_right(here[1], start), bisect_right(here[1], end - 1)
    if first < len(here[0]) and here[0][first] <= start:
        begins = there[0][first]
    else:
        begins = start + (there[1][first - 1] - here[1][first - 1] if first else 0)
    if last < len(here[0]) and here[0][last] < end:
        return begins, there[1][last]
    return begins, end + (there[1][last - 1] - here[1][last - 1] if last else 0)


_NONE = np.zeros((0, 2), dtype=np.int64)


def decode(text: str, cuts: Iterable[int] = ()) -> Decoded:
    """A text with what its references stand for in their place.

    Args:
        text: any text. One that holds none comes back as it is.
        cuts: places over which no reference reaches.
    """
    pieces: list[str] = []
    read: list[tuple[int, int]] = []
    written: list[tuple[int, int]] = []
    done = length = 0
    for start, end, signs in _between(text, cuts):
        length += start - done
        pieces += text[done:start], signs
        read.append((length, length + len(signs)))
        written.append((start, end))
        length += len(signs)
        done = end
    if not pieces:
        return Decoded(text, _NONE, _NONE)
    shown = "".join([*pieces, text[done:]])
    return Decoded(shown, *(np.array(spans, dtype=np.int64).reshape(-1, 2) for spans in (read, written)))


def _between(text: str, cuts: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """The references of each piece."""
    if "&" not in text:
        return
    for begin, close in pairwise(sorted({0, *cuts, len(text)})):
        for start, end, signs in find_references(text[begin:close]):
            yield begin + start, begin + end, signs
