"""What a share tells beside its words: labels, casing classes, lengths, and which sentences stand alone by these, or by these and their words."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import CASING_CLASSES, CODES, SentenceBlock
from shared.labels import UNKNOWN_TAG, LabelScheme
from shared.text.casing import CASING_CLASSES as CASING_NAMES
from site_client.sharing.readable.chance import Chance
from site_client.sharing.readable.originals import HiddenTokens


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
        alone: sentences whose length, labels and casing no other sentence of the share has, as far as these were not drawn.
        alone_in_words: these, and those that no other is like in all of that and in what is shown of their words: whoever has the release
            and the text of a sentence computes it. None where words are shown by vectors, not by codes.
    """

    categories: tuple[Category, ...]
    other: Category
    lengths: dict[int, int]
    alone: int
    alone_in_words: int | None


def channels(
    blocks: Iterable[SentenceBlock], scheme: LabelScheme, chance: Chance, hidden: HiddenTokens | None = None
) -> Channels:
    """Count what is in the blocks of a share.

    Args:
        blocks: all of them, their values checked.
        scheme: of the release.
        chance: what is drawn in them, and makes no sentence stand alone.
        hidden: where labelled PHI of no category stands, as far as that is known.
    """
    # One line more, for what nobody knows.
    unknown = len(scheme.tags)
    table = np.zeros((unknown + 1, CASING_CLASSES), dtype=np.int64)
    lengths = np.zeros(0, dtype=np.int64)
    patterns, shown, coded = array("q"), array("q"), True
    for block, drawn in (hidden or HiddenTokens()).masks(blocks):
        tags = np.where(block.tags == UNKNOWN_TAG, unknown, block.tags.astype(np.int64))
        table += np.bincount(tags * CASING_CLASSES + block.casing, minlength=table.size).reshape(table.shape)
        found = np.bincount(block.lengths)
        lengths = np.pad(lengths, (0, max(0, len(found) - len(lengths))))
        lengths[: len(found)] += found
        patterns.extend(chance.patterns(block, drawn))
        coded = coded and block.dim == CODES
        if coded:
            shown.extend(chance.shown(block, drawn))
    named = [
        *(_category(name, table[2 * index + 1], table[2 * index + 2]) for index, name in enumerate(scheme.categories)),
        _category("unknown, hidden like PHI", np.zeros(CASING_CLASSES, dtype=np.int64), table[unknown]),
    ]
    return Channels(
        tuple(sorted((one for one in named if one.tokens), key=lambda one: -one.tokens)),
        _category("no PHI", np.zeros(CASING_CLASSES, dtype=np.int64), table[0]),
        {length: int(lengths[length]) for length in np.flatnonzero(lengths).tolist()},
        _alone(patterns),
        _alone(shown) if coded else None,
    )


def _alone(numbers: array[int]) -> int:
    """How many sentences have a number that no other has."""
    _, times = np.unique(np.frombuffer(numbers, dtype=np.int64), return_counts=True)
    return int((times == 1).sum())


def _category(name: str, begin: NDArray[np.int64], inside: NDArray[np.int64]) -> Category:
    counts = (begin + inside).tolist()
    ordered = sorted(zip(CASING_NAMES, counts, strict=True), key=lambda pair: -pair[1])
    return Category(name, int(begin.sum()), sum(counts), {casing: count for casing, count in ordered if count})
