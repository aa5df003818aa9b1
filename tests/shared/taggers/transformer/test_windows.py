"""Windows hold every token once, whole, within their room, whatever the length of a sentence and of its words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.taggers.transformer.windows import cut_batch, cut_sentence

counts_of_tokens = st.lists(st.integers(1, 6), min_size=1, max_size=60)


@given(counts_of_tokens, st.integers(6, 40), st.data())
def test_every_token_is_read_once_where_it_is_whole_and_seen_best(
    counts: list[int], room: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, room // 2))
    cuts, reader = cut_sentence(np.array(counts), room, overlap)
    assert cuts[0][0] == 0
    assert cuts[-1][1] == len(counts)
    for first, end in cuts:
        assert 0 < sum(counts[first:end]) <= room
    for (first, end), (then, beyond) in pairwise(cuts):
        # No gap, something new, and as much again as is asked for, unless the next word would not fit then.
        assert first < then <= end < beyond
        assert sum(counts[then:end]) >= overlap or sum(counts[then - 1 : end + 1]) > room or then == first + 1
    for token, index in enumerate(reader.tolist()):

        def seen(window: tuple[int, int], token: int = token) -> float:
            first, end = window
            if not first <= token < end:
                return -1
            left = sum(counts[first:token]) if first else float("inf")
            right = sum(counts[token + 1 : end]) if end < len(counts) else float("inf")
            return min(left, right)

        assert seen(cuts[index]) == max(map(seen, cuts)) >= 0


@given(st.lists(counts_of_tokens, min_size=1, max_size=4), st.integers(6, 30))
def test_the_first_piece_of_every_token_stands_where_it_is_said_to(sentences: list[list[int]], room: int) -> None:
    """Every piece of a batch has a number of its own: where a token is read, its first piece must be."""
    sentences.sort(key=len, reverse=True)
    pieces = np.full((len(sentences), len(sentences[0]), 6), -1, dtype=np.int64)
    number = 10
    for row, counts in enumerate(sentences):
        for token, count in enumerate(counts):
            pieces[row, token, :count] = range(number, number + count)
            number += count
    lengths = np.array([len(counts) for counts in sentences])
    # What is behind a sentence must be of no account.
    for row, length in enumerate(lengths):
        pieces[row, length:] = 7
    cut = cut_batch(pieces, lengths, room, room // 3, (1, 2, 0))
    assert cut.pieces.shape == cut.filled.shape
    assert cut.pieces.shape[1] <= room + 2
    for row, length in enumerate(lengths):
        read = cut.pieces[cut.window[row, :length], cut.place[row, :length]]
        assert read.tolist() == pieces[row, :length, 0].tolist()
    for line, filled in zip(cut.pieces, cut.filled, strict=True):
        inside = line[filled]
        assert (inside[0], inside[-1]) == (1, 2)
        assert (np.diff(inside[1:-1]) == 1).all()
        assert not line[~filled].any()
        assert not filled[len(inside) :].any()
