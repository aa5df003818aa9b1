from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import aggregator.training.pool
from aggregator.errors import WorkspaceError
from aggregator.training.pool import Pool, Taken, as_codes, read_blocks
from protocols.errors import SchemaError
from protocols.payload.opening import PayloadReader, open_payload
from shared.labels import UNKNOWN_TAG
from shared.sentences.codes import CodedSentences, no_features
from shared.sentences.ragged import Batch, RaggedSentences
from tests.protocols.payload.blocks import make_block, replaced, write_payload

Sentence = tuple[bytes, bytes, bytes]


def of_batches(batches: Iterator[Batch]) -> Counter[Sentence]:
    found: Counter[Sentence] = Counter()
    for batch in batches:
        for line, length in enumerate(batch.lengths.tolist()):
            tokens = (line, slice(0, length))
            found[
                batch.inputs[tokens].numpy().tobytes(),
                batch.tags[tokens].numpy().astype(np.uint8).tobytes(),
                batch.casing[tokens].numpy().astype(np.uint8).tobytes(),
            ] += 1
    return found


def of_payload(path: Path) -> Counter[Sentence]:
    found: Counter[Sentence] = Counter()
    with open_payload(path) as reader:
        for block in reader:
            for start, end in zip(block.offsets[:-1].tolist(), block.offsets[1:].tolist(), strict=True):
                values = block.values[start:end].astype(np.float32)
                found[values.tobytes(), block.tags[start:end].tobytes(), block.casing[start:end].tobytes()] += 1
    return found


@pytest.fixture
def payloads(tmp_path: Path) -> list[Path]:
    """Three payloads of 23 blocks in all, some of them short."""
    return [
        write_payload(
            tmp_path / f"{site}.{suffix}",
            [make_block([1, 5, 3, 2] * count, seed=10 * site + block) for block, count in enumerate(counts)],
        )
        for site, (suffix, counts) in enumerate([("parquet", [6] * 11), ("h5", [4, 1, 1]), ("parquet", [9] * 9)])
    ]


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_the_batches_hold_every_sentence_of_every_payload_once(seed: int | None, payloads: list[Path]) -> None:
    expected = sum((of_payload(path) for path in payloads), Counter[Sentence]())
    generator = None if seed is None else np.random.default_rng(seed)
    with Pool(payloads) as pool:
        assert of_batches(pool.batches(7, generator)) == expected
        assert pool.sentences == expected.total()
        assert pool.tokens == sum(len(tags) * count for (_, tags, _), count in expected.items())


def test_the_held_out_tenth_is_apart_and_nothing_is_lost(payloads: list[Path]) -> None:
    with Pool(payloads) as whole, Pool(payloads, held_out=False) as train, Pool(payloads, held_out=True) as test:
        parts = [of_batches(pool.batches(5, np.random.default_rng(0))) for pool in (train, test)]
        assert parts[0] + parts[1] == of_batches(whole.batches(5))
        assert not parts[0] & parts[1]
        assert (train.sentences, test.sentences) == (parts[0].total(), parts[1].total())
        assert train.tokens + test.tokens == whole.tokens
        assert 0.07 < test.sentences / whole.sentences < 0.11


def test_the_order_differs_with_every_epoch_and_mixes_the_sites(payloads: list[Path]) -> None:
    with Pool(payloads) as pool:
        generator = np.random.default_rng(0)
        first, second = ([batch.inputs.numpy().tobytes() for batch in pool.batches(16, generator)] for _ in range(2))
        assert first != second
        sites = [of_payload(path) for path in payloads]
        mixed = 0
        for batch in pool.batches(16, generator):
            inside = of_batches(iter([batch]))
            mixed += sum(1 for site in sites if site & inside) > 1
        assert mixed > 3
        # Eight blocks are held at a time, and in the order of the disk the first eleven are all of the first site.
        begins = of_batches(next(pool.batches(16, generator)) for _ in range(5))
        assert all(site & begins for site in sites)


def test_a_few_blocks_are_in_memory_at_a_time(payloads: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    original = RaggedSentences.concatenate
    read: list[int] = []
    read_block = PayloadReader.read_block

    class Counted:
        """Counts the blocks read since the last piece was put together."""

        def __init__(self, reader: PayloadReader) -> None:
            self._reader = reader

        def __getattr__(self, name: str) -> object:
            return getattr(self._reader, name)

        def __enter__(self) -> Counted:
            return self

        def __exit__(self, *error: object) -> None:
            self._reader.close()

        def read_block(self, index: int) -> object:
            read.append(index)
            return self._reader.read_block(index)

    assert read_block is not None
    monkeypatch.setattr(aggregator.training.pool, "open_payload", lambda path: Counted(open_payload(path)))

    def together(parts: Sequence[RaggedSentences]) -> RaggedSentences:
        held.append(len(read))
        read.clear()
        return original(parts)

    monkeypatch.setattr(RaggedSentences, "concatenate", together)
    with Pool(payloads) as pool:
        assert not read
        for _ in pool.batches(4, np.random.default_rng(0)):
            assert len(read) <= 8
    assert sum(held) == 23
    assert max(held) <= 8


def test_no_payloads_are_no_pool(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="at least one share"):
        Pool([])


def test_payloads_of_different_size_are_no_pool(payloads: list[Path], tmp_path: Path) -> None:
    other = write_payload(tmp_path / "other.h5", [make_block([3], dim=9)])
    with pytest.raises(WorkspaceError, match="2 different dimensions"):
        Pool([*payloads, other])


def test_a_damaged_payload_closes_those_before_it(
    payloads: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"nothing of the kind")
    closed: list[Path] = []
    for kind in PayloadReader.__subclasses__():
        close = kind.close
        monkeypatch.setattr(kind, "close", lambda reader, close=close: (closed.append(reader.path), close(reader)))
    with pytest.raises(SchemaError):
        Pool([*payloads, tmp_path / "bad.parquet"])
    assert sorted(closed) == sorted(payloads)


def test_what_is_taken_of_a_payload_trains_and_nothing_else(payloads: list[Path]) -> None:
    path = payloads[0]
    sizes = [block.sentences for block in read_blocks(path)]
    kept = tuple(np.arange(size) % 3 == 0 for size in sizes)
    with Pool([path], taken={path: Taken(kept)}) as pool, Pool([path]) as whole:
        seen = of_batches(pool.batches(5, np.random.default_rng(0)))
        assert seen.total() == pool.sentences == sum(int(mask.sum()) for mask in kept)
        assert not seen - of_batches(whole.batches(5))
    with Pool([path], taken={path: Taken(rate=0.25)}) as pool:
        assert pool.sentences == round(sum(sizes) / 4)
        drawn = [of_batches(pool.batches(5, np.random.default_rng(seed))) for seed in range(20)]
    assert 0.15 < np.mean([one.total() for one in drawn]) / sum(sizes) < 0.35
    assert drawn[0] != drawn[1]


def test_sentences_without_phi_sit_out_some_passes_and_others_none(payloads: list[Path]) -> None:
    def holds_phi(sentence: Sentence) -> bool:
        return any(sentence[1])

    whole = sum((of_payload(path) for path in payloads), Counter[Sentence]())
    quiet = sum(count for sentence, count in whole.items() if not holds_phi(sentence))
    assert 0 < quiet < whole.total()
    with Pool(payloads, undersampling=0.75) as pool:
        passes = [of_batches(pool.batches(7, np.random.default_rng(seed))) for seed in range(40)]
        expected = pool.sentences, pool.tokens
        assert of_batches(pool.batches(7)) == whole
    for one in passes:
        assert not one - whole
        assert all(one[sentence] == count for sentence, count in whole.items() if holds_phi(sentence))
    # Each of them comes in some pass: half of a share is not lost, as it were if the same ones were left out each time.
    assert set().union(*passes) == set(whole)
    assert np.mean([one.total() for one in passes]) == pytest.approx(expected[0], rel=0.05)
    tokens = [sum(len(tags) * count for (_, tags, _), count in one.items()) for one in passes]
    assert np.mean(tokens) == pytest.approx(expected[1], rel=0.05)
    assert expected[0] == pytest.approx(whole.total() - 0.75 * quiet, abs=1)


def test_what_a_hospital_hid_without_a_label_takes_part_and_a_defence_changes_nothing(
    payloads: list[Path], tmp_path: Path
) -> None:
    made = make_block([1, 5, 3, 2] * 20, seed=1)
    hidden = write_payload(tmp_path / "hidden.parquet", [replaced(made, tags=np.full_like(made.tags, UNKNOWN_TAG))])
    with Pool([hidden], undersampling=0.75) as pool:
        assert of_batches(pool.batches(5, np.random.default_rng(0))).total() == pool.sentences == 80
    path = payloads[0]
    unknown = tuple(np.ones(block.tokens, dtype=np.bool_) for block in read_blocks(path))
    with (
        Pool([path], undersampling=0.75) as plain,
        Pool([path], taken={path: Taken(unknown=unknown)}, undersampling=0.75) as outvoted,
    ):
        sizes = [
            [sum(of_batches(pool.batches(5, np.random.default_rng(seed))).values()) for seed in range(5)]
            for pool in (plain, outvoted)
        ]
        assert sizes[0] == sizes[1]
        assert (plain.sentences, plain.tokens) == (outvoted.sentences, outvoted.tokens)


def test_a_label_that_does_not_count_is_none_to_the_change_and_unknown_to_the_training(payloads: list[Path]) -> None:
    path = payloads[0]
    unknown = tuple(np.arange(block.tokens) % 2 == 0 for block in read_blocks(path))
    met: list[int] = []

    def change(sentences: RaggedSentences, generator: np.random.Generator) -> RaggedSentences:
        met.extend(set(sentences.tags.tolist()))
        return sentences

    with Pool([path], change=change, taken={path: Taken(unknown=unknown)}) as pool:
        tags = np.concatenate([batch.tags.numpy().ravel() for batch in pool.batches(5, np.random.default_rng(0))])
    assert (tags == UNKNOWN_TAG).sum() == sum(int(mask.sum()) for mask in unknown)
    assert UNKNOWN_TAG not in met


def test_codes_of_shares_and_of_public_notes_are_one_pool_to_choose_from() -> None:
    ones = np.ones(5, dtype=np.uint8)
    share = RaggedSentences(np.arange(5, dtype=np.float32)[:, None], ones, ones, np.array([2, 3]))
    public = CodedSentences(np.arange(7, 9, dtype=np.uint32), ones[:2], ones[:2], np.array([2]), no_features(2))
    chosen = CodedSentences.concatenate([public, as_codes(share)]).select(np.array([2, 0]))
    assert chosen.codes.tolist() == [2, 3, 4, 7, 8]
    assert chosen.features.shape == (5, 0)
