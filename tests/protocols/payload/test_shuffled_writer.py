"""The sentences of a share leave in random order, all of them, in bounded memory, and nothing stays of a failure."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from foundation.errors import StorageError
from protocols.errors import BoundsError, ProtocolError
from protocols.payload import shuffled_writer
from protocols.payload.opening import SentenceBlock, open_payload
from protocols.payload.shuffled_writer import ShuffledWriter, join_blocks, permute_sentences
from tests.protocols.payload.blocks import DIM, full_disk, make_block


def sentences(block: SentenceBlock) -> list[tuple[bytes, bytes, bytes]]:
    """Values, tags and casing of each sentence."""
    found = []
    for start, end in zip(block.offsets[:-1].tolist(), block.offsets[1:].tolist(), strict=True):
        piece = slice(start, end)
        found.append((block.values[piece].tobytes(), block.tags[piece].tobytes(), block.casing[piece].tobytes()))
    return found


def written(path: Path, blocks: list[SentenceBlock]) -> list[tuple[bytes, bytes, bytes]]:
    with ShuffledWriter(path, dim=blocks[0].dim) as writer:
        for block in blocks:
            writer.append(block)
        assert writer.sentences == sum(block.sentences for block in blocks)
    with open_payload(path) as reader:
        return [sentence for block in reader for sentence in sentences(block)]


@pytest.mark.parametrize("suffix", ["parquet", "h5"])
def test_every_sentence_comes_out_once_and_in_another_order(suffix: str, tmp_path: Path) -> None:
    blocks = [make_block([1, 4, 2, 9] * 30, seed=seed) for seed in range(5)]
    before = [sentence for block in blocks for sentence in sentences(block)]
    after = written(tmp_path / f"a.{suffix}", blocks)
    assert Counter(after) == Counter(before)
    assert after != before
    assert written(tmp_path / f"b.{suffix}", blocks) != after


@settings(deadline=None, max_examples=12)
@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=12), min_size=1, max_size=5),
    st.integers(1, 30),
    st.sampled_from([0, 200, 1 << 20]),
)
def test_blocks_of_any_size_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, shapes: list[list[int]], block_tokens: int, in_memory: int
) -> None:
    blocks = [make_block(lengths, seed=seed) for seed, lengths in enumerate(shapes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffled_writer, "BLOCK_TOKENS", block_tokens)
        patch.setattr(shuffled_writer, "_IN_MEMORY", in_memory)
        after = written(tmp_path_factory.mktemp("share") / "a.h5", blocks)
    assert Counter(after) == Counter(sentence for block in blocks for sentence in sentences(block))


@pytest.fixture(params=["held", "spooled"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test with shares that stay in memory and with shares that go to the spools."""
    if request.param == "spooled":
        monkeypatch.setattr(shuffled_writer, "_IN_MEMORY", 0)


@pytest.mark.usefixtures("place")
def test_every_order_is_as_likely_as_any_other(tmp_path: Path) -> None:
    # Three sentences have six orders: 150 shares give 25 of each, with a standard deviation of 4.6. Of 60, one order came never
    # in one run of ten thousand; of 150, in one of 10^11.
    block = make_block([1, 2, 3])
    names = {sentence: index for index, sentence in enumerate(sentences(block))}
    orders = Counter(tuple(names[sentence] for sentence in written(tmp_path / "a.h5", [block])) for _ in range(150))
    assert len(orders) == 6
    assert sum((count - 25) ** 2 / 25 for count in orders.values()) < 45  # chi-square, 5 degrees: p < 2e-8


def parted(order: NDArray[np.int64]) -> bool:
    """Whether sentences stand apart from their neighbours, and anywhere."""
    # In a random order of n sentences about one pair of neighbours stays together, however long the notes were.
    together = np.count_nonzero(np.diff(order) == 1)
    return bool(together < 15 and abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.15)


@pytest.mark.usefixtures("place")
def test_neighbours_part(tmp_path: Path) -> None:
    block = make_block([1] * 2000)
    names = {sentence: index for index, sentence in enumerate(sentences(block))}
    assert parted(np.array([names[sentence] for sentence in written(tmp_path / "a.h5", [block])]))


def test_neighbours_part_where_each_spool_fills_a_block_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a share of gigabytes: what the choice of the spool does not mix, nothing does.
    monkeypatch.setattr(shuffled_writer, "_IN_MEMORY", 0)
    monkeypatch.setattr(shuffled_writer, "BLOCK_TOKENS", 10)
    block = make_block([1] * 2000)
    names = {sentence: index for index, sentence in enumerate(sentences(block))}
    assert parted(np.array([names[sentence] for sentence in written(tmp_path / "a.h5", [block])]))


def test_memory_holds_a_spool_and_not_the_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    original = shuffled_writer.join_blocks

    def watched(blocks: list[SentenceBlock]) -> SentenceBlock:
        held.append(sum(block.tokens for block in blocks))
        return original(blocks)

    monkeypatch.setattr(shuffled_writer, "join_blocks", watched)
    monkeypatch.setattr(shuffled_writer, "BLOCK_TOKENS", 200)
    monkeypatch.setattr(shuffled_writer, "_IN_MEMORY", 0)
    blocks = [make_block([2] * 200, seed=seed) for seed in range(40)]
    written(tmp_path / "a.h5", blocks)
    total = sum(block.tokens for block in blocks)
    assert max(held) < total / 10


def test_nothing_stays_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), ShuffledWriter(tmp_path / "a.parquet", dim=DIM) as writer:  # noqa: PT012
        writer.append(make_block([3]))
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_nothing_stays_without_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BoundsError), ShuffledWriter(tmp_path / "a.parquet", dim=DIM):
        pass
    assert not list(tmp_path.iterdir())


def test_nothing_stays_when_a_block_is_refused_at_the_end(tmp_path: Path) -> None:
    with pytest.raises(ProtocolError), ShuffledWriter(tmp_path / "a.parquet", dim=DIM) as writer:
        writer.append(make_block([600]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["parquet", "h5"])
@pytest.mark.parametrize("max_bytes", [0, 3000, 20_000])
def test_nothing_stays_of_a_full_disk(suffix: str, max_bytes: int, tmp_path: Path) -> None:
    with (  # noqa: PT012
        full_disk(max_bytes),
        pytest.raises(StorageError, match="full disk"),
        ShuffledWriter(tmp_path / f"a.{suffix}", dim=DIM) as writer,
    ):
        for seed in range(20):
            writer.append(make_block([40] * 100, seed=seed))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_while_spooling_is_a_storage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffled_writer, "_IN_MEMORY", 100)
    with (  # noqa: PT012
        full_disk(5000),
        pytest.raises(StorageError, match="full disk"),
        ShuffledWriter(tmp_path / "a.h5", dim=DIM) as writer,
    ):
        for seed in range(40):
            writer.append(make_block([40] * 100, seed=seed))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError), ShuffledWriter(tmp_path / "no" / "a.h5", dim=DIM):
        pass


@given(st.lists(st.integers(1, 6), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_permuted_moves_whole_sentences(lengths: list[int], dice: object) -> None:
    block = make_block(lengths)
    order = np.array(sorted(range(len(lengths)), key=lambda _: dice.random()))  # type: ignore[attr-defined]
    expected = sentences(block)
    assert sentences(permute_sentences(block, order)) == [expected[index] for index in order.tolist()]
    assert sentences(join_blocks([block, permute_sentences(block, order)])) == expected + [
        expected[index] for index in order.tolist()
    ]
