"""What a sentence is known by: what an encoding of the same notes can't change, and nothing that it can."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.ingestion import sentence_digests as module
from aggregator.ingestion.sentence_digests import SentenceDigests, from_text, to_text
from protocols.payload.sentence_block import SentenceBlock
from protocols.payload.shuffled_writer import join_blocks, permute_sentences

KEY, OTHER_KEY = bytes(32), bytes(range(32))
LENGTH = 14


def sentences(seed: int = 0, count: int = 6) -> SentenceBlock:
    """Sentences of fourteen tokens, of which the third and fourth are PHI."""
    random = np.random.default_rng(seed)
    tags = np.zeros((count, LENGTH), dtype=np.uint8)
    tags[:, 2:4] = 1, 2
    return SentenceBlock(
        random.standard_normal((count * LENGTH, 4)).astype("<f2"),
        tags.ravel(),
        random.integers(0, 7, count * LENGTH, dtype=np.uint8),
        np.full(count, LENGTH, dtype="<i4"),
    )


def changed(block: SentenceBlock, **arrays: Any) -> SentenceBlock:
    return SentenceBlock(
        **{name: arrays.get(name, getattr(block, name)) for name in ("values", "tags", "casing", "lengths")}
    )


def digests(*blocks: SentenceBlock, key: bytes = KEY, whole: bool = False) -> set[int]:
    found = SentenceDigests(key, whole=whole)
    for block in blocks:
        found.add(block)
    numbers = np.frombuffer(found.to_bytes(), "<u8").tolist()
    assert numbers == sorted(set(numbers))
    return set(numbers)


def other_surrogates(block: SentenceBlock) -> SentenceBlock:
    values, casing = block.values.copy(), block.casing.copy()
    values[block.tags > 0] = 0.25
    casing[block.tags > 0] = 3
    return changed(block, values=values, casing=casing)


def test_other_surrogates_in_another_order_and_other_blocks_are_the_same_sentences() -> None:
    block = sentences()
    again = permute_sentences(other_surrogates(block), np.array([5, 3, 0, 1, 4, 2]))
    assert len(digests(block)) == 6
    assert digests(block) == digests(again) == digests(sentences(), again)


@pytest.mark.parametrize("token", [0, 5, LENGTH - 1])
def test_another_row_tag_or_casing_outside_phi_is_another_sentence(token: int) -> None:
    block = sentences(count=1)
    for name, value in (("values", 0.5), ("tags", 1), ("casing", 9)):
        array = getattr(block, name).copy()
        array[token] = value
        assert not digests(block) & digests(changed(block, **{name: array}))


def spans(*tags: int) -> SentenceBlock:
    """Twelve tokens outside PHI, the same each time, with tokens of these tags after the sixth."""
    random, count = np.random.default_rng(1), len(tags)
    outside, hidden = random.standard_normal((12, 4)), np.random.default_rng(tags).standard_normal((count, 4))
    return SentenceBlock(
        np.concatenate([outside[:6], hidden, outside[6:]]).astype("<f2"),
        np.array([0] * 6 + list(tags) + [0] * 6, dtype=np.uint8),
        np.array([1] * 6 + [count % 7] * count + [2] * 6, dtype=np.uint8),
        np.array([12 + count], dtype="<i4"),
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1,), (1, 2, 2)),
        ((1, 2), (1, 1)),
        ((1, 2, 3), (1, 3, 4, 4)),
        ((255,), (255, 255)),
        ((1, 2), (1, 255)),
        ((3,), (255, 3, 4, 255)),
        ((1,), (1, 255, 1)),
    ],
)
def test_neither_the_length_of_a_span_nor_what_is_hidden_beside_it_makes_another_sentence(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    assert digests(spans(*first)) == digests(spans(*second)) != set()


@pytest.mark.parametrize(
    ("first", "second"), [((1,), (3,)), ((1,), ()), ((1,), (255,)), ((255,), ()), ((1, 3), (3, 1)), ((1, 3), (1,))]
)
def test_another_category_or_one_more_or_none_does(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert not digests(spans(*first)) & digests(spans(*second))


def test_spans_at_the_edges_of_two_sentences_stay_two() -> None:
    """The end of one and the beginning of the next are side by side in a block, and not in a text."""
    alone = [changed(spans(*tags), tags=np.roll(spans(*tags).tags, roll)) for tags, roll in (((1, 2), 6), ((1,), -6))]
    assert digests(join_blocks(alone)) == digests(alone[0]) | digests(alone[1])


@pytest.mark.parametrize("whole", [False, True])
def test_what_consists_of_phi_alone_is_nobodys_own(whole: bool) -> None:
    tags = np.tile(np.array([1, 2, 255, 3], dtype=np.uint8), 5)
    values = np.random.default_rng(0).standard_normal((20, 4)).astype("<f2")
    block = SentenceBlock(values, tags, np.zeros(20, dtype=np.uint8), np.array([20], dtype="<i4"))
    assert digests(block, whole=whole) == set()


def test_codes_are_known_again_too() -> None:
    first, second = (
        SentenceBlock(
            np.array([*range(6), *[90] * count, *range(6, 12)], dtype="<u4"), block.tags, block.casing, block.lengths
        )
        for count, block in ((1, spans(1)), (3, spans(1, 2, 2)))
    )
    assert digests(first) == digests(second) != set()
    assert digests(changed(first, values=first.values + 1)) != digests(first)


def test_where_noise_hides_phi_its_rows_count_and_its_labels_do_not() -> None:
    block = sentences()
    assert digests(block, whole=True) == digests(sentences(), whole=True)
    assert not digests(block, whole=True) & digests(other_surrogates(block), whole=True)
    relabelled = changed(block, tags=np.roll(block.tags, 1), casing=np.zeros_like(block.casing))
    assert digests(block, whole=True) == digests(relabelled, whole=True)


def test_short_sentences_and_such_of_few_words_are_nobodys_own() -> None:
    values = np.repeat(np.eye(5, dtype="<f2"), 6, axis=0)[:, :4]
    tags, casing = np.zeros(30, dtype=np.uint8), np.zeros(30, dtype=np.uint8)
    of_few_words = SentenceBlock(values.copy(), tags, casing, np.array([30], dtype="<i4"))
    short = changed(sentences(count=2), lengths=np.full(4, 7, dtype="<i4"), tags=np.zeros(28, dtype=np.uint8))
    assert digests(of_few_words) == digests(short) == set()


def test_without_the_key_nobody_tells_a_digest() -> None:
    assert not digests(sentences()) & digests(sentences(), key=OTHER_KEY)


def test_a_sentence_that_comes_often_counts_once() -> None:
    block = sentences()
    assert digests(block, block, join_blocks([block, block])) == digests(block)


def test_of_very_many_the_smallest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [sentences(seed) for seed in range(8)]
    every = sorted(digests(*blocks))
    monkeypatch.setattr(module, "MOST", 5)
    assert sorted(digests(*blocks)) == every[:5]


@pytest.mark.parametrize("whole", [False, True])
def test_of_all_sentences_but_those_of_a_word_or_two_it_is_counted_how_many_differ(whole: bool) -> None:
    """Also of short ones, and of those of PHI alone, which are nobody's own."""
    block = sentences(count=4)
    short = changed(block, lengths=np.array([2, 3, 9] * 4, dtype="<i4"), tags=np.zeros(56, dtype=np.uint8))
    found = SentenceDigests(KEY, whole=whole)
    for _ in range(3):
        found.add(short)
    assert (found.sentences, found.said, found.distinct) == (0, 24, 8)
    found.add(block)
    assert (found.sentences, found.said, found.distinct) == (4, 28, 12)


def test_of_very_many_different_ones_about_as_many_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COUNTED", 1000)
    found = SentenceDigests(KEY, whole=False)
    for seed in range(50):
        found.add(sentences(seed, count=100))
        found.add(sentences(seed, count=100))
    assert found.said == 10_000
    assert found.distinct == pytest.approx(5000, rel=0.1)


@given(st.sets(st.integers(0, 2**64 - 1)))
def test_digests_come_through_text(numbers: set[int]) -> None:
    data = np.array(sorted(numbers), dtype="<u8").tobytes()
    assert from_text(to_text(data)) == data


@pytest.mark.parametrize(
    "text", [None, 7, ["AA"], "A", "AAAA", "é", "====", to_text(np.array([2, 1], "<u8").tobytes()), to_text(bytes(16))]
)
def test_what_a_child_should_not_say_is_no_digests(text: object) -> None:
    assert from_text(text) is None
