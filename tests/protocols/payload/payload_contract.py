"""What every payload format keeps to; each format inherits the suite."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foundation.errors import StorageError
from protocols.errors import BoundsError, ProtocolError, SchemaError
from protocols.payload.opening import PayloadLimits, SentenceBlock, create_payload, open_payload
from tests.protocols.payload.blocks import DIM, assert_same, full_disk, make_block, rewrite, write_payload

LENGTHS = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=30), min_size=1, max_size=5)


class PayloadContract:
    suffix: ClassVar[str]

    def path(self, folder: Path) -> Path:
        return folder / f"share{self.suffix}"

    @given(lengths=LENGTHS, dim=st.integers(1, 70), seed=st.integers(0, 1000))
    @settings(
        max_examples=12,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    def test_round_trip(self, tmp_path: Path, lengths: Sequence[Sequence[int]], dim: int, seed: int) -> None:
        blocks = [make_block(part, dim=dim, seed=seed + index) for index, part in enumerate(lengths)]
        with open_payload(write_payload(self.path(tmp_path), blocks)) as reader:
            assert (reader.dim, reader.blocks) == (dim, len(blocks))
            assert reader.sentences == sum(block.sentences for block in blocks)
            assert reader.tokens == sum(block.tokens for block in blocks)
            for index in reversed(range(len(blocks))):
                assert_same(reader.read_block(index), blocks[index])
            for read, written in zip(reader, blocks, strict=True):
                assert_same(read, written)

    def test_blocks_larger_than_chunks_and_pages_come_back(self, tmp_path: Path) -> None:
        random = np.random.default_rng(5)
        blocks = [make_block(random.integers(1, 60, size).tolist(), dim=50, seed=size) for size in (700, 1, 350, 1200)]
        with open_payload(write_payload(self.path(tmp_path), blocks)) as reader:
            for read, written in zip(reader, blocks, strict=True):
                assert_same(read, written)

    def test_there_is_no_block_beyond_the_last(self, tmp_path: Path) -> None:
        with open_payload(write_payload(self.path(tmp_path), [make_block([2])])) as reader:
            for index in (1, -1):
                with pytest.raises(IndexError):
                    reader.read_block(index)

    def test_the_bytes_are_those_of_float16_little_endian(self, tmp_path: Path) -> None:
        block = make_block([2, 3])
        data = write_payload(self.path(tmp_path), [block]).read_bytes()
        assert block.values[:2].tobytes() in data

    def test_every_kind_of_truncation_is_refused(self, tmp_path: Path) -> None:
        path = write_payload(self.path(tmp_path), [make_block([3, 4], seed=seed) for seed in range(3)])
        data = path.read_bytes()
        cuts = {
            0,
            1,
            3,
            4,
            7,
            8,
            11,
            12,
            13,
            *range(0, len(data), max(1, len(data) // 60)),
            *range(len(data) - 12, len(data)),
        }
        for cut in sorted(cuts):
            rewrite(path, data[:cut])
            with pytest.raises(ProtocolError):
                self.read_all(path)

    def test_appended_bytes_are_refused(self, tmp_path: Path) -> None:
        path = write_payload(self.path(tmp_path), [make_block([3, 4])])
        path.write_bytes(path.read_bytes() + b"\x00" * 64)
        with pytest.raises(ProtocolError):
            self.read_all(path)

    @pytest.mark.parametrize(
        "data", [b"", b"P", b"PAR1", b"PAR1PAR1", b"\x89HDF\r\n\x1a\n", b"\x80\x04}.", b"PK\x03\x04"]
    )
    def test_other_files_are_refused(self, tmp_path: Path, data: bytes) -> None:
        path = self.path(tmp_path)
        path.write_bytes(data)
        with pytest.raises(SchemaError):
            open_payload(path)

    def test_an_error_while_writing_leaves_nothing(self, tmp_path: Path) -> None:
        class Interruption(Exception):
            pass

        def blocks() -> Iterator[SentenceBlock]:
            yield make_block([3])
            raise Interruption

        with pytest.raises(Interruption):
            write_payload(self.path(tmp_path), blocks(), dim=DIM)
        assert os.listdir(tmp_path) == []

    def test_a_payload_without_sentences_is_refused_and_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(BoundsError), create_payload(self.path(tmp_path), dim=DIM):
            pass
        assert os.listdir(tmp_path) == []

    def test_the_file_appears_only_when_it_is_complete(self, tmp_path: Path) -> None:
        path = self.path(tmp_path)
        with create_payload(path, dim=DIM) as writer:
            writer.append(make_block([3]))
            assert not path.exists()
        assert os.listdir(tmp_path) == [path.name]

    @pytest.mark.parametrize("room", [0, 100, 5_000, 100_000, 399_000])
    def test_a_full_disk_is_one_clear_error_and_keeps_the_old_file(self, tmp_path: Path, room: int) -> None:
        path = write_payload(self.path(tmp_path), [make_block([3])])
        before = path.read_bytes()
        block = make_block([20] * 100, dim=50)
        with full_disk(room), pytest.raises(StorageError, match="full disk"):
            write_payload(path, [block, block])
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == [path.name]

    def test_a_full_disk_at_the_flush_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StorageError, match="full disk"):
            write_payload(self.path(tmp_path), [make_block([3])])
        assert os.listdir(tmp_path) == []

    def test_a_block_of_another_width_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError), create_payload(self.path(tmp_path), dim=DIM + 1) as writer:
            writer.append(make_block([3]))

    def test_the_writer_refuses_what_readers_would(self, tmp_path: Path) -> None:
        for limits in (
            PayloadLimits(max_sentences=1),
            PayloadLimits(max_tokens_per_sentence=3),
            PayloadLimits(max_block_bytes=50),
        ):
            writer = create_payload(self.path(tmp_path), dim=DIM, limits=limits)
            with pytest.raises(BoundsError), writer:
                writer.append(make_block([3, 4]))
        assert os.listdir(tmp_path) == []

    def test_the_reader_keeps_to_its_limits(self, tmp_path: Path) -> None:
        path = write_payload(self.path(tmp_path), [make_block([3, 4])])
        for limits in (
            PayloadLimits(max_file_bytes=path.stat().st_size - 1),
            PayloadLimits(max_sentences=1),
            PayloadLimits(max_tokens_per_sentence=3),
            PayloadLimits(max_block_bytes=50),
        ):
            with pytest.raises(BoundsError):
                open_payload(path, limits)

    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path) -> None:
        block = make_block([16] * 500, dim=50)
        rules_out = 200 * block.tokens * 102
        with create_payload(self.path(tmp_path), dim=50) as writer:
            for _ in range(10):
                writer.append(block)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(190):
                writer.append(block)
        with open_payload(self.path(tmp_path)) as reader:
            assert sum(read.tokens for read in reader) == 200 * block.tokens
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        # 163 MB went through; a quarter of it would show that something is kept.
        assert grown < rules_out / 4

    @staticmethod
    def read_all(path: Path) -> None:
        with open_payload(path) as reader:
            for _ in reader:
                pass
