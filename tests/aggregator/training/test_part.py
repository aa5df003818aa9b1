"""The parts of a pool: each sentence in one of them, all of one size, and a pool gives each process its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from aggregator.training.defences.registry import find_defence
from aggregator.training.part import PoolPart
from aggregator.training.pool import Pool, Taken
from shared.errors import ConfigurationError
from tests.aggregator.training.pools import material, write_pool
from tests.protocols.payload.blocks import make_block, replaced, write_payload

blocks = some.lists(some.tuples(some.integers(0, 50), some.sampled_from([1.0, 0.5, 1 / 3])), min_size=1, max_size=12)


@given(blocks, some.integers(1, 7), some.randoms())
def test_every_sentence_is_in_one_part_and_the_parts_are_of_one_size(
    sizes: list[tuple[int, float]], count: int, chance: object
) -> None:
    order = np.random.default_rng(len(sizes)).permutation(len(sizes)).tolist()
    sentences, rates = [size for size, _ in sizes], [rate for _, rate in sizes]
    parts = [list(PoolPart(index, count).slices(order, sentences, rates)) for index in range(count)]
    held = [(one.block, row) for part in parts for one in part for row in range(one.begin, one.end)]
    assert sorted(held) == [(block, row) for block, size in enumerate(sentences) for row in range(size)]
    weights = [sum(rates[one.block] * (one.end - one.begin) for one in part) for part in parts]
    # Each end is rounded to a whole sentence.
    assert max(weights) - min(weights) <= 2
    assert [one.block for part in parts for one in part] == sorted(
        (one.block for part in parts for one in part), key=order.index
    )


def lines_of(pool: Pool, seed: int) -> list[bytes]:
    found = []
    for batch in pool.batches(8, np.random.default_rng(seed)):
        for inputs, tags, length in zip(batch.inputs, batch.tags, batch.lengths.tolist(), strict=True):
            found.append(inputs[:length].numpy().tobytes() + tags[:length].numpy().tobytes())
    return sorted(found)


@pytest.mark.parametrize("count", [2, 3])
def test_the_parts_of_a_pass_are_the_pool(count: int, tmp_path: Path) -> None:
    asked = material(write_pool(tmp_path))
    with asked.pool() as pool:
        whole, sentences = lines_of(pool, 1), pool.sentences
    parts = []
    for index in range(count):
        with replace(asked, part=PoolPart(index, count)).pool() as pool:
            assert pool.sentences == sentences
            parts.append(lines_of(pool, 1))
            assert lines_of(pool, 1) == parts[-1]
            assert lines_of(pool, 2) != parts[-1]
    assert sorted(line for part in parts for line in part) == whole
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_site_of_a_lower_rate_is_drawn_in_its_part_alone(tmp_path: Path) -> None:
    payloads = write_pool(tmp_path)
    taken = {path: Taken(rate=0.5) for paths in payloads.values() for path in paths}
    parts = []
    for index in range(2):
        with replace(material(payloads), part=PoolPart(index, 2)).pool(taken) as pool:
            parts.append(sum(len(lines_of(pool, seed)) for seed in range(20)) / 20)
            expected = pool.sentences / 2
    assert all(abs(part - expected) < 0.1 * expected for part in parts)


def test_sentences_without_phi_sit_out_alike_in_all_parts(tmp_path: Path) -> None:
    dice = np.random.default_rng(3)
    made = [make_block([1] * 100, seed=number) for number in range(12)]
    # Two in three hold none.
    tags = [np.where(dice.random(100) < 2 / 3, 0, 1).astype(np.uint8) for _ in made]
    blocks = [replaced(block, tags=labels) for block, labels in zip(made, tags, strict=True)]
    payload = write_payload(tmp_path / "share.parquet", blocks)
    parts = []
    for index in range(2):
        with Pool([payload], part=PoolPart(index, 2), undersampling=0.5) as pool:
            parts.append(sum(len(lines_of(pool, seed)) for seed in range(20)) / 20)
            expected = pool.sentences / 2
    labelled = sum(int(one.sum()) for one in tags)
    assert expected == pytest.approx((labelled + (1200 - labelled) / 2) / 2, abs=1)
    assert parts == pytest.approx([expected] * 2, rel=0.1)


def test_processes_take_long_sentences_at_the_same_steps(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    # Blocks of many sizes: what is over from some of them must not set one process a few steps behind another.
    blocks = [
        make_block((1 + dice.geometric(0.1, int(dice.integers(50, 150)))).tolist(), seed=number) for number in range(30)
    ]
    payload = write_payload(tmp_path / "share.parquet", blocks)
    longest = []
    for index in range(2):
        with Pool([payload], part=PoolPart(index, 2)) as pool:
            longest.append([int(batch.lengths.max()) for batch in pool.batches(4, np.random.default_rng(1))])
    first, second = (np.array(one[: min(map(len, longest))]) for one in longest)
    waited = np.abs(first - second).sum() / (first + second).sum()
    by_chance = np.abs(first - dice.permutation(second)).sum() / (first + second).sum()
    assert len(first) > 300
    assert waited < by_chance / 3


def test_a_process_reads_no_more_than_its_part_and_the_blocks_at_its_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(material(write_pool(tmp_path)), part=PoolPart(0, 2))
    with asked.pool() as pool:
        assert pool.sentences
        read: list[int] = []
        kind = type(pool._pieces[0][0])
        whole = kind.read_block
        monkeypatch.setattr(kind, "read_block", lambda self, index: (read.append(index), whole(self, index))[1])
        lines_of(pool, 3)
        assert len(read) <= len(pool._pieces) // 2 + 1


def test_the_median_of_gradients_is_refused_where_several_train(tmp_path: Path) -> None:
    asked = replace(material(write_pool(tmp_path)), part=PoolPart(0, 2))
    with pytest.raises(ConfigurationError, match="expected one process, got several"):
        find_defence("median").train(asked)
