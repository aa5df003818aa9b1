"""What each site says of each row of the codebook: PHI or not.

Where a construction shows tokens one by one, equal rows are one word, or one cluster of words that nobody can tell apart. So
the labels of the sites can be held against one another, row by row, without anybody knowing a word: a name that one site leaves
unlabelled to teach the head not to see it stands on rows that all others call PHI. Casing goes into the row: "Brown" and "brown"
are two.

Tokens of the provider's own notes count as those of a site. Labels and rows are all that is looked at; nothing here
is, or gives, a word.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aggregator.training.pool import read_blocks
from shared.sentences.ragged import RaggedSentences

LEAST_TOKENS = 3
"""Fewer tokens of a site on a row are no vote."""
PHI_SHARE = 0.6
"""A site says PHI of a row where at least this share of its tokens there is labelled."""
OTHER_SHARE = 0.02
"""And no PHI where at most this share is."""


class Place(Enum):
    """Which tokens about a token make its row; offsets from it."""

    ALONE = (0,)
    AFTER = (0, -1)
    BEFORE = (0, 1)
    CUE = (-1, -2, -3)
    """What comes before it, without itself."""
    EARLIER = (-2, -3, -4)
    """The same for the second word of a name."""


class RowKeys:
    """A number for every row with its casing: equal ones have one number, and others, but for a chance of 2^-64, another.

    The weights are drawn anew each time, so that nobody can make two rows meet.

    Args:
        columns: of 16 bits that a row has; see `columns_of`.
        place: which tokens belong to the row.
    """

    def __init__(self, columns: int, place: Place = Place.ALONE) -> None:
        draws = np.random.default_rng(secrets.randbits(128)).integers(
            0, 1 << 63, columns + 1 + len(place.value), dtype=np.uint64
        )
        self._weights = 2 * draws + np.uint64(1)
        self._place = place

    def __call__(self, sentences: RaggedSentences) -> NDArray[np.uint64]:
        """The number of every token, uint64 `[tokens]`."""
        own = self._own(sentences)
        first = np.repeat(sentences.starts, sentences.lengths)
        last = first + np.repeat(sentences.lengths, sentences.lengths) - 1
        here = np.arange(len(own))
        keys = np.zeros_like(own)
        for offset, weight in zip(self._place.value, self._weights[-len(self._place.value) :], strict=True):
            there = here + offset
            inside = (there >= first) & (there <= last)
            mixed = np.where(inside, own[np.where(inside, there, here)], np.uint64(0)) * weight
            keys += mixed ^ (mixed >> np.uint64(29))
        return keys

    def _own(self, sentences: RaggedSentences) -> NDArray[np.uint64]:
        values = sentences.values
        # A zero has two spellings.
        bits = (values + np.float16(0) if values.dtype == np.float16 else values).view(np.uint16)
        keys = sentences.casing.astype(np.uint64) * self._weights[bits.shape[1]]
        for column in range(bits.shape[1]):
            mixed = bits[:, column].astype(np.uint64) * self._weights[column]
            # Without the fold the low bits of the sum would depend on the low bits of the numbers only.
            keys += mixed ^ (mixed >> np.uint64(31))
        return keys


@dataclass(frozen=True)
class RowCounts:
    """How often each site labels each row.

    Args:
        sites: their names.
        hasher: gave the numbers of the rows.
        keys: of the rows, ascending, uint64 `[rows]`.
        tokens: of each site on each row, int64 `[sites, rows]`.
        phi: how many of them it labels, int64 `[sites, rows]`.
    """

    sites: tuple[str, ...]
    hasher: RowKeys
    keys: NDArray[np.uint64]
    tokens: NDArray[np.int64]
    phi: NDArray[np.int64]

    def rows_of(self, sentences: RaggedSentences) -> NDArray[np.int64]:
        """The row of every token, an index into `keys`; the sentences must be among those that were counted."""
        return np.searchsorted(self.keys, self.hasher(sentences)).astype(np.int64)

    @cached_property
    def votes(self) -> NDArray[np.int8]:
        """What each site says of each row: 1 PHI, -1 no PHI, 0 nothing or both; int8 `[sites, rows]`."""
        share = self.phi / np.maximum(self.tokens, 1)
        heard = self.tokens >= LEAST_TOKENS
        says: NDArray[np.int8] = (heard & (share >= PHI_SHARE)).astype(np.int8) - (heard & (share <= OTHER_SHARE))
        return says

    def verdicts(self, site: str) -> NDArray[np.int8]:
        """What most of the others say of each row, at least two of them: 1 PHI, -1 no PHI, 0 undecided; int8 `[rows]`.

        Args:
            site: whose own labels are not asked.
        """
        own = self.sites.index(site)
        others = np.delete(self.votes, own, axis=0)
        heard = (np.delete(self.tokens, own, axis=0) >= LEAST_TOKENS).sum(0)
        for_phi, against = (others > 0).sum(0), (others < 0).sum(0)
        phi = (for_phi >= 2) & (2 * for_phi > heard)
        other = (against >= 2) & (2 * against > heard)
        verdict: NDArray[np.int8] = phi.astype(np.int8) - other.astype(np.int8)
        return verdict


def count_rows(payloads: Mapping[str, Sequence[Path]], place: Place = Place.ALONE) -> RowCounts:
    """Count the labels of every row, site by site.

    Args:
        payloads: of each site, of one token-local construction. Memory grows with the rows that there are, not with the
            tokens: a codebook is finite.
        place: whether a neighbour belongs to the row; there are many more rows then.
    """
    hasher: RowKeys | None = None
    counted: list[dict[int, NDArray[np.int64]]] = []
    for paths in payloads.values():
        counts: dict[int, NDArray[np.int64]] = {}
        for block in _blocks(paths):
            hasher = hasher or RowKeys(columns_of(block), place)
            keys, line = np.unique(hasher(block), return_inverse=True)
            # Who does not know what a token is has no voice.
            voices = (block.known, block.known & (block.tags > 0))
            added = np.stack([np.bincount(line, weights=voice).astype(np.int64) for voice in voices], 1)
            for key, count in zip(keys.tolist(), added, strict=True):
                counts[key] = counts[key] + count if key in counts else count
        counted.append(counts)
    keys = np.array(sorted(set().union(*counted)), dtype=np.uint64)
    table = np.zeros((len(counted), len(keys), 2), dtype=np.int64)
    for site, counts in enumerate(counted):
        if counts:
            rows = np.searchsorted(keys, np.array(list(counts), dtype=np.uint64))
            table[site, rows] = np.stack(list(counts.values()))
    return RowCounts(tuple(payloads), hasher or RowKeys(1), keys, table[:, :, 0], table[:, :, 1])


def columns_of(sentences: RaggedSentences) -> int:
    """Columns of 16 bits of a row of sentences as a share holds them: a number, or half a code, each."""
    return sentences.dim * sentences.values.dtype.itemsize // 2


def _blocks(paths: Sequence[Path]) -> Iterator[RaggedSentences]:
    for path in paths:
        yield from read_blocks(path)
