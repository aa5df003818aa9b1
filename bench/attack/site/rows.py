"""Rows, tags and casing that no encoder makes, laid down in a sound file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.ingestion.ingest import Decision
from bench.attack.share import Liar, Lie
from protocols.payload.sentence_block import CASING_CLASSES, SentenceBlock

Array = NDArray[Any]
_LONG = 600


def changed(change: Callable[[SentenceBlock], SentenceBlock]) -> Lie:
    """The sentences of an honest share, changed."""
    return lambda liar: liar.send_block(change(liar.block()))


def _values(change: Callable[[Array], Array]) -> Lie:
    """Its rows, changed."""
    return changed(lambda block: replace(block, values=change(block.values)))


def _unit(shape: tuple[int, ...]) -> Array:
    drawn = np.random.default_rng(0).standard_normal(shape)
    rows: Array = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype("<f2")
    return rows


def _first_number(value: float) -> Callable[[Array], Array]:
    def change(values: Array) -> Array:
        found = values.copy()
        found[0, 0] = value
        return found

    return change


def _between_words(values: Array) -> Array:
    # Tokens of one word have one row: another must be looked for.
    other = int(np.flatnonzero((values != values[0]).any(1))[0])
    middle = (values[:1].astype(np.float64) + values[other : other + 1]) / 2
    return np.append(middle.astype("<f2"), values[1:], axis=0)


def _one_bit(values: Array) -> Array:
    bits = values.view("<u2").copy()
    bits[5, 2] ^= 1
    return bits.view("<f2")


def _one_sign(values: Array) -> Array:
    bits = values.view("<u2").copy()
    bits[0, 0] ^= 0x8000
    return bits.view("<f2")


def _carry_text(values: Array) -> Array:
    # What a hospital, or who took it over, wants to bring out: text in the place of numbers.
    text = (b"seen on the ward and sent home; " * 64)[: 2 * values.shape[1]]
    found = values.copy()
    found[0] = np.frombuffer(text, "<f2")
    return np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)


def _narrow(block: SentenceBlock) -> SentenceBlock:
    return replace(block, values=np.ascontiguousarray(block.values[:, :-1]))


def _wide(block: SentenceBlock) -> SentenceBlock:
    return replace(block, values=np.concatenate([block.values, block.values[:, :1]], axis=1))


def _tags(change: Callable[[Array], Array]) -> Lie:
    """Its tags, changed."""
    return changed(lambda block: replace(block, tags=change(block.tags).astype(np.uint8)))


def _continue_unbegun(tags: Array) -> Array:
    return np.where(tags % 2 == 1, tags + 1, tags)


def send_a_tag_beyond_the_scheme(liar: Liar) -> Decision:
    """A tag of a category that there is not; the counts of the manifest take it for O."""
    block = liar.block()
    tags = block.tags.copy()
    tags[int(np.flatnonzero(tags == 0)[0])] = 250
    payload = liar.write(replace(block, tags=tags))
    return liar.send(payload, liar.state(payload, block))


def _casing_beyond(block: SentenceBlock) -> SentenceBlock:
    casing = block.casing.copy()
    casing[0] = CASING_CLASSES
    return replace(block, casing=casing)


def _without_labels(block: SentenceBlock) -> SentenceBlock:
    return replace(block, tags=np.zeros_like(block.tags))


def _label_everything(tags: Array) -> Array:
    return np.where(tags == 0, 1, tags)


def _label_as_the_first(tags: Array) -> Array:
    # Every category becomes the first one, as a shifted column would make it.
    return np.where(tags == 0, 0, 2 - tags % 2)


def _one_word(block: SentenceBlock) -> SentenceBlock:
    outside = int(np.flatnonzero(block.tags == 0)[0])
    return replace(block, values=np.repeat(block.values[outside : outside + 1], block.tokens, axis=0))


def first_sentences(block: SentenceBlock, count: int) -> SentenceBlock:
    """The first sentences of a block."""
    tokens = int(block.lengths[:count].sum())
    return SentenceBlock(block.values[:tokens], block.tags[:tokens], block.casing[:tokens], block.lengths[:count])


def _longest(block: SentenceBlock) -> SentenceBlock:
    """The sentence with most tokens outside PHI."""
    outside = np.add.reduceat(block.tags == 0, block.offsets[:-1], dtype=np.int64)
    best = int(np.argmax(outside))
    own = slice(int(block.offsets[best]), int(block.offsets[best + 1]))
    return SentenceBlock(block.values[own], block.tags[own], block.casing[own], block.lengths[best : best + 1])


def each_again(block: SentenceBlock, times: int) -> SentenceBlock:
    """Every sentence, so many times."""
    return SentenceBlock(
        np.tile(block.values, (times, 1)),
        np.tile(block.tags, times),
        np.tile(block.casing, times),
        np.tile(block.lengths, times),
    )


def _one_token_each(block: SentenceBlock) -> SentenceBlock:
    # What went on is begun, for each token stands alone.
    tags = np.where((block.tags > 0) & (block.tags % 2 == 0), block.tags - 1, block.tags).astype(np.uint8)
    return replace(block, tags=tags, lengths=np.ones(block.tokens, dtype="<i4"))


def _all_in_one(block: SentenceBlock) -> SentenceBlock:
    tokens = min(block.tokens, _LONG)
    return SentenceBlock(
        block.values[:tokens], block.tags[:tokens], block.casing[:tokens], np.array([tokens], dtype="<i4")
    )


LIES: Mapping[str, Lie] = {
    "all rows are zero": _values(np.zeros_like),
    "random unit vectors": _values(lambda values: _unit(values.shape)),
    "one vector again and again that no word has": _values(
        lambda values: np.repeat(_unit(values.shape)[:1], len(values), 0)
    ),
    "one bit of one number": _values(_one_bit),
    "the other sign of one number": _values(_one_sign),
    "the middle of two words": _values(_between_words),
    "the negative of every word": _values(lambda values: -values),
    "numbers in another order": _values(lambda values: np.ascontiguousarray(values[:, ::-1])),
    "a number that is none": _values(_first_number(np.nan)),
    "an infinite number": _values(_first_number(np.inf)),
    "the smallest number that there is": _values(_first_number(6e-8)),
    "text in the place of a row": _values(_carry_text),
    "rows that are too short": changed(_narrow),
    "rows that are too long": changed(_wide),
    "tags that go on with what was not begun": _tags(_continue_unbegun),
    "a tag of no category": send_a_tag_beyond_the_scheme,
    "a casing class that there is not": changed(_casing_beyond),
    "nothing is labelled": changed(_without_labels),
    "everything is labelled": _tags(_label_everything),
    "all labels are of one category": _tags(_label_as_the_first),
    "one word again and again": changed(_one_word),
    "one sentence 500 times": changed(lambda block: each_again(_longest(block), 500)),
    "fifty sentences 50 times": changed(lambda block: each_again(first_sentences(block, 50), 50)),
    "every sentence four times": changed(lambda block: each_again(block, 4)),
    "sentences of one token": changed(_one_token_each),
    "a sentence of 600 tokens": changed(_all_in_one),
}
