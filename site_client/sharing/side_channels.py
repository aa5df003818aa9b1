"""What a share tells beside its words: labels, casing classes, lengths, and which sentences stand alone by these or by their words too."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import CASING_CLASSES, CODE_TYPE, CODES, SentenceBlock
from shared.labels import UNKNOWN_TAG, LabelScheme
from shared.text.casing import CASING_CLASSES as CASING_NAMES


@dataclass(frozen=True)
class Category:
    """The tokens of one PHI category, or of none.

    Args:
        name: of the category.
        spans: names, dates and so on: tokens that begin one.
        tokens: all of them.
        casing: how many of them are written in which way, by the name of the class, most frequent first.
    """

    name: str
    spans: int
    tokens: int
    casing: dict[str, int]


@dataclass(frozen=True)
class Channels:
    """Counts over a whole share.

    Args:
        categories: of PHI, those that occur, most frequent first.
        other: the tokens that are no PHI.
        lengths: sentences of each length, by number of tokens, those that occur.
        alone: sentences whose length, labels and casing no other sentence of the share has.
        alone_in_words: these, and those that show words outside of PHI as no other does: whoever has the release and the text of a
            sentence computes what is shown of them. None where words are shown by vectors, not by codes.
    """

    categories: tuple[Category, ...]
    other: Category
    lengths: dict[int, int]
    alone: int
    alone_in_words: int | None


def channels(blocks: Iterable[SentenceBlock], scheme: LabelScheme) -> Channels:
    """Count what is in the blocks of a share.

    Args:
        blocks: all of them, their values checked.
        scheme: of the release.
    """
    # One line more, for what nobody knows.
    unknown = len(scheme.tags)
    table = np.zeros((unknown + 1, CASING_CLASSES), dtype=np.int64)
    lengths = np.zeros(0, dtype=np.int64)
    patterns, worded, coded = array("q"), array("q"), True
    for block in blocks:
        tags = np.where(block.tags == UNKNOWN_TAG, unknown, block.tags.astype(np.int64))
        table += np.bincount(tags * CASING_CLASSES + block.casing, minlength=table.size).reshape(table.shape)
        found = np.bincount(block.lengths)
        lengths = np.pad(lengths, (0, max(0, len(found) - len(lengths))))
        lengths[: len(found)] += found
        patterns.extend(_patterns(block))
        coded = coded and block.dim == CODES
        if coded:
            worded.extend(_worded(block))
    alone = _alone(patterns)
    named = [
        *(_category(name, table[2 * index + 1], table[2 * index + 2]) for index, name in enumerate(scheme.categories)),
        _category("unknown, hidden like PHI", np.zeros(CASING_CLASSES, dtype=np.int64), table[unknown]),
    ]
    return Channels(
        tuple(sorted((one for one in named if one.tokens), key=lambda one: -one.tokens)),
        _category("no PHI", np.zeros(CASING_CLASSES, dtype=np.int64), table[0]),
        {length: int(lengths[length]) for length in np.flatnonzero(lengths).tolist()},
        int(alone.sum()),
        int((alone | _alone(worded)).sum()) if coded else None,
    )


def _patterns(block: SentenceBlock) -> list[int]:
    """A number for what each sentence shows beside its words."""
    return _numbers(np.column_stack([block.tags, block.casing, block.features]), block.offsets)


def _worded(block: SentenceBlock) -> list[int]:
    """A number for what each sentence shows outside of PHI, and where that stands: of each span one token, for what is shown of it is drawn."""
    clear = (block.tags == 0)[:, None]
    codes = np.ascontiguousarray(block.values, dtype=CODE_TYPE).view(np.uint8).reshape(block.tokens, -1)
    shown = np.column_stack([codes, block.casing, block.features])
    # A span goes on with even tags.
    kept = clear[:, 0] | (block.tags % 2 == 1)
    ends = np.append(0, np.cumsum(kept))[block.offsets]
    return _numbers(np.column_stack([block.tags, np.where(clear, shown, 0)])[kept], ends)


def _numbers(told: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[int]:
    return [hash(told[begin:end].tobytes()) for begin, end in pairwise(offsets.tolist())]


def _alone(numbers: array[int]) -> NDArray[np.bool_]:
    """Which sentences have a number that no other has."""
    _, which, times = np.unique(np.frombuffer(numbers, dtype=np.int64), return_inverse=True, return_counts=True)
    found: NDArray[np.bool_] = times[which] == 1
    return found


def _category(name: str, begin: NDArray[np.int64], inside: NDArray[np.int64]) -> Category:
    counts = (begin + inside).tolist()
    ordered = sorted(zip(CASING_NAMES, counts, strict=True), key=lambda pair: -pair[1])
    return Category(name, int(begin.sum()), sum(counts), {casing: count for casing, count in ordered if count})
