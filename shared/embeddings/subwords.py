"""Vectors of character n-grams, as fastText defines them (Bojanowski et al. 2017, section 3.2).

A word is put between "<" and ">"; each of its n-grams of `minn` to `maxn` characters is hashed to one of the buckets.
The hash is 32-bit FNV-1a over the UTF-8 bytes, with the slip of the first C++ release that became the format: a byte is
taken as a signed char and sign-extended to 32 bits before it is mixed in.

Everything here works on whole batches of words at array speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# The end-of-sentence word of fastText's dictionary has no n-grams.
END_OF_SENTENCE = "</s>"

# Longer "words" are base64 and the like; the bound keeps memory flat whatever a note holds.
MAX_CHARACTERS = 1024

# Usual is 6. With the bound on words it keeps their n-grams few, whatever a release asks for.
LONGEST_NGRAM = 32

_FNV_OFFSET = np.uint32(2166136261)
_FNV_PRIME = np.uint32(16777619)

# Bytes of UTF-8 in one batch of words: about 60,000 n-grams, so about 25 MB of gathered rows at 100 dimensions.
_BATCH_BYTES = 1 << 14


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Subwords:
    """The n-gram part of a fastText model.

    Args:
        minn: characters of the shortest n-gram, at least 1.
        maxn: characters of the longest n-gram, at most LONGEST_NGRAM.
        buckets: float32 `[buckets, dim]`, one row a hash bucket.
    """

    minn: int
    maxn: int
    buckets: NDArray[np.float32]

    def __repr__(self) -> str:
        return f"Subwords({self.minn}-{self.maxn} characters, {len(self.buckets)} buckets)"

    def sums(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Sum of each word's n-gram rows `[words, dim]`, and how many n-grams it has `[words]`."""
        totals = np.zeros((len(words), self.buckets.shape[1]), dtype=np.float32)
        counts = np.zeros(len(words), dtype=np.int64)
        for start, batch in _batches(words):
            owners, hashes = ngram_hashes(batch, self.minn, self.maxn)
            counted = np.bincount(owners, minlength=len(batch))
            counts[start : start + len(batch)] = counted
            present = np.flatnonzero(counted)
            if len(present):
                gathered = self.buckets[hashes % np.uint32(len(self.buckets))]
                firsts = (np.cumsum(counted) - counted)[present]
                totals[start + present] = np.add.reduceat(gathered, firsts, axis=0)
        return totals, counts

    def means(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Mean of each word's n-gram rows `[words, dim]`; zero for a word without n-grams."""
        totals, counts = self.sums(words)
        totals /= np.maximum(counts, 1)[:, None].astype(np.float32)
        return totals


def _batches(words: Sequence[str]) -> Iterator[tuple[int, list[bytes]]]:
    """Words as bytes between "<" and ">", in batches of bounded size, each with the index of its first word."""
    batch: list[bytes] = []
    start = size = 0
    for index, word in enumerate(words):
        # A lone surrogate can stand in a text that came from JSON: it must not stop a de-identification.
        encoded = b"" if word == END_OF_SENTENCE else f"<{word[:MAX_CHARACTERS]}>".encode("utf-8", "surrogatepass")
        if batch and size + len(encoded) > _BATCH_BYTES:
            yield start, batch
            batch, start, size = [], index, 0
        batch.append(encoded)
        size += len(encoded)
    if batch:
        yield start, batch


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Hash of every n-gram of every word.

    Args:
        words: UTF-8 with their "<" and ">"; an empty one has no n-grams.
        minn: characters of the shortest n-gram, at least 1.
        maxn: characters of the longest n-gram.

    Returns:
        Index of the word that each n-gram belongs to, ascending, `[n-grams]`; and the n-grams' 32-bit hashes.
    """
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    data = np.frombuffer(b"".join(words) + b"\0", dtype=np.uint8)
    mixed = data.astype(np.int8).astype(np.int32).view(np.uint32)
    leads = (data & 0xC0) != 0x80
    ends = np.cumsum(lengths)
    starts = np.flatnonzero(leads[:-1])
    owners = np.repeat(np.arange(len(words)), lengths)[starts]
    limits = ends[owners]
    firsts = starts == limits - lengths[owners]

    hashes = np.full(len(starts), _FNV_OFFSET, dtype=np.uint32)
    positions = starts.copy()
    sizes = np.zeros(len(starts), dtype=np.int64)
    found_owners: list[NDArray[np.int64]] = []
    found_hashes: list[NDArray[np.uint32]] = []
    # Each step takes one byte more of every n-gram that is still growing.
    while len(positions):
        hashes = (hashes ^ mixed[positions]) * _FNV_PRIME
        sizes = sizes + leads[positions]
        positions = positions + 1
        at_end = positions == limits
        whole = (at_end | leads[positions]) & (sizes >= minn)
        # A lone "<" or ">" is no n-gram.
        whole &= ~((sizes == 1) & (firsts | at_end))
        found_owners.append(owners[whole])
        found_hashes.append(hashes[whole])
        growing = ~at_end & ((sizes < maxn) | ~leads[positions])
        positions, sizes, hashes = positions[growing], sizes[growing], hashes[growing]
        owners, limits, firsts = owners[growing], limits[growing], firsts[growing]
    if not found_owners:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32)
    flat = np.concatenate(found_owners)
    order = np.argsort(flat, kind="stable")
    return flat[order], np.concatenate(found_hashes)[order]
