"""Sentences of pieces cut into windows that a network has positions for, and where each token is read.

A sentence that fits is one window. A longer one is cut between words into windows that overlap; a token is read in the window where it stands
farthest from an edge at which the sentence was cut, so that it is seen with as much on both sides as can be. Every token is read exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Farther than any token of a sentence: where a sentence begins or ends, nothing was cut.
_UNCUT = 1 << 40


@dataclass(frozen=True)
class Windows:
    """A batch of sentences as windows.

    Args:
        pieces: int64 `[windows, width]`, each between a piece that begins and one that ends it.
        filled: which are no padding, bool `[windows, width]`.
        window: which window reads a token, int64 `[batch, steps]`; 0 on padding.
        place: where its first piece is in there, int64 `[batch, steps]`; 0 on padding.
    """

    pieces: NDArray[np.int64]
    filled: NDArray[np.bool_]
    window: NDArray[np.int64]
    place: NDArray[np.int64]


def cut_sentence(counts: NDArray[np.int64], room: int, overlap: int) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
    """The windows of one sentence.

    Args:
        counts: pieces of each token, each from 1 to `room`, int64 `[tokens]`.
        room: pieces that a window holds.
        overlap: pieces that a window shares with the one before it, at least, if that leaves it a token of its own.

    Returns:
        first token and end of each window; which window reads each token, int64 `[tokens]`.
    """
    tokens = len(counts)
    ends = np.cumsum(counts)
    begins = ends - counts
    cuts: list[tuple[int, int]] = []
    first = end = 0
    while end < tokens:
        end = int(np.searchsorted(ends, begins[first] + room, side="right"))
        cuts.append((first, end))
        # From the last token that leaves the overlap behind it; and so late that the first new token fits, too.
        shared = int(np.searchsorted(begins, ends[end - 1] - overlap, side="right")) - 1
        needed = int(np.searchsorted(begins, ends[min(end, tokens - 1)] - room, side="left"))
        first = min(max(shared, needed, first + 1), end)
    distances = np.full((len(cuts), tokens), -1, dtype=np.int64)
    for index, (start, stop) in enumerate(cuts):
        left = _UNCUT if start == 0 else begins[start:stop] - begins[start]
        right = _UNCUT if stop == tokens else ends[stop - 1] - ends[start:stop]
        distances[index, start:stop] = np.minimum(left, right)
    return cuts, distances.argmax(axis=0)


def cut_batch(
    pieces: NDArray[np.int64], lengths: NDArray[np.int64], room: int, overlap: int, marks: tuple[int, int, int]
) -> Windows:
    """The windows of a batch.

    Args:
        pieces: of every token, -1 behind its last, int64 `[batch, steps, pieces]`; padding may hold anything.
        lengths: of the sentences, int64 `[batch]`.
        room, overlap: as in `cut_sentence`.
        marks: the pieces that begin and end a window and fill it up.
    """
    begin, end, padding = marks
    known = pieces >= 0
    steps = pieces.shape[1]
    window, place = np.zeros((2, len(lengths), steps), dtype=np.int64)
    rows: list[NDArray[np.int64]] = []
    for line, length in enumerate(lengths.tolist()):
        counts = known[line, :length].sum(axis=1)
        cuts, reader = cut_sentence(counts, room, overlap)
        begins = np.cumsum(counts) - counts
        flat = pieces[line, :length][known[line, :length]]
        stops = np.append(begins, counts.sum())
        for index, (first, stop) in enumerate(cuts):
            read = np.flatnonzero(reader == index)
            window[line, read] = len(rows)
            place[line, read] = 1 + begins[read] - begins[first]
            rows.append(flat[stops[first] : stops[stop]])
    width = 2 + max(len(row) for row in rows)
    laid = np.full((len(rows), width), padding, dtype=np.int64)
    filled = np.zeros((len(rows), width), dtype=np.bool_)
    for index, row in enumerate(rows):
        laid[index, 0], laid[index, 1 : 1 + len(row)], laid[index, 1 + len(row)] = begin, row, end
        filled[index, : 2 + len(row)] = True
    return Windows(laid, filled, window, place)
