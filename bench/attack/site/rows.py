"""Codes, tags and casing that no encoder makes, laid down in a sound file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.ingestion.ingest import Decision
from bench.attack.share import Liar, Lie
from protocols.payload.codes import is_near
from protocols.payload.sentence_block import CASING_CLASSES, SentenceBlock

Array = NDArray[Any]
_LONG = 600


def changed(change: Callable[[SentenceBlock], SentenceBlock]) -> Lie:
    """The sentences of an honest share, changed."""
    return lambda liar: liar.send_block(change(liar.block()))


def narrowed(change: Callable[[SentenceBlock], SentenceBlock]) -> Lie:
    """The same, with codes that may stand where they do."""
    return lambda liar: liar.send_block(liar.narrow(change(liar.block())))


def _values(change: Callable[[Array], Array]) -> Lie:
    """Its rows, changed."""
    return changed(lambda block: replace(block, values=change(block.values)))


def _one(code: Callable[[SentenceBlock], int]) -> Lie:
    """Its first token outside PHI shows another code."""

    def change(block: SentenceBlock) -> SentenceBlock:
        codes = block.values.copy()
        codes[int(np.flatnonzero(block.tags == 0)[0])] = code(block)
        return replace(block, values=codes)

    return changed(change)


def send_words_by_themselves(liar: Liar) -> Decision:
    """Every token of the notes by the code of its own word, hidden or not, as a client that narrows and hides nothing would."""
    block, words = liar.block(), len(liar.vocabulary())
    drawn = np.random.default_rng(0).integers(0, words, block.tokens, dtype="<u4")
    return liar.send_block(replace(block, values=np.where(block.values < words, block.values, drawn)))


def send_a_hidden_word(liar: Liar) -> Decision:
    """One hidden word by its own code."""
    return _one(lambda block: int(np.flatnonzero(~liar.vocabulary().public)[0]))(liar)


def send_a_word_far_from_phi(liar: Liar) -> Decision:
    """One word that is public and not common, by its own code and far from PHI."""
    vectors, block = liar.vocabulary(), liar.block()
    rare = int(np.flatnonzero(vectors.public & ~vectors.narrowing.common)[0])
    far = np.flatnonzero(~is_near(block.tags > 0, block.offsets, vectors.narrowing.window))
    codes = block.values.copy()
    codes[far[0]] = rare
    return liar.send_block(replace(block, values=codes))


def send_a_code_beyond(liar: Liar) -> Decision:
    """One code behind the last one of the list."""
    vectors = liar.vocabulary()
    return _one(lambda block: len(vectors) + len(vectors.cluster_centres))(liar)


def _carry_text(codes: Array) -> Array:
    # What a hospital, or who took it over, wants to bring out: text in the place of codes.
    text = (b"seen on the ward and sent home; " * 8)[:64]
    found = codes.copy()
    found[:16] = np.frombuffer(text, "<u4")
    return found


def _vectors(dim: int) -> Callable[[SentenceBlock], SentenceBlock]:
    """Numbers in the place of codes, as version 0.1 had them."""

    def change(block: SentenceBlock) -> SentenceBlock:
        return replace(block, values=np.full((block.tokens, dim), 0.1, dtype="<f2"))

    return change


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
    return replace(block, values=np.full_like(block.values, block.values[outside]))


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
        np.tile(block.values, times),
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
    "words by their own codes, hidden or not": send_words_by_themselves,
    "one hidden word by its own code": send_a_hidden_word,
    "one word far from PHI by its own code": send_a_word_far_from_phi,
    "one code beyond the list": send_a_code_beyond,
    "the largest code that there is": _one(lambda block: 2**32 - 1),
    "random codes": _values(lambda codes: np.random.default_rng(0).integers(0, 2**32, len(codes), dtype="<u4")),
    "all codes are zero": _values(np.zeros_like),
    "codes in another byte order": _values(lambda codes: codes.byteswap()),
    "one bit of one code": _values(lambda codes: np.append(codes[:1] ^ np.uint32(1 << 20), codes[1:]).astype("<u4")),
    "text in the place of codes": _values(_carry_text),
    "vectors in the place of codes": changed(_vectors(8)),
    "vectors of one number in the place of codes": changed(_vectors(1)),
    "tags that go on with what was not begun": _tags(_continue_unbegun),
    "a tag of no category": send_a_tag_beyond_the_scheme,
    "a casing class that there is not": changed(_casing_beyond),
    "nothing is labelled": narrowed(_without_labels),
    "everything is labelled": _tags(_label_everything),
    "all labels are of one category": _tags(_label_as_the_first),
    "one word again and again": changed(_one_word),
    "one sentence 500 times": changed(lambda block: each_again(_longest(block), 500)),
    "fifty sentences 50 times": changed(lambda block: each_again(first_sentences(block, 50), 50)),
    "every sentence four times": changed(lambda block: each_again(block, 4)),
    "sentences of one token": narrowed(_one_token_each),
    "a sentence of 600 tokens": changed(_all_in_one),
}
